import type { Readable } from 'node:stream';
import type { ReadCheckpointOptions } from '../../../checkpoints/open-checkpoint.ts';

/** The type of a {@link WorkspaceEntry}. */
export type WorkspaceEntryType = 'FILE' | 'DIRECTORY' | 'LINK';

/** A file, directory or link of a saved workspace. */
export interface WorkspaceEntry {
  /** Bytes that are not UTF-8 are written as `\xNN`. */
  readonly name: string;
  /** Relative to the workspace; '' for the workspace itself. */
  readonly path: string;
  readonly type: WorkspaceEntryType;
  /** Bytes of a file; 0 for all others. */
  readonly size: number;
  /** The permissions, as in the lowest 12 bits of `st_mode`. */
  readonly mode: number;
  readonly modifiedAt: Date;
  /** The text of a link, which may lead anywhere; null for all others. */
  readonly target: string | null;
}

/** The files of a saved workspace. Its methods follow no link: a path through one does not exist. They reject with CheckpointError. */
export interface WorkspaceTree {
  /** Files, directories and links of the workspace. */
  readonly entryCount: number;
  /** Null: there is none. No names: the workspace itself. */
  find(names: readonly string[]): WorkspaceEntry | null;
  /** Returns the entries of a directory in the order of their names; null: there is no such directory. */
  list(names: readonly string[]): readonly WorkspaceEntry[] | null;
  /** Returns the paths of all entries that git does not ignore, in no order. */
  paths(): Iterable<string>;
  /** Reads a file, or a part of it. */
  read(names: readonly string[], options?: ReadCheckpointOptions): Readable;
}
