/** The change of a file between two states of a repository. A change of type is a file that becomes a link, or a link that becomes a file. */
export type FileStatus = 'ADDED' | 'MODIFIED' | 'DELETED' | 'RENAMED' | 'TYPE_CHANGED';

/** A changed file. Paths are relative to the repository; bytes that are not UTF-8 are U+FFFD. */
export interface FileChange {
  readonly path: string;
  /** The former path of a renamed file; null for all others. */
  readonly oldPath: string | null;
  readonly status: FileStatus;
  /** Modes as git writes them, such as `100644`; null: there is no such version. */
  readonly oldMode: string | null;
  readonly mode: string | null;
  /** Numbers of lines; null: the file is binary, or was not read. */
  readonly additions: number | null;
  readonly deletions: number | null;
  /** True also for files that were not read. */
  readonly isBinary: boolean;
  /** Bytes of the file, or of its last version if it is deleted; null: it is a submodule, or was not read. */
  readonly size: number | null;
  /** Null: the file is binary, or its hunks exceed the limits. */
  readonly hunks: readonly Hunk[] | null;
}

/** A part of a file that differs. Line numbers count from 1; the start of an empty range is the line before it. */
export interface Hunk {
  readonly oldStart: number;
  readonly oldLines: number;
  readonly newStart: number;
  readonly newLines: number;
  /** The line of code that git shows as the heading of the hunk, often empty. */
  readonly heading: string;
  /** Lines without their line feed. The first character is a space, `+` or `-`, or `\` if the line before has no line feed. */
  readonly lines: readonly string[];
}

/** The difference between the base commit and the files of a clone. */
export interface RepositoryChanges {
  /** The commit that HEAD of the clone names, as the agent wrote it; null: none, or it is not readable. */
  readonly head: string | null;
  /** By path; files beyond the limits are last. */
  readonly files: readonly FileChange[];
  /** The number of changed files, also of those that `files` does not have. */
  readonly fileCount: number;
  /** The lines of all files that were read. */
  readonly additions: number;
  readonly deletions: number;
  /** True if a limit left out a file, or the hunks of one. */
  readonly isTruncated: boolean;
}

/** Limits of the work for one clone. */
export interface ChangeLimits {
  /** The number of files whose content is compared. */
  readonly maxFiles: number;
  /** The number of further files that are listed without their content. */
  readonly maxNames: number;
  /** Bytes of all hunks. */
  readonly maxTextBytes: number;
  /** Larger files are compared by size alone. */
  readonly maxFileBytes: number;
  /** Bytes of all changed files that are read. */
  readonly maxReadBytes: number;
  /** The maximum number of files of the base, and of new files. */
  readonly maxEntries: number;
  /** Address space of git, in bytes. */
  readonly maxMemoryBytes: number;
  /** The maximum duration of all work. */
  readonly timeoutMs: number;
}

export const defaultChangeLimits: ChangeLimits = {
  maxFiles: 3_000,
  maxNames: 10_000,
  maxTextBytes: 5 * 1_048_576,
  maxFileBytes: 5 * 1_048_576,
  maxReadBytes: 128 * 1_048_576,
  maxEntries: 500_000,
  maxMemoryBytes: 2_048 * 1_048_576,
  timeoutMs: 60_000,
};
