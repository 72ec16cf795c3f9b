import type { Session } from '../store/driver.ts';
import type { FileStorage } from '../store/file-storage.ts';
import { segmentKey } from '../store/segment-files.ts';
import { BackupError } from './backup-error.ts';
import { type FileEntry, isFileKey, parseFileEntry } from './file-entries.ts';
import { readLines, requireFile } from './lines.ts';
import type { Location } from './location.ts';
import { copyName, fileListName, type Manifest } from './manifest.ts';
import { isSameFile, measure, measured } from './measured.ts';

/** Number of names in one read, and of files in one batch. */
const batchSize = 200;
/** Files that are copied at the same time. */
const concurrency = 4;

/**
 * Reads the names of the files that the rows of a snapshot need. A file is stored before its row is committed, and a pending or unused
 * segment is part of no checkpoint.
 */
export async function* readFileKeys(session: Session): AsyncGenerator<string[]> {
  for (const { table, column, where, keyOf } of fileColumns) {
    const [found] = await session.query<{ exists: boolean }>('select to_regclass($1) is not null as exists', [table]);
    if (!found?.exists) continue;
    await session.script(
      `declare backup_files no scroll cursor for select distinct ${column} collate "C" as name from ${table} where ${where} order by 1`,
    );
    for (;;) {
      const rows = await session.query<{ name: string }>(`fetch ${batchSize} from backup_files`);
      if (rows.length > 0) yield rows.map(({ name }) => keyOf(name));
      if (rows.length < batchSize) break;
    }
    await session.script('close backup_files');
  }
}

const fileColumns = [
  { table: 'attachment', column: 'storage_key', where: 'true', keyOf: (name: string) => name },
  { table: 'checkpoint_segment', column: 'id', where: `state = 'STORED'`, keyOf: segmentKey },
] as const;

/** The number of copied files. */
export interface FileCounts {
  count: number;
  bytes: number;
  missing: number;
  /** Some names of missing files. */
  readonly missingKeys: string[];
}

/** Copies files from the storage into a backup. Yields the lines of the list of files, and counts. */
export async function* copyToBackup(
  { read }: FileStorage,
  location: Location,
  keys: AsyncIterable<readonly string[]>,
  counts: FileCounts,
): AsyncGenerator<string[]> {
  const copy = async (key: string): Promise<string | null> => {
    const source = isFileKey(key) ? await read(key, undefined) : null;
    if (source === null) {
      counts.missing += 1;
      if (counts.missingKeys.length < 5) counts.missingKeys.push(key);
      return null;
    }
    const content = measured();
    await location.put(copyName(key), measure(source, content));
    const { bytes, sha256 } = content.result();
    counts.count += 1;
    counts.bytes += bytes;
    return JSON.stringify({ key, bytes, sha256 } satisfies FileEntry);
  };
  for await (const batch of keys) {
    const lines = await mapInTurns(batch, copy);
    yield lines.filter((line) => line !== null);
  }
}

/** Calls a function for each item, some at a time. Returns the results in order. After a failure it begins no more. */
async function mapInTurns<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const run = async () => {
    while (next < items.length) {
      const index = next++;
      try {
        results[index] = await work(items[index] as T);
      } catch (error) {
        next = items.length;
        throw error;
      }
    }
  };
  const settled = await Promise.allSettled(Array.from({ length: concurrency }, run));
  for (const each of settled) if (each.status === 'rejected') throw each.reason;
  return results;
}

/** Calls a function for each file that a backup lists, some at a time. Throws BackupError if the list is damaged. */
export async function forEachFile(
  location: Location,
  { files }: Manifest,
  work: (entry: FileEntry) => Promise<void>,
): Promise<void> {
  let count = 0;
  let bytes = 0;
  for await (const lines of readLines(location, fileListName, files)) {
    for (let start = 0; start < lines.length; start += batchSize) {
      const entries = lines.slice(start, start + batchSize).map((line, n) => parseFileEntry(line, count + n + 1));
      count += entries.length;
      for (const entry of entries) bytes += entry.bytes;
      await mapInTurns(entries, work);
    }
  }
  if (count !== files.count || bytes !== files.bytes)
    throw new BackupError(`${fileListName} of the backup does not have the number of files of the manifest.`);
}

/** Copies a file of a backup into the storage. Throws BackupError unless it is the one that was written. */
export async function copyToStorage({ disk }: FileStorage, location: Location, entry: FileEntry): Promise<void> {
  const { key, bytes: contentLength } = entry;
  const damaged = () =>
    new BackupError(`${copyName(key)} of the backup is damaged: it is not the file that was written.`);
  const source = await requireFile(location, copyName(key));
  const content = measured({ maxBytes: contentLength, tooLong: damaged });
  await disk.putStream(key, measure(source, content), { contentLength, contentType: 'application/octet-stream' });
  if (!isSameFile(content.result(), entry)) throw damaged();
}
