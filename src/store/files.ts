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

/** A file that has come in whole and is not kept yet. */
export interface ReceivedFile {
  readonly sizeBytes: number;
  /** Its first bytes, as many as tell what it is. */
  readonly head: Uint8Array;
}

/**
 * Large things beside the database, by ids that are given once: on a disk, or in S3. A file comes in by {@link Files.receive},
 * {@link Files.store} and {@link Files.settle}; what a crash leaves between the first and the last is in {@link Files.unsettled}.
 */
export interface Files {
  /** The name under which the file of an id is kept, or would be. */
  keyOf(id: string): string;
  /** Reads a file to its end onto this machine's disk. {@link FileTooLargeError}, or the stream's own error: nothing stays. */
  receive(id: string, content: Readable, maxBytes: number): Promise<ReceivedFile>;
  /** Puts a received file where it stays; gives the name it has there. */
  store(id: string): Promise<string>;
  /** Notes that a file is about to go, for the case of a crash before it has. */
  unsettle(id: string): Promise<void>;
  /** Says that the file of this id is as it shall be: no trace of its coming or going is needed any more. */
  settle(id: string): Promise<void>;
  /** Takes a file away, wherever it is; also one that is not there. */
  discard(id: string): Promise<void>;
  /** The ids that were neither settled nor discarded for so long, at most some hundreds. */
  unsettled(olderThanMs: number): Promise<string[]>;
  /** A file's content, or a part of it; null when it is not there. */
  read(key: string, range?: ByteRange): Promise<Readable | null>;
}

/** Where files go: a bucket, else a directory. */
export interface FilesOptions {
  /** Of this process alone: what is coming in. */
  readonly spoolDir: string;
  readonly directory: string;
  readonly s3: S3Options | null;
}

/** More bytes came than were allowed. */
export class FileTooLargeError extends Error {
  constructor(maxBytes: number) {
    super(`A file has more than ${maxBytes} bytes.`);
    this.name = 'FileTooLargeError';
  }
}

/** What tells a type apart stands in here (file-type reads as much). */
const headBytes = 4_100;
/** How many leftovers one look gives. */
const maxUnsettled = 500;

/** Opens the place of files; the directories are made. Nothing is asked of S3 before the first file. */
export async function openFiles({ spoolDir, directory, s3 }: FilesOptions): Promise<Files> {
  await mkdir(spoolDir, { recursive: true, mode: 0o700 });
  // The client of S3 is large: who keeps files on a disk does not load it.
  const { disk, read } = s3 ? (await import('./s3.ts')).openBucket(s3) : await openDirectory(directory);
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
        // Other errors may be the sender's, who has gone.
        throw isDiskFull(error) ? toStoreError('files', error) : error;
      }
    },
    async store(id) {
      const path = join(folderOf(id), 'content');
      const { size } = await stat(path);
      // Not guessed from a name: what it is served as is decided when it is.
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

// An id becomes a path: none that is not made by us may.
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

// What is still coming in changes all the time. Null: gone in between.
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
