import { readFile } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import type { ByteRange, FileStorage } from './file-storage.ts';
import { toStoreError } from './unavailable.ts';

/**
 * Storage for segments of checkpoints: files that are complete before they are stored, and never change. It shares the bucket or
 * the directory with the attachments. All methods reject with StoreUnavailableError while it does not answer.
 */
export interface SegmentFiles {
  /** Stores a local file under an id. Another file of this id is replaced. */
  put(id: string, path: string): Promise<void>;
  /** Returns a segment or a part of it; null: there is none. */
  read(id: string, range?: ByteRange): Promise<Readable | null>;
  /** Deletes segments; a missing one is not an error. Resolves with the ids that are deleted, without those that could not be. */
  deleteMany(ids: readonly string[]): Promise<string[]>;
}

/** Requests at the same time. */
const concurrency = 8;

/** Creates the storage of segments under the prefix `checkpoints/`. */
export function createSegmentFiles({ disk, read }: FileStorage): SegmentFiles {
  const guard = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      throw toStoreError('files', error);
    });
  return {
    async put(id, path) {
      const key = segmentKey(id);
      // A segment fits into memory, so a failed request can be repeated.
      const content = await readFile(path);
      await guard(disk.put(key, content, { contentType: 'application/octet-stream', contentLength: content.length }));
    },
    read: (id, range) => guard(read(segmentKey(id), range)),
    async deleteMany(ids) {
      const waiting = [...ids];
      const deleted: string[] = [];
      let failure: { readonly error: unknown } | null = null;
      const work = async () => {
        for (let id = waiting.pop(); id !== undefined && failure === null; id = waiting.pop()) {
          try {
            await disk.delete(segmentKey(id));
            deleted.push(id);
          } catch (error) {
            failure = { error };
          }
        }
      };
      await Promise.all(Array.from({ length: concurrency }, work));
      const { error } = (failure as { readonly error: unknown } | null) ?? {};
      if (deleted.length === 0 && error !== undefined) throw toStoreError('files', error);
      return deleted;
    },
  };
}

/** The name of a segment in the storage. In folders by the first digits of the ids, which are random. */
export function segmentKey(id: string): string {
  if (!/^[0-9a-f]{32}$/.test(id)) throw new Error('A segment is named by an id of 32 hex digits.');
  return `checkpoints/${id.slice(0, 2)}/${id}`;
}
