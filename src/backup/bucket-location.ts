import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { FileStorage } from '../store/file-storage.ts';
import { BackupError } from './backup-error.ts';
import type { Location } from './location.ts';

/** Opens a prefix of a bucket as the location of a backup. An object is at most 5 GB, as S3 takes no more in one request. */
export function openBucketLocation({ disk, read }: FileStorage, prefix: string, label: string): Location {
  const keyOf = (name: string) => `${prefix}/${name}`;
  const written: string[] = [];
  const store = async (name: string, content: Readable) => {
    // A request says the length of its content before it sends it.
    const folder = await mkdtemp(join(tmpdir(), 'switchyard-backup-'));
    try {
      const path = join(folder, 'content');
      await pipeline(content, createWriteStream(path, { flags: 'wx', mode: 0o600 }));
      const contentLength = (await stat(path)).size;
      written.push(keyOf(name));
      await disk.putStream(keyOf(name), createReadStream(path), {
        contentLength,
        contentType: 'application/octet-stream',
      });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  };
  // Not recursive: a prefix would otherwise match longer names too, such as those of another backup.
  const isEmpty = async () => [...(await disk.listAll(prefix, { recursive: false })).objects].length === 0;
  return {
    label,
    async prepare() {
      if (prefix === '') throw new BackupError(`${label} has no path. A backup needs a prefix of its own in a bucket.`);
      if (await isEmpty()) return;
      throw new BackupError(`${label} is not empty. A backup needs a prefix of its own: choose a new one.`);
    },
    put: store,
    finish: (name, content) => store(name, Readable.from([content])),
    read: (name) => read(keyOf(name), undefined),
    async abandon() {
      for (const key of written) await disk.delete(key);
    },
  };
}
