import { createHash, randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { FirstStart } from '../../src/domain/installation/bootstrap.ts';
import type { Driver } from '../../src/store/driver.ts';
import { guardDriver } from '../../src/store/guarded-driver.ts';
import { migrate, readMigrations } from '../../src/store/migrations.ts';
import { openPglite } from '../../src/store/pglite.ts';
import { openPostgres } from '../../src/store/postgres.ts';
import { type Store, storeOn } from '../../src/store/store.ts';
import { observeDriver, type StatementListener } from './observed-driver.ts';
import { countStatement, writeStatementShare } from './statement-share.ts';

/** The database system of the current vitest project. */
export const testDatabase = process.env.TEST_DATABASE === 'postgres' ? 'postgres' : 'pglite';

/** An empty, migrated database for one test. */
export interface TestStore {
  readonly store: Store;
  /** Null on PGlite. */
  readonly databaseUrl: string | null;
  readonly dataDir: string;
  /** The tokens of the service whose backup was restored into the database; null if it is empty. */
  readonly firstStart: FirstStart | null;
  close(): Promise<void>;
}

/** Opens a test database. Fast: a copy of a migrated template, by `create database … template` or from a dump. */
export async function openTestStore(): Promise<TestStore> {
  if (testDatabase !== 'postgres') return openStoreOn(null);
  // See global-setup-restored.ts.
  const { TEST_RESTORED_TEMPLATE: template, TEST_RESTORED_START: start } = process.env;
  if (template && start) return openStoreOn(await copyTemplate(template), JSON.parse(start));
  return openStoreOn(await createDatabase());
}

/** Opens a migrated database, or a new embedded one for null. Closing the store drops it. */
export async function openStoreOn(
  databaseUrl: string | null,
  firstStart: FirstStart | null = null,
): Promise<TestStore> {
  const dataDir = await mkdtemp(join(tmpdir(), 'switchyard-test-'));
  const driver = await openDriver(databaseUrl);
  const listeners = new Set<StatementListener>();
  const notify: StatementListener = (statement) => {
    countStatement(statement);
    for (const listener of listeners) listener(statement);
  };
  const store = storeOn(guardDriver(observeDriver(driver, notify), () => undefined));
  listenersOf.set(store, listeners);
  return {
    store,
    databaseUrl,
    dataDir,
    firstStart,
    async close() {
      await store.close();
      writeStatementShare();
      await dropDatabase(databaseUrl);
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

const listenersOf = new WeakMap<Store, Set<StatementListener>>();

/**
 * Reports the reads outside of transactions, by SQL or by the Prisma client, that the user of a store makes until the returned
 * function is called. The SQL statements are those of `query`. Of a store that {@link openTestStore} did not open, such as a
 * benchmark's, the Prisma client's reads are not seen.
 */
export function watchReads(store: Store, listen: (sql: string, values: readonly unknown[]) => void): () => void {
  const listeners = listenersOf.get(store);
  const original = store.query;
  store.query = (sql: string, values: readonly unknown[] = []) => {
    listen(sql, values);
    return original.call(store, sql, values) as never;
  };
  const listener: StatementListener = ({ by, sql, values, isInTransaction }) => {
    if (by === 'prisma' && !isInTransaction) listen(sql, values);
  };
  listeners?.add(listener);
  return () => {
    store.query = original;
    listeners?.delete(listener);
  };
}

/** An empty database without migrations, for tests that run before a store opens. */
export interface TestDriver {
  readonly driver: Driver;
  close(): Promise<void>;
}

/** Opens an empty database. */
export async function openEmptyDriver(): Promise<TestDriver> {
  const databaseUrl = testDatabase === 'postgres' ? await createDatabase() : null;
  const driver = await openDriver(databaseUrl);
  await driver.session((session) => session.script('drop schema public cascade; create schema public;'));
  return {
    driver,
    async close() {
      await driver.close();
      await dropDatabase(databaseUrl);
    },
  };
}

const silent = { onError: () => undefined, onWait: () => undefined };

async function openDriver(databaseUrl: string | null): Promise<Driver> {
  if (databaseUrl === null) return openPglite({ dump: await migratedDump() });
  return openPostgres(databaseUrl, { ...silent, poolerUrl: pooledUrl(databaseUrl) });
}

/** Returns a database's address on the pooler in transaction mode that TEST_POOLER names (`host:port`); null without the variable. */
function pooledUrl(databaseUrl: string): string | null {
  const { TEST_POOLER: address } = process.env;
  return address === undefined ? null : Object.assign(new URL(databaseUrl), { host: address }).href;
}

/** Returns the URL of a new, migrated database on the private server. */
export const createDatabase = async (): Promise<string> =>
  copyTemplate(`switchyard_template_${await migrationsHash()}`, async (url) => {
    const driver = await openPostgres(url, silent);
    await migrate(driver);
    await driver.close();
  });

/** Copies a template on the private server, which `fill` fills first if it does not exist. Returns the URL of the copy. */
async function copyTemplate(template: string, fill?: (url: string) => Promise<void>): Promise<string> {
  const adminUrl = process.env.TEST_POSTGRES_URL;
  if (!adminUrl)
    throw new Error('TEST_POSTGRES_URL is not set: run these tests through vitest, which starts a server.');
  const name = `switchyard_${randomBytes(8).toString('hex')}`;
  await withClient(adminUrl, async (admin) => {
    // Several test files start at once: one of them creates the template.
    await admin.query('select pg_advisory_lock(5)');
    const existing = await admin.query('select 1 from pg_database where datname = $1', [template]);
    if (existing.rowCount === 0 && fill) {
      await admin.query(`drop database if exists ${template}_new with (force)`);
      await admin.query(`create database ${template}_new`);
      await fill(onDatabase(adminUrl, `${template}_new`));
      await admin.query(`alter database ${template}_new rename to ${template}`);
    }
    await admin.query(`create database ${name} template ${template}`);
  });
  return onDatabase(adminUrl, name);
}

/** Does nothing for PGlite's null. `force`: closes connections that a test may have left. */
async function dropDatabase(databaseUrl: string | null): Promise<void> {
  const adminUrl = process.env.TEST_POSTGRES_URL;
  if (databaseUrl === null || !adminUrl) return;
  const name = new URL(databaseUrl).pathname.slice(1);
  await withClient(adminUrl, async (admin) => {
    await admin.query(`drop database if exists ${name} with (force)`);
  });
}

function onDatabase(adminUrl: string, name: string): string {
  const url = new URL(adminUrl);
  url.pathname = `/${name}`;
  return url.href;
}

async function withClient(url: string, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

async function migrationsHash(): Promise<string> {
  const migrations = await readMigrations();
  return createHash('sha256')
    .update(migrations.map((migration) => migration.checksum).join())
    .digest('hex')
    .slice(0, 16);
}

const cacheDir = 'node_modules/.cache/switchyard';

/** Returns a dump of a migrated, empty PGlite, which is created once per set of migrations and stored. */
export async function migratedDump(): Promise<Blob> {
  const path = join(cacheDir, `pglite-${await migrationsHash()}.tar`);
  const found = await readFile(path).catch(() => null);
  if (found) return new Blob([new Uint8Array(found)]);
  const directory = await mkdtemp(join(tmpdir(), 'switchyard-template-'));
  const driver = await openPglite({ directory });
  await migrate(driver);
  const dump = await driver.dump();
  await driver.close();
  await rm(directory, { recursive: true, force: true });
  await mkdir(cacheDir, { recursive: true });
  const own = `${path}.${process.pid}`;
  await writeFile(own, Buffer.from(await dump.arrayBuffer()));
  await rename(own, path);
  return dump;
}
