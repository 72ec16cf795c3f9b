import { join } from 'node:path';
import { type ConnectionLimits, defaultConnectionLimits } from './connection-settings.ts';
import { lockDataDir } from './data-dir-lock.ts';
import type { Driver, PoolState } from './driver.ts';
import { PrismaClient } from './generated/client.ts';
import { guardDriver } from './guarded-driver.ts';
import { joiningAdapter } from './join-prisma.ts';
import { type MigrationResult, migrate } from './migrations.ts';
import { createOutageLog } from './outages.ts';
import { openPglite } from './pglite.ts';
import { openPostgres } from './postgres.ts';
import type { ListStore, Reader } from './reader.ts';
import { openReplicas, type ReplicaSettings } from './replicas/open-replicas.ts';
import type { Replicas, ReplicasState } from './replicas/replicas.ts';
import { type Transaction, transact } from './transact.ts';
import { requireOutsideTransaction } from './transaction-scope.ts';

export type { Transaction } from './transact.ts';

/**
 * The database. Reads are possible anywhere; writes need {@link Store.transact} or, for one statement, {@link
 * Store.execute}. All methods reject with `StoreUnavailableError` while the database does not answer.
 */
export interface Store extends ListStore {
  readonly dialect: 'pglite' | 'postgres';
  /** For reads outside a transaction; throws inside one. */
  readonly prisma: PrismaClient;
  /**
   * Runs a reading statement directly on the driver: the hot path. Throws inside a transaction. Times are `Date`, int8
   * a number, json parsed; a json parameter is passed as text. Prepared, so its text must not contain variable values.
   */
  query<Row>(sql: string, values?: readonly unknown[]): Promise<Row[]>;
  /**
   * The only way to write in several statements. No I/O but SQL inside. After a deadlock or a serialization failure
   * `fn` runs again, so it must change nothing outside the transaction. Rely on row locks and unique indexes, not on
   * isolation. The error of a failed statement cannot be caught and ignored: the transaction fails with it.
   */
  transact<T>(fn: (tx: Transaction) => Promise<T>): Promise<T>;
  /** Runs one writing statement as its own transaction. Throws inside another. */
  execute<Row>(sql: string, values?: readonly unknown[]): Promise<Row[]>;
  /** {@link Store.execute} on a connection reserved for heartbeats: it does not wait for a full pool. */
  executeUrgent<Row>(sql: string, values?: readonly unknown[]): Promise<Row[]>;
  /** See {@link Driver.readIdentity}. */
  readIdentity(): Promise<string | null>;
  /** See {@link Driver.connections}. */
  connections(): PoolState | null;
  /** The read replicas. Null: there are none. */
  replicas(): ReplicasState | null;
  /** Rejects within seconds when the database does not answer. It does not wait for a full pool. */
  ping(): Promise<void>;
  /** Tells if the database had no disk space left at its last write. Reads may still succeed. */
  isFull(): boolean;
  /** Ends running work and releases the data directory; safe to call twice. */
  close(): Promise<void>;
}

/** Allocates some pages for a moment: it fails while the disk is full, or the server is a standby. */
const writeProbe = `create temporary table disk_probe on commit drop as select repeat(md5(n::text), 100) from generate_series(1, 100) n`;

/** Options for opening the store. `databaseUrl` null: the embedded database in `dataDir`. */
export interface StoreOptions {
  readonly dataDir: string;
  readonly databaseUrl: string | null;
  /** See {@link PostgresOptions}. */
  readonly poolerUrl?: string | null;
  /** Sizes and timeouts of connections to PostgreSQL. */
  readonly limits?: ConnectionLimits;
  readonly replicas?: ReplicaSettings;
  readonly log: Record<'warn' | 'error', (fields: object, message: string) => void>;
  /** Advice for the operator when another process has the data directory; the default fits a service. */
  readonly lockedMessage?: string;
}

