import { createHash, randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Driver, Session } from './driver.ts';
import { describeUsability, isUsableAfter } from './older-versions.ts';

/** A migration in `prisma/migrations/<name>/migration.sql`. */
export interface Migration {
  readonly name: string;
  readonly sql: string;
  /** SHA-256 of {@link Migration.sql} in hex: what Prisma records too. */
  readonly checksum: string;
}

// The same path from src/store and from dist/store.
const migrationsDir = fileURLToPath(new URL('../../prisma/migrations', import.meta.url));

/** The key of the advisory lock of `prisma migrate` itself, so that the two never run at once. */
const advisoryLock = 72_707_369;

// Prisma's own table, so that `prisma migrate deploy` agrees with what was applied here.
const createTable = `
  create table if not exists _prisma_migrations (
    id varchar(36) primary key not null, checksum varchar(64) not null, finished_at timestamptz, migration_name varchar(255) not null,
    logs text, rolled_back_at timestamptz, started_at timestamptz not null default now(), applied_steps_count integer not null default 0)`;

/** Reads the migrations of this version, in order. */
export async function readMigrations(directory: string = migrationsDir): Promise<Migration[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  return Promise.all(
    names.sort().map(async (name) => {
      // As in git: a checkout on Windows may have other line ends, which must not look like a change.
      const sql = (await readFile(join(directory, name, 'migration.sql'), 'utf8')).replaceAll('\r\n', '\n');
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}

/** Changes of the schema by a start. */
export interface MigrationResult {
  /** The names of the migrations that it applied. */
  readonly applied: readonly string[];
  /** The names of migrations of newer versions, after which this version can still use the database. */
  readonly unknown: readonly string[];
}

/**
 * Applies the missing migrations, each in its own transaction, under an advisory lock, so that of several processes
 * that start at once one does it. Throws a sentence if an applied migration has changed, one has failed, or this version cannot use
 * the database after the migrations of a newer version.
 */
export function migrate(driver: Driver, migrations?: readonly Migration[]): Promise<MigrationResult> {
  return driver.session((session) => migrateSession(session, migrations));
}

/** {@link migrate}, on a connection. */
export async function migrateSession(session: Session, migrations?: readonly Migration[]): Promise<MigrationResult> {
  const expected = migrations ?? (await readMigrations());
  await session.query('select pg_advisory_lock($1)', [advisoryLock]);
  try {
    await createMigrationsTable(session);
    const applied = await readApplied(session);
    const problem = findProblem(expected, applied);
    if (problem !== null) throw new Error(problem);
    const missing = missingOf(expected, applied);
    for (const migration of missing) await apply(session, migration);
    return { applied: missing.map(({ name }) => name), unknown: unknownOf(expected, applied) };
  } finally {
    // A lost connection has released the lock by itself.
    await session.query('select pg_advisory_unlock($1)', [advisoryLock]).catch(() => undefined);
  }
}

/** Creates the record of the applied migrations, if there is none. */
export const createMigrationsTable = (session: Session): Promise<void> => session.script(createTable);

/** Reads the applied migrations of a database that this version can use, in the order of their names. */
export function readAppliedMigrations(session: Session): Promise<Pick<Migration, 'name' | 'checksum'>[]> {
  return session.query(
    `select migration_name as name, checksum from _prisma_migrations where rolled_back_at is null
      order by migration_name collate "C"`,
  );
}

/** The state of the migrations of a database. */
export interface MigrationState {
  readonly applied: number;
  /** The names of those that the next start applies. */
  readonly missing: readonly string[];
  /** The names of migrations of newer versions. */
  readonly unknown: readonly string[];
  /** A sentence that says why this version cannot use the database; null: it can. */
  readonly problem: string | null;
}

/** Reads the state of the migrations of a database, and applies none. */
export async function inspectMigrations(session: Session): Promise<MigrationState> {
  const expected = await readMigrations();
  const [table] = await session.query<{ exists: boolean }>(
    `select to_regclass('_prisma_migrations') is not null as exists`,
  );
  const applied = table?.exists ? await readApplied(session) : [];
  return {
    applied: applied.length,
    missing: missingOf(expected, applied).map(({ name }) => name),
    unknown: unknownOf(expected, applied),
    problem: findProblem(expected, applied),
  };
}

interface AppliedRow {
  name: string;
  checksum: string;
  isFinished: boolean;
  /** See {@link describeUsability}; null: an older version applied it. */
  logs: string | null;
}

function readApplied(session: Session): Promise<AppliedRow[]> {
  return session.query<AppliedRow>(
    `select migration_name as name, checksum, finished_at is not null as "isFinished", logs from _prisma_migrations
      where rolled_back_at is null order by started_at`,
  );
}

function missingOf(expected: readonly Migration[], applied: readonly AppliedRow[]): Migration[] {
  const names = new Set(applied.map(({ name }) => name));
  return expected.filter(({ name }) => !names.has(name));
}

function unknownOf(expected: readonly Migration[], applied: readonly AppliedRow[]): string[] {
  const known = new Set(expected.map(({ name }) => name));
  return applied.map(({ name }) => name).filter((name) => !known.has(name));
}

/** Returns the reason why the applied migrations do not fit; null: they do. */
function findProblem(expected: readonly Migration[], applied: readonly AppliedRow[]): string | null {
  const known = new Map(expected.map((migration) => [migration.name, migration]));
  const [missing] = missingOf(expected, applied);
  for (const row of applied) {
    const migration = known.get(row.name);
    if (!row.isFinished) {
      return `The migration "${row.name}" failed before. Repair the database, then mark it with "prisma migrate resolve".`;
    }
    if (!migration && !isUsableAfter(row.logs, known)) {
      return `The database has the migration "${row.name}", which this version does not know: it was used by a newer version. Start that one.`;
    }
    if (!migration && missing !== undefined) {
      return `The database has the migration "${row.name}", which this version does not know, and lacks "${missing.name}", which this version has. Start the version that was used last.`;
    }
    if (migration && row.checksum !== migration.checksum) {
      return `The migration "${row.name}" is not the one that was applied to this database: its file has changed.`;
    }
  }
  return null;
}

async function apply(session: Session, migration: Migration): Promise<void> {
  await session.script('begin');
  try {
    await applyMigration(session, migration);
    await session.script('commit');
  } catch (error) {
    // On a lost connection there is nothing left to roll back, and the first error is the relevant one.
    await session.script('rollback').catch(() => undefined);
    const reason = (error as Error).message;
    throw new Error(`The migration "${migration.name}" failed and was rolled back: ${reason}.`, { cause: error });
  }
}

/** Applies a migration inside a transaction, and records it. */
export async function applyMigration(session: Session, migration: Migration): Promise<void> {
  await session.script(migration.sql);
  await session.query(
    `insert into _prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count, logs)
     values ($1, $2, $3, now(), now(), 1, $4)`,
    [randomUUID(), migration.checksum, migration.name, describeUsability(migration)],
  );
}
