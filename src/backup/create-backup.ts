import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Session } from '../store/driver.ts';
import { lockFilesForBackup, requireFileLock } from '../store/file-deletions.ts';
import type { FileStorage } from '../store/file-storage.ts';
import { inspectMigrations, readAppliedMigrations, readMigrations } from '../store/migrations.ts';
import { BackupError } from './backup-error.ts';
import { writeKeyFile } from './key-file.ts';
import { type LinesFile, writeLines } from './lines.ts';
import type { Location } from './location.ts';
import {
  fileListName,
  keyName,
  type Manifest,
  makeManifest,
  manifestName,
  type TableEntry,
  tableName,
} from './manifest.ts';
import { measure, measured } from './measured.ts';
import { copyToBackup, type FileCounts, readFileKeys } from './stored-files.ts';
import { readRows, readTables, type Table, textSettings } from './table-rows.ts';

/** The options of a backup. */
export interface BackupOptions {
  readonly storage: FileStorage;
  readonly location: Location;
  /** The version of the service. */
  readonly version: string;
  /** The key to include; null: the backup does not have it. */
  readonly key: { readonly secretKey: string; readonly fingerprint: string; readonly passphrase: string | null } | null;
  /** True: files that rows name and that the storage does not have are left out. */
  readonly allowMissingFiles: boolean;
  readonly report: (text: string) => void;
}

/**
 * Writes a backup: the rows of one snapshot of the database, and the files that they name. Meanwhile the service works on, but deletes no
 * file. Throws BackupError with the reason, and leaves nothing that looks like a backup.
 */
