import type { Readable } from 'node:stream';

/** The location of a backup: a directory, or a prefix of a bucket. Names are paths with slashes. */
export interface Location {
  /** The location as the operator wrote it. */
  readonly label: string;
  /** Throws BackupError unless a new backup can be written here: nothing may be here yet. */
  prepare(): Promise<void>;
  /** Writes a file completely. */
  put(name: string, content: Readable): Promise<void>;
  /** Writes the last file: once it is there, the backup is complete, also after a power failure. */
  finish(name: string, content: Buffer): Promise<void>;
  /** Opens a file; null: there is none. Throws BackupError for what is not a file of a backup, such as a link. */
  read(name: string): Promise<Readable | null>;
  /** Removes what was written, after a failure. */
  abandon(): Promise<void>;
}