/**
 * Locks the data directory, opens the database, applies the migrations. The directory is locked for PostgreSQL too: it
 * contains the worker's identity and the agents' workspaces.
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const { dataDir, databaseUrl, poolerUrl = null, limits, replicas, log, lockedMessage } = options;
  const lock = await lockDataDir(dataDir, {
    onWait: (sentence) => log.warn({ dataDir }, sentence),
    ...(lockedMessage !== undefined && { lockedMessage }),
  });
  let opened: Driver | null = null;
  const outages = createOutageLog({
    subject: 'The database',
    probe: async (isWrite) => (isWrite ? opened?.urgentQuery(writeProbe, []) : opened?.ping()),
    log,
  });
  try {
    const driver =
      databaseUrl === null
        ? await openPglite({ directory: join(dataDir, 'pglite') })
        : await openPostgres(databaseUrl, {
            poolerUrl,
            ...(limits && { limits }),
            onError: ({ message }) => outages.failed({ reason: message, isFull: false, isReadOnly: false }),
            onWait: (sentence) => log.warn({}, sentence),
          });
    opened = driver;
    const guarded = guardDriver(driver, outages.failed);
    let opening: Replicas | null = null;
    try {
      warnOfNewerVersion(log, await migrate(driver));
      if (databaseUrl !== null && replicas && replicas.urls.length > 0) {
        const primary = { url: databaseUrl, driver: guarded };
        opening = await openReplicas(replicas, primary, { limits: limits ?? defaultConnectionLimits, log });
      }
    } catch (error) {
      await driver.close();
      throw error;
    }
    return storeOn(guarded, {
      log,
      replicas: opening,
      isFull: outages.isFull,
      async close() {
        outages.stop();
        await lock.release();
      },
    });
  } catch (error) {
    await lock.release();
    throw error;
  }
}

function warnOfNewerVersion(log: StoreOptions['log'], { unknown }: MigrationResult): void {
  const [first] = unknown;
  if (first === undefined) return;
  log.warn(
    { migrations: unknown },
    `The database has ${unknown.length === 1 ? `the migration "${first}"` : `${unknown.length} migrations`} of a newer version. This version can still use it. Replace this process soon.`,
  );
}

/** Returns a store that reads lists from the primary. */
export function withoutReplicas(store: Store): Store {
  if (store.replicas() === null) return store;
  const primary: Reader = { target: 'primary', query: (sql, values) => store.query(sql, values) };
  const changed: Partial<Store> = { readList: (read) => read(primary), replicas: () => null };
  return new Proxy(store, {
    get: (target, name) => (name in changed ? changed : target)[name as keyof Store],
  });
}

/** Parts of a store besides its driver. */
export interface StoreParts {
  readonly log?: StoreOptions['log'];
  readonly isFull?: () => boolean;
  readonly replicas?: Replicas | null;
  /** Called after the driver has been closed. */
  readonly close?: () => Promise<void>;
}

/** Creates a store on an open, migrated database. */
export function storeOn(driver: Driver, { log, close, isFull = () => false, replicas = null }: StoreParts = {}): Store {
  // Another format of errors captures a stack for each call.
  const prisma = new PrismaClient({ adapter: joiningAdapter(driver.adapter, driver.scopes), errorFormat: 'minimal' });
  const onHookError = (error: unknown) => log?.error({ err: error }, 'A step after a commit failed.');
  const query = async <Row>(sql: string, values: readonly unknown[] = []): Promise<Row[]> => {
    requireOutsideTransaction(driver.scopes);
    return driver.query(sql, values);
  };
  const primary: Reader = { target: 'primary', query: (sql, values) => store.query(sql, values) };
  const store: Store = {
    dialect: driver.dialect,
    get prisma() {
      requireOutsideTransaction(driver.scopes);
      return prisma;
    },
    query,
    async readList(read) {
      requireOutsideTransaction(driver.scopes);
      return replicas === null ? read(primary) : replicas.read(read, primary);
    },
    execute: query,
    transact: (fn) => transact({ driver, prisma, onHookError }, fn),
    async executeUrgent(sql, values = []) {
      requireOutsideTransaction(driver.scopes);
      return driver.urgentQuery(sql, values);
    },
    isFull,
    replicas: () => replicas?.state() ?? null,
    readIdentity: () => driver.readIdentity(),
    connections: () => driver.connections(),
    async ping() {
      requireOutsideTransaction(driver.scopes);
      await driver.ping();
    },
    async close() {
      await replicas?.close();
      await prisma.$disconnect();
      await driver.close();
      await close?.();
    },
  };
  return store;
}
