import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type DatabaseLocation, withDatabaseSession } from './database-session.ts';
import type { Session } from './driver.ts';
import { inspectMigrations, type MigrationState } from './migrations.ts';
import { describeServer } from './postgres-server.ts';

/** Facts about a database that nothing has changed: no migration was applied. */
export interface DatabaseFacts {
  /** The address of the server, without user and password; null: the embedded database. */
  readonly server: string | null;
  readonly version: string;
  /** True if the connection uses TLS; null: there is no network between. */
  readonly isEncrypted: boolean | null;
  /** The time by which the clock of the database is ahead of that of this machine. */
  readonly clockOffsetMs: number;
  readonly migrations: MigrationState;
  /** The number of rows of each table, counted up to {@link countLimit}. */
  readonly rows: Readonly<Record<string, number>>;
  /** The fingerprint of SECRET_KEY; null: no service was started on this database. */
  readonly keyFingerprint: string | null;
  /** Some stored secrets of organizations, with what they are bound to. */
  readonly sealedSecrets: readonly SealedSecret[];
}

/** A stored secret of an organization. */
export interface SealedSecret {
  readonly organizationId: string;
  readonly id: string;
  readonly sealed: string;
}

/** Rows beyond this number are not counted. */
export const countLimit = 100_000;
const sampledSecrets = 5;

/** Tells if there is a database: on a server always, and the embedded one after its first start. */
export function hasDatabase({ dataDir, databaseUrl }: DatabaseLocation): boolean {
  return databaseUrl !== null || existsSync(join(dataDir, 'pglite'));
}

/**
 * Reads {@link DatabaseFacts}. Locks the data directory for the embedded database. Rejects with a sentence without a password
 * if the database cannot be used, or another process has the embedded one.
 */
export async function inspectDatabase(location: DatabaseLocation): Promise<DatabaseFacts> {
  const { databaseUrl } = location;
  const server = databaseUrl === null ? null : describeServer(databaseUrl);
  return withDatabaseSession(location, 'Stop it to inspect the embedded database.', (session) =>
    readFacts(session, server),
  );
}

async function readFacts(session: Session, server: string | null): Promise<DatabaseFacts> {
  await session.script('begin transaction read only');
  try {
    const sentAt = Date.now();
    const [basics] = await session.query<{ version: string; now: Date }>(
      `select current_setting('server_version') as version, clock_timestamp() as now`,
    );
    const middle = (sentAt + Date.now()) / 2;
    const tables = await listTables(session);
    return {
      server,
      version: basics?.version ?? 'unknown',
      isEncrypted: server === null ? null : await isEncrypted(session),
      clockOffsetMs: new Date(basics?.now ?? middle).getTime() - middle,
      migrations: await inspectMigrations(session),
      rows: await countRows(session, tables),
      keyFingerprint: tables.includes('installation') ? await readFingerprint(session) : null,
      sealedSecrets: tables.includes('secret') ? await sampleSecrets(session) : [],
    };
  } finally {
    await session.script('rollback');
  }
}

async function isEncrypted(session: Session): Promise<boolean | null> {
  const [row] = await session.query<{ ssl: boolean; isLocal: boolean }>(
    `select ssl, inet_server_addr() is null or inet_server_addr() << '127.0.0.0/8' or inet_server_addr() = '::1' as "isLocal"
       from pg_stat_ssl where pid = pg_backend_pid()`,
  );
  return row === undefined || row.isLocal ? null : row.ssl;
}

async function listTables(session: Session): Promise<string[]> {
  const rows = await session.query<{ name: string }>(
    `select tablename as name from pg_tables where schemaname = current_schema() order by tablename limit 200`,
  );
  return rows.map(({ name }) => name).filter((name) => /^[a-z_]+$/.test(name));
}

async function countRows(session: Session, tables: readonly string[]): Promise<Record<string, number>> {
  if (tables.length === 0) return {};
  // A few statements in one: the names are those of the catalogue, and have letters only.
  const counts = tables.map(
    (name) =>
      `select '${name}' as name, (select count(*)::int from (select from ${name} limit ${countLimit}) counted) as rows`,
  );
  const rows = await session.query<{ name: string; rows: number }>(counts.join(' union all '));
  return Object.fromEntries(rows.map(({ name, rows: count }) => [name, count]));
}

async function readFingerprint(session: Session): Promise<string | null> {
  const [row] = await session.query<{ fingerprint: string }>('select key_fingerprint as fingerprint from installation');
  return row?.fingerprint ?? null;
}

function sampleSecrets(session: Session): Promise<SealedSecret[]> {
  return session.query<SealedSecret>(
    'select organization_id as "organizationId", id, sealed from secret order by organization_id, id limit $1',
    [sampledSecrets],
  );
}
