import { createWriteStream } from 'node:fs';
import { access, constants, mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Disk } from 'flydrive';
import { FSDriver } from 'flydrive/drivers/fs';
import type { ByteRange, FileStorage, S3Options } from './file-storage.ts';
import { refuseDirectory } from './refuse-directory.ts';
import { isDiskFull, toStoreError } from './unavailable.ts';

/** A file that was received completely and is not stored yet. */
export interface ReceivedFile {
  readonly sizeBytes: number;
  /** Its first bytes, enough to detect its type. */
  readonly head: Uint8Array;
}

/**
 * Storage for large content outside the database, by unique ids: on a disk, or in S3. A file is stored by {@link
 * Files.receive}, {@link Files.store} and {@link Files.settle}; files that a crash leaves between the first and the
 * last are in {@link Files.unsettled}.
 */
export interface Files {
  /** The name under which the file of an id is stored, or would be. */
  keyOf(id: string): string;
  /**
   * Reads a file to its end onto this machine's disk. Rejects with {@link FileTooLargeError}, or the stream's own
   * error, and leaves nothing behind.
   */
  receive(id: string, content: Readable, maxBytes: number): Promise<ReceivedFile>;
  /** Moves a received file to its storage; returns its name there. */
  store(id: string): Promise<string>;
  /** Records that a file is about to be deleted, for the case of a crash before it is. */
  unsettle(id: string): Promise<void>;
  /** Records that the file of this id is in its final state. */
  settle(id: string): Promise<void>;
  /** Deletes a file, wherever it is; a missing file is not an error. */
  discard(id: string): Promise<void>;
  /** Returns the ids that were neither settled nor discarded for this long, at most some hundreds. */
  unsettled(olderThanMs: number): Promise<string[]>;
  /** Returns a file's content, or a part of it; null if it does not exist. */
  read(key: string, range?: ByteRange): Promise<Readable | null>;
}

/** A bucket, or else a directory. */
export interface FileStorageOptions {
  readonly directory: string;
  readonly s3: S3Options | null;
}

/** Thrown if a file exceeds the maximum size. */
export class FileTooLargeError extends Error {
  constructor(maxBytes: number) {
    super(`A file has more than ${maxBytes} bytes.`);
    this.name = 'FileTooLargeError';
  }
}

/** Enough bytes to detect a type (file-type reads as many). */
const headBytes = 4_100;
/** Maximum number of unsettled files in one result. */
const maxUnsettled = 500;

/** Opens a bucket, or a directory, which it creates. Sends no request to S3. */
export async function openFileStorage({ directory, s3 }: FileStorageOptions): Promise<FileStorage> {
  // The client of S3 is large, so it is loaded only if it is used.
  return s3 ? (await import('./s3.ts')).openBucket(s3) : openDirectory(directory);
}

/** Creates the files of a storage. `spoolDir` is for this process alone: files that are being received. */
export async function openFiles({ disk, read }: FileStorage, spoolDir: string): Promise<Files> {
  await mkdir(spoolDir, { recursive: true, mode: 0o700 });
  const guard = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      throw toStoreError('files', error);
    });
  const folderOf = (id: string) => join(spoolDir, requireId(id));
  return {
    keyOf,
    read: (key, range) => guard(read(key, range)),
    async receive(id, content, maxBytes) {
      await guard(mkdir(folderOf(id), { mode: 0o700 }));
      try {
        return await spool(content, join(folderOf(id), 'content'), maxBytes);
      } catch (error) {
        await rm(folderOf(id), { recursive: true, force: true });
        // Other errors may be caused by the sender's disconnect.
        throw isDiskFull(error) ? toStoreError('files', error) : error;
      }
    },
    async store(id) {
      const path = join(folderOf(id), 'content');
      const { size } = await stat(path);
      // Not guessed from a name: the type is determined when the file is served.
      const options = { contentLength: size, contentType: 'application/octet-stream' };
      await guard(disk.moveFromFs(path, keyOf(id), options));
      return keyOf(id);
    },
    async unsettle(id) {
      await guard(mkdir(folderOf(id), { recursive: true, mode: 0o700 }));
    },
    settle: (id) => rm(folderOf(id), { recursive: true, force: true }),
    async discard(id) {
      await guard(disk.delete(keyOf(id)));
      await rm(folderOf(id), { recursive: true, force: true });
    },
    async unsettled(olderThanMs) {
      const found: string[] = [];
      for (const id of await readdir(spoolDir)) {
        const changedAt = await lastChange(folderOf(id));
        if (changedAt !== null && Date.now() - changedAt > olderThanMs && found.push(id) >= maxUnsettled) break;
      }
      return found;
    },
  };
}

// In folders by the ids' last digits, which are random: the first ones are the time.
function keyOf(id: string): string {
  return `${requireId(id).slice(-2)}/${id}`;
}

// An id becomes a path, so only ids that we have generated are accepted.
function requireId(id: string): string {
  if (!/^[0-9a-f]{32}$/.test(id)) throw new Error('A file is named by an id of 32 hex digits.');
  return id;
}

async function spool(content: Readable, path: string, maxBytes: number): Promise<ReceivedFile> {
  let sizeBytes = 0;
  const head: Uint8Array[] = [];
  const count = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      if (sizeBytes < headBytes) head.push(chunk.subarray(0, headBytes - sizeBytes));
      sizeBytes += chunk.byteLength;
      if (sizeBytes > maxBytes) done(new FileTooLargeError(maxBytes));
      else done(null, chunk);
    },
  });
  await pipeline(content, count, createWriteStream(path, { flags: 'wx', mode: 0o600 }));
  return { sizeBytes, head: Buffer.concat(head) };
}

// A file that is still being received changes all the time. Null: deleted in between.
async function lastChange(folder: string): Promise<number | null> {
  const times = await Promise.all(
    [folder, join(folder, 'content')].map((path) =>
      stat(path)
        .then((found) => found.mtimeMs)
        .catch(() => null),
    ),
  );
  return times[0] === null ? null : Math.max(...times.map((time) => time ?? 0));
}

async function openDirectory(directory: string): Promise<FileStorage> {
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await access(directory, constants.W_OK | constants.X_OK);
  } catch (error) {
    refuseDirectory('ATTACHMENTS_DIR', directory, error as NodeJS.ErrnoException);
  }
  return {
    disk: new Disk(new FSDriver({ location: directory, visibility: 'private' })),
    async read(key, range) {
      const file = await open(join(directory, key)).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return null;
        throw error;
      });
      return file?.createReadStream(range ? { start: range.start, end: range.end } : {}) ?? null;
    },
  };
}
