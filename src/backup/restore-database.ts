import type { Session } from '../store/driver.ts';
import { applyMigration, createMigrationsTable, type Migration } from '../store/migrations.ts';
import { deleteProcessRows } from '../store/process-rows.ts';
import { continueTransactionNumbers } from '../store/transaction-numbers.ts';
import { BackupError } from './backup-error.ts';
import { readLines } from './lines.ts';
import type { Location } from './location.ts';
import { type Manifest, type TableEntry, tableName } from './manifest.ts';
import { measured } from './measured.ts';
import { parseLine } from './row-lines.ts';
import { readRows, readTables, restoreRules, suspendRules, type Table, textSettings, writeRows } from './table-rows.ts';

/** Number of characters that one statement writes. */
const charactersPerStatement = 1_000_000;
/** Number of rows that one statement writes. */
const rowsPerStatement = 500;

/** Divides the migrations of this version: those of the backup, and later ones. Throws BackupError if the backup has others. */
export function divideMigrations(
  known: readonly Migration[],
  { migrations, version }: Pick<Manifest, 'migrations' | 'version'>,
): { readonly of: readonly Migration[]; readonly later: readonly Migration[] } {
  const checksums = new Map(known.map(({ name, checksum }) => [name, checksum]));
  for (const { name, checksum } of migrations) {
    const expected = checksums.get(name);
    if (expected === undefined) {
      throw new BackupError(
        `The backup is of a newer version: it has the migration "${name}". Use Switchyard ${version} or newer.`,
      );
    }
    if (expected !== checksum)
      throw new BackupError(`The migration "${name}" of the backup is not the one of this version.`);
  }
  const names = new Set(migrations.map(({ name }) => name));
  return { of: known.filter(({ name }) => names.has(name)), later: known.filter(({ name }) => !names.has(name)) };
}

/** Throws BackupError unless the current schema has no tables, views or sequences besides those of extensions. */
export async function requireEmptyDatabase(session: Session): Promise<void> {
  const rows = await session.query<{ name: string }>(
    `select c.relname as name from pg_class c
      where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'S', 'f')
        and not exists (select 1 from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
      limit 1`,
  );
  if (rows.length === 0) return;
  throw new BackupError(
    `The database is not empty: it has "${rows[0]?.name}". A backup is restored into an empty one only: create another, or drop this one.`,
  );
}

/** The input of {@link loadDatabase}. */
export interface DatabaseLoad {
  readonly location: Location;
  readonly manifest: Manifest;
  /** The migrations of this version. */
  readonly migrations: readonly Migration[];
  readonly report: (text: string) => void;
}

/**
 * Loads the rows of a backup into an empty database, applies later migrations, and begins maintenance mode, in one transaction. Compares
 * every row with the backup. Throws BackupError; the database is then as empty as before.
 */
export async function loadDatabase(session: Session, load: DatabaseLoad): Promise<void> {
  const { manifest, migrations, report } = load;
  const { of, later } = divideMigrations(migrations, manifest);
  await session.script(`begin; ${textSettings}`);
  try {
    await requireEmptyDatabase(session);
    await createMigrationsTable(session);
    for (const migration of of) await applyMigration(session, migration);
    await loadTables(session, load);
    for (const migration of later) await applyMigration(session, migration);
    if (later.length > 0) report(`${later.length} migrations of this version were applied.`);
    await continueTransactionNumbers((sql) => session.query(sql), BigInt(manifest.nextTransaction));
    await beginMaintenance(session);
    await session.script('commit');
  } catch (error) {
    await session.script('rollback').catch(() => undefined);
    throw toBackupError(error);
  }
  await session.script('analyze');
}

async function loadTables(session: Session, { location, manifest, report }: DatabaseLoad): Promise<void> {
  const tables = await readTables(session);
  const byName = new Map(tables.map((table) => [table.name, table]));
  const missing = tables.filter(({ name }) => !manifest.tables.some((each) => each.name === name));
  if (missing.length > 0) throw new BackupError(`The backup lacks the table "${missing[0]?.name}".`);
  const pairs = manifest.tables.map((entry) => ({ entry, table: inOrder(entry, byName.get(entry.name)) }));
  const keys = await suspendRules(session, tables);
  for (const { entry, table } of pairs) {
    // A migration may have written rows.
    await session.script(`delete from "${table.name}"`);
    await loadTable(session, location, entry, table);
    await compareTable(session, entry, table);
    if (entry.rows > 0) report(`${entry.name}: ${entry.rows} rows.`);
  }
  await restoreRules(session, tables, keys);
}

/** Returns a table with its columns in the order of the backup. Throws BackupError if the backup has other ones. */
function inOrder(entry: TableEntry, table: Table | undefined): Table {
  if (!table) throw new BackupError(`The backup has a table "${entry.name}", which its migrations do not create.`);
  const columns = entry.columns.map((name) => table.columns.find((column) => column.name === name));
  const isSame = new Set(entry.columns).size === table.columns.length && columns.length === table.columns.length;
  if (!isSame || columns.some((column) => column === undefined))
    throw new BackupError(`The columns of the table "${entry.name}" in the backup are not those of its migrations.`);
  return { ...table, columns: columns as Table['columns'][number][] };
}

async function loadTable(session: Session, location: Location, entry: TableEntry, table: Table): Promise<void> {
  let waiting: string[] = [];
  let characters = 0;
  let count = 0;
  const write = async () => {
    if (waiting.length > 0) await writeRows(session, table, waiting);
    waiting = [];
    characters = 0;
  };
  for await (const lines of readLines(location, tableName(entry.name), entry)) {
    for (const line of lines) {
      parseLine(line, entry, ++count);
      waiting.push(line);
      characters += line.length;
      if (waiting.length >= rowsPerStatement || characters >= charactersPerStatement) await write();
    }
  }
  await write();
}

/** Reads a loaded table again: it must give the same bytes. */
async function compareTable(session: Session, entry: TableEntry, table: Table): Promise<void> {
  const content = measured();
  content.resume();
  let rows = 0;
  for await (const lines of readRows(session, table)) {
    rows += lines.length;
    if (!content.write(Buffer.from(`${lines.join('\n')}\n`)))
      await new Promise((resolve) => content.once('drain', resolve));
  }
  await new Promise<void>((resolve) => content.end(resolve));
  const { bytes, sha256 } = content.result();
  if (rows === entry.rows && bytes === entry.content.bytes && sha256 === entry.content.sha256) return;
  throw new BackupError(`The table "${entry.name}" is not the same as in the backup after it was loaded.`);
}

/** The original may still run: its processes are not those of the restored service. */
async function beginMaintenance(session: Session): Promise<void> {
  await deleteProcessRows((sql) => session.query(sql));
  await session.query('update installation set maintenance_since = coalesce(maintenance_since, now())');
}

/** Explains an error of the database about the rows: their content is not repeated. */
function toBackupError(error: unknown): unknown {
  const { code, message } = error as { code?: unknown; message?: string };
  // Classes 22 and 23: invalid data, violated constraints.
  if (typeof code !== 'string' || !/^2[23]/.test(code)) return error;
  const reason = (message ?? '').split('\n')[0]?.slice(0, 200);
  return new BackupError(`The rows of the backup do not fit its migrations: ${reason}.`, { cause: error });
}