export async function createBackup(session: Session, options: BackupOptions): Promise<Manifest> {
  const { location, key } = options;
  await location.prepare();
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-backup-'));
  try {
    // Before the snapshot: a file of the snapshot is then deleted after the backup.
    await lockFilesForBackup(session);
    const keysPath = join(folder, 'keys');
    const database = await readDatabase(session, options, keysPath);
    if (key !== null && key.fingerprint !== database.keyFingerprint)
      throw new BackupError('SECRET_KEY is not the key of this database, so the backup must not include it.');
    const { files, counts } = await copyFiles(options, keysPath);
    await requireFileLock(session);
    if (counts.missing > 0 && !options.allowMissingFiles) throw missingFiles(counts);
    const { count, bytes, missing } = counts;
    const manifest = makeManifest({
      version: options.version,
      createdAt: new Date().toISOString(),
      ...database,
      files: { count, bytes, missing, ...files },
      key: key === null ? null : await putKey(location, key),
    });
    await location.finish(manifestName, Buffer.from(`${JSON.stringify(manifest, null, 1)}\n`));
    return manifest;
  } catch (error) {
    await location.abandon().catch(() => undefined);
    throw error;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

type DatabasePart = Pick<Manifest, 'migrations' | 'keyFingerprint' | 'nextTransaction' | 'tables'>;

async function readDatabase(session: Session, options: BackupOptions, keysPath: string): Promise<DatabasePart> {
  await session.script(`begin isolation level repeatable read read only; ${textSettings}`);
  try {
    const { problem, applied, unknown } = await inspectMigrations(session);
    if (problem !== null) throw new BackupError(problem);
    if (unknown.length > 0) {
      throw new BackupError(
        `The database has the migration "${unknown[0]}" of a newer version, whose tables this version does not know. Make the backup with the newer version.`,
      );
    }
    if (applied === 0) throw new BackupError(emptyDatabase);
    const [installation] = await session.query<{ fingerprint: string }>(
      'select key_fingerprint as fingerprint from installation',
    );
    if (!installation) throw new BackupError(emptyDatabase);
    const migrations = await readAppliedMigrations(session);
    const nextTransaction = await readNextTransaction(session);
    const tables: TableEntry[] = [];
    for (const table of await ownTables(session, options.report)) {
      tables.push(await putTable(session, options.location, table));
    }
    const rows = tables.reduce((sum, table) => sum + table.rows, 0);
    options.report(`${tables.length} tables with ${rows} rows.`);
    await writeKeys(session, keysPath);
    return { migrations, keyFingerprint: installation.fingerprint, nextTransaction, tables };
  } finally {
    await session.script('rollback').catch(() => undefined);
  }
}

const emptyDatabase = 'This database is empty: no service was ever started on it. Check DATA_DIR or DATABASE_URL.';

/** Returns the tables that migrations created: in the schema may also be tables of others. */
async function ownTables(session: Session, report: (text: string) => void): Promise<Table[]> {
  const texts = (await readMigrations()).map(({ sql }) => sql).join('\n');
  const names = new Set(
    [...texts.matchAll(/(?:create (?:unlogged )?table|rename to) "?(\w+)"?/gi)].map(([, name]) => name),
  );
  const tables = await readTables(session);
  const others = tables.filter(({ name }) => !names.has(name)).map(({ name }) => name);
  if (others.length > 0) report(`Not in the backup, because they are not tables of the service: ${others.join(', ')}.`);
  return tables.filter(({ name }) => names.has(name));
}

async function readNextTransaction(session: Session): Promise<string> {
  const [row] = await session.query<{ own: boolean }>(`select to_regproc('next_transaction') is not null as own`);
  // Databases of earlier versions have no function of their own.
  const next = row?.own ? 'next_transaction()' : 'pg_snapshot_xmax(pg_current_snapshot())';
  const [found] = await session.query<{ next: string }>(`select ${next}::text as next`);
  return found?.next ?? '0';
}

async function putTable(session: Session, location: Location, table: Table): Promise<TableEntry> {
  let rows = 0;
  async function* counted() {
    for await (const lines of readRows(session, table)) {
      rows += lines.length;
      yield lines;
    }
  }
  const written = await writeLines(location, tableName(table.name), counted());
  return { name: table.name, columns: table.columns.map(({ name }) => name), rows, ...written };
}

/** Writes the names of the files to a local file, so that no transaction is open while they are copied. */
async function writeKeys(session: Session, path: string): Promise<void> {
  async function* texts() {
    for await (const keys of readFileKeys(session)) yield `${keys.join('\n')}\n`;
  }
  await pipeline(texts, createWriteStream(path, { mode: 0o600 }));
}

async function copyFiles(options: BackupOptions, path: string): Promise<{ files: LinesFile; counts: FileCounts }> {
  const { storage, location, report } = options;
  const counts: FileCounts = { count: 0, bytes: 0, missing: 0, missingKeys: [] };
  let reportedAt = performance.now();
  async function* lines() {
    for await (const batch of copyToBackup(storage, location, readKeys(path), counts)) {
      yield batch;
      if (performance.now() - reportedAt < 5_000) continue;
      reportedAt = performance.now();
      report(`${counts.count} files so far.`);
    }
  }
  const files = await writeLines(location, fileListName, lines());
  report(`${counts.count} files with ${counts.bytes} bytes.`);
  if (counts.missing > 0) report(`${counts.missing} files are missing in the storage.`);
  return { files, counts };
}

async function* readKeys(path: string): AsyncGenerator<string[]> {
  let batch: string[] = [];
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })) {
    batch.push(line);
    if (batch.length < 200) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

function missingFiles({ missing, missingKeys }: FileCounts): BackupError {
  return new BackupError(
    `${missing} files that the database names are missing in the file storage, for example ${missingKeys.join(', ')}. Check ATTACHMENTS_DIR or S3_BUCKET: is the storage mounted? If the files are lost for good, use --allow-missing-files.`,
  );
}

async function putKey(location: Location, key: NonNullable<BackupOptions['key']>): Promise<Manifest['key']> {
  const content = measured();
  const text = await writeKeyFile(key.secretKey, key.passphrase);
  await location.put(keyName, measure(Readable.from([Buffer.from(text)]), content));
  return { isSealed: key.passphrase !== null, file: content.result() };
}
