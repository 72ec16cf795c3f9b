import { AsyncLocalStorage } from 'node:async_hooks';
import { join } from 'node:path';
import { type DataDirLock, lockDataDir } from './data-dir-lock.ts';
import type { Driver } from './driver.ts';
import { type Prisma, PrismaClient } from './generated/client.ts';
import { migrate } from './migrations.ts';
import { openPglite } from './pglite.ts';
import { openPostgres } from './postgres.ts';

/** How long a transaction waits for its turn, and then lasts, at most. PGlite's one connection makes turns long. */
const transactionMs = 30_000;
/** A transaction that another one made impossible is run again this often. */
const mostRuns = 3;

/** What a transaction's function is given; nothing else may touch the database inside it. */
export interface Transaction {
  readonly prisma: Prisma.TransactionClient;
  /** Raw SQL inside the transaction; rows as {@link Store.query} gives them. Cast times: `$1::timestamptz`. */
  query<Row>(sql: string, values?: readonly unknown[]): Promise<Row[]>;
  /** Called once the transaction has committed, not when it fails. Must not throw. */
  afterCommit(hook: () => void): void;
}

/** The database. Reads anywhere, writes through {@link Store.transact} or, one statement, {@link Store.execute}. */
export interface Store {
  readonly dialect: 'pglite' | 'postgres';
  /** For reads outside a transaction; throws inside one. */
  readonly prisma: PrismaClient;
  /** A reading statement straight on the driver: the hot path. Throws inside a transaction. */
  query<Row>(sql: string, values?: readonly unknown[]): Promise<Row[]>;
  /**
   * The only way to write in several statements. No I/O but SQL inside. After a deadlock or a serialization failure `fn`
   * runs again, so it must keep nothing outside the transaction. Rely on row locks and unique indexes, not on isolation.
   */
  transact<T>(fn: (tx: Transaction) => Promise<T>): Promise<T>;
  /** One writing statement that is a transaction of its own. Throws inside another. */
  execute<Row>(sql: string, values?: readonly unknown[]): Promise<Row[]>;
  /** Rejects when the database does not answer. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** Where and how to open. `databaseUrl` null: the embedded database in `dataDir`. */
export interface StoreOptions {
  readonly dataDir: string;
  readonly databaseUrl: string | null;
  readonly log: { error(fields: object, message: string): void };
}

/**
 * Locks the data directory, opens the database, applies the migrations. The directory is locked for PostgreSQL too: the
 * worker's identity and the agents' workspaces live in it.
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const lock = await lockDataDir(options.dataDir);
  try {
    const driver =
      options.databaseUrl === null
        ? await openPglite({ directory: join(options.dataDir, 'pglite') })
        : await openPostgres(options.databaseUrl, (error) =>
            options.log.error({ err: error }, 'An idle database connection ended.'),
          );
    try {
      await migrate(driver);
    } catch (error) {
      await driver.close();
      throw error;
    }
    return storeOn(driver, lock);
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** A store on an open, migrated database. */
export function storeOn(driver: Driver, lock: DataDirLock | null): Store {
  const prisma = new PrismaClient({ adapter: driver.adapter });
  const inside = new AsyncLocalStorage<true>();
  const guard = () => {
    if (inside.getStore()) throw new Error('Inside transact() only the transaction itself may be used: anything else would wait for it.');
  };
  const run = async <T>(fn: (tx: Transaction) => Promise<T>): Promise<{ result: T; hooks: (() => void)[] }> => {
    const hooks: (() => void)[] = [];
    const result = await prisma.$transaction(
      (client) => inside.run(true, () => fn(transactionOn(client, hooks))),
      { maxWait: transactionMs, timeout: transactionMs },
    );
    return { result, hooks };
  };
  return {
    dialect: driver.dialect,
    get prisma() {
      guard();
      return prisma;
    },
    query: async (sql, values = []) => {
      guard();
      return driver.query(sql, values);
    },
    execute: async (sql, values = []) => {
      guard();
      return driver.query(sql, values);
    },
    async transact(fn) {
      guard();
      for (let runs = 1; ; runs++) {
        try {
          const { result, hooks } = await run(fn);
          for (const hook of hooks) hook();
          return result;
        } catch (error) {
          if (runs === mostRuns || !isCollision(error)) throw error;
        }
      }
    },
    async ping() {
      await driver.query('select 1', []);
    },
    async close() {
      await prisma.$disconnect();
      await driver.close();
      await lock?.release();
    },
  };
}

function transactionOn(client: Prisma.TransactionClient, hooks: (() => void)[]): Transaction {
  return {
    prisma: client,
    query: async <Row>(sql: string, values: readonly unknown[] = []) => {
      const rows = await client.$queryRawUnsafe<Record<string, unknown>[]>(sql, ...values);
      return rows.map(plainRow) as Row[];
    },
    afterCommit: (hook) => {
      hooks.push(hook);
    },
  };
}

// Prisma gives int8 as BigInt; here it is only ever a count.
function plainRow(row: Record<string, unknown>): Record<string, unknown> {
  for (const [name, value] of Object.entries(row)) if (typeof value === 'bigint') row[name] = Number(value);
  return row;
}

// Prisma's P2034, or the same from a raw statement (P2010 around 40P01 or 40001).
function isCollision(error: unknown): boolean {
  const { code, meta, message } = error as { code?: unknown; meta?: { code?: unknown }; message?: unknown };
  if (code === 'P2034') return true;
  return /\b(40P01|40001)\b/.test(`${String(meta?.code ?? '')} ${code === 'P2010' ? String(message) : ''}`);
}
