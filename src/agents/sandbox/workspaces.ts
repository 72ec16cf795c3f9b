import type { Readable } from 'node:stream';

/**
 * The workspaces of sessions on one machine, each with the home of its agent. An agent owns both and may change them at
 * any moment, also during these operations.
 */
export interface Workspaces {
  /** Names the storage in the log. */
  readonly location: string;
  /** The ids of the sessions that have a workspace, one by one: there may be very many. */
  ids(): AsyncIterable<string>;
  /** Returns true if a session has a workspace here. */
  has(sessionId: string): Promise<boolean>;
  /** The files of a session, whether or not its agent runs. Nothing is created. */
  files(sessionId: string): WorkspaceFiles;
  /** The space that a session takes, in bytes, without files that cannot be read. */
  sizeOf(sessionId: string): Promise<number>;
  /** Returns true if nothing was added directly to a session's workspace and home since a time. */
  isUntouchedSince(sessionId: string, time: Date): Promise<boolean>;
  /**
   * Discards the workspace and home of a session. False if there are none. The order of calls counts: a sandbox that is
   * opened after this call has begun gets new ones.
   */
  discard(sessionId: string): Promise<boolean>;
  /** Deletes what was discarded, also before a restart. Stops early when `isStopped` returns true. */
  deleteDiscarded(isStopped: () => boolean): Promise<DeletedFiles>;
  /** Reads the id of the enterprise whose sessions these are; null: none was recorded. */
  readOwner(): Promise<string | null>;
  /** Records the id of the enterprise whose sessions these are. */
  recordOwner(enterpriseId: string): Promise<void>;
}

/** The outcome of {@link Workspaces.deleteDiscarded}. */
export interface DeletedFiles {
  readonly files: number;
  /** Errors of entries that could not be deleted, at most ten. */
  readonly problems: readonly string[];
}

/**
 * The files of one workspace. A directory is a list of names, from the top of the workspace. No operation leaves the
 * workspace or follows a link out of it, even if an agent replaces parts of a path meanwhile.
 */
export interface WorkspaceFiles {
  /**
   * Lists the ordinary files and the links below a directory, by name, down to `maxDepth`. Reads at most `maxNames`
   * names in all, and leaves out those that are not UTF-8. Follows no link, not even the directory itself. Empty if
   * there is no such directory.
   */
  list(directory: readonly string[], limits: ListLimits): Promise<FoundFiles>;
  /**
   * Returns the state of an ordinary file, by a path relative to the workspace; a link must lead into the workspace.
   * Null for anything else.
   */
  stat(path: string): Promise<FileState | null>;
  /** Opens a file for reading, under the rules of {@link WorkspaceFiles.stat}. The caller destroys the stream. */
  read(path: string): Promise<Readable | null>;
  /**
   * Runs work in a directory. Creates the directory if it is missing, and replaces a link or a file with its name. The
   * work must not use the directory after this has resolved.
   */
  inDirectory<T>(names: readonly string[], work: (directory: SafeDirectory) => Promise<T>): Promise<T>;
  /**
   * Removes the files and links in a directory that have not changed since `beforeMs`, a time of the machine's clock;
   * directories in it stay. Does nothing if there is no such directory. Returns the number of removed files.
   */
  empty(directory: readonly string[], beforeMs: number): Promise<number>;
  /**
   * Reads a record of the service beside the workspace, where the agent has no access; null: there is none. It is saved and restored with the
   * workspace.
   */
  readRecord(name: string): Promise<string | null>;
  /** Writes a record of {@link WorkspaceFiles.readRecord}, completely or not at all. */
  writeRecord(name: string, text: string): Promise<void>;
  /** Reads a record as {@link WorkspaceFiles.readRecord} does, but one that describes this copy of the workspace alone. */
  readLocalRecord(name: string): Promise<string | null>;
  /** Writes a record of {@link WorkspaceFiles.readLocalRecord}, completely or not at all. */
  writeLocalRecord(name: string, text: string): Promise<void>;
}

/** Bounds of {@link WorkspaceFiles.list}: an agent may leave a tree of any size. */
export interface ListLimits {
  readonly maxDepth: number;
  readonly maxNames: number;
}

/** An open directory in a workspace. */
export interface SafeDirectory {
  /** The names in it that are UTF-8, read one by one: an agent may leave very many. */
  names(): AsyncIterable<string>;
  /** Returns true if there is an ordinary file with this name; a link does not count. */
  hasFile(name: string): Promise<boolean>;
  /** Writes a file completely or not at all, and replaces an entry with its name. Default mode: 0600. */
  write(name: string, content: string | Readable, mode?: number): Promise<void>;
  /** Removes a file or a link, but not a directory. */
  remove(name: string): Promise<void>;
}

/** The state of a file when it was read. */
export interface FileState {
  readonly size: number;
  /**
   * Changes whenever the content is replaced or changed, but not if the workspace is restored; for comparison only. The form is stored, so
   * it must not change.
   */
  readonly version: string;
}

/** A file or a link below a directory, with its own state. */
export interface FoundFile extends FileState {
  /** Relative to the directory, with `/`. */
  readonly path: string;
  readonly isLink: boolean;
}

/** The files that {@link WorkspaceFiles.list} found. */
export interface FoundFiles {
  readonly files: readonly FoundFile[];
  /** True if some names were not read, because there are more than `maxNames`. */
  readonly isCut: boolean;
}
