import type { Readable } from 'node:stream';
import type { Disk } from 'flydrive';

/** Bytes of a file, both ends included. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** A bucket of S3, or of what speaks like it. Without keys the machine's own role is used. */
export interface S3Options {
  readonly bucket: string;
  readonly region: string;
  /** Null: Amazon's own. */
  readonly endpoint: string | null;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string } | null;
}

/**
 * The storage of files. `read` is separate from flydrive's interface, which supports neither ranges nor missing files.
 */
export interface FileStorage {
  readonly disk: Disk;
  read(key: string, range: ByteRange | undefined): Promise<Readable | null>;
}
