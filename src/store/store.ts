import { join } from 'node:path';
import { type DataDirLock, lockDataDir } from './data-dir-lock.ts';
import type { Driver } from './driver.ts';
import { PrismaClient } from './generated/client.ts';
import { migrate } from './migrations.ts';
import { openPglite } from './pglite.ts';
import { openPostgres } from './postgres.ts';
import { requireOutside } from './scope.ts';
import { type Transaction, transact } from './transact.ts';

export type { Transaction } from './transact.ts';

/** The database. Reads anywhere, writes through {@link Store.transact} or, one statement, {@link Store.execute}. */
export interface Store {
  readonly dialect: 'pglite' | 'postgres';
  /** For reads outside a transaction; throws inside one. */
  readonly prisma: PrismaClient;
  /**
   * A reading statement straight on the driver: the hot path. Throws inside a transaction. Times are `Date`, int8 a
   * number, json parsed; a json parameter is given as text. Prepared, so its text must not contain what varies.
   */
  query<Row>(sql: string, values?: readonly unknown[]): Promise<Row[]>;
  /**
   * The only way to write in several statements. No I/O but SQL inside. After a deadlock or a serialization failure `fn`
   * runs again, so it must change nothing outside the transaction. Rely on row locks and unique indexes, not on
   * isolation. A statement that failed cannot be caught and passed over: the transaction fails with it.
   */
  transact<T>(fn: (tx: Transaction) => Promise<T>): Promise<T>;
  /** One writing statement that is a transaction of its own. Throws inside another. */
  execute<Row>(sql: string, values?: readonly unknown[]): Promise<Row[]>;
  /** Rejects when the database does not answer. */
  ping(): Promise<void>;
  /** Ends what is running and gives the data directory back; safe to call twice. */
  close(): Promise<void>;
}

/** Where and how to open. `databaseUrl` null: the embedded database in `dataDir`. */
export interface StoreOptions {
  readonly dataDir: string;
  readonly databaseUrl: string | null;
  readonly log: Record<'warn' | 'error', (fields: object, message: string) => void>;
  /** What to do when another process has the data directory; what is right for a service when not said. */
  readonly whenHeld?: string;
}

/**
 * Locks the data directory, opens the database, applies the migrations. The directory is locked for PostgreSQL too: the
 * worker's identity and the agents' workspaces live in it.
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const { dataDir, databaseUrl, log, whenHeld } = options;
  const lock = await lockDataDir(dataDir, {
    onWait: (sentence) => log.warn({ dataDir }, sentence),
    ...(whenHeld !== undefined && { whenHeld }),
  });
  try {
    const driver =
      databaseUrl === null
        ? await openPglite({ directory: join(dataDir, 'pglite') })
        : await openPostgres(databaseUrl, {
            onError: ({ message }) => log.error({ reason: message }, 'An idle database connection ended.'),
            onWait: (sentence) => log.warn({}, sentence),
          });
    try {
      await migrate(driver);
    } catch (error) {
      await driver.close();
      throw error;
    }
    return storeOn(driver, lock, log);
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** A store on an open, migrated database. */
export function storeOn(driver: Driver, lock: DataDirLock | null, log?: StoreOptions['log']): Store {
  const prisma = new PrismaClient({ adapter: driver.adapter });
  const onHookError = (error: unknown) => log?.error({ err: error }, 'What follows a commit failed.');
  const query = async <Row>(sql: string, values: readonly unknown[] = []): Promise<Row[]> => {
    requireOutside(driver.scopes);
    return driver.query(sql, values);
  };
  return {
    dialect: driver.dialect,
    get prisma() {
      requireOutside(driver.scopes);
      return prisma;
    },
    query,
    execute: query,
    transact: (fn) => transact({ driver, prisma, onHookError }, fn),
    async ping() {
      await query('select 1');
    },
    async close() {
      await prisma.$disconnect();
      await driver.close();
      await lock?.release();
    },
  };
}
