import type { AsyncLocalStorage } from 'node:async_hooks';
import type { SqlDriverAdapterFactory } from '@prisma/client/runtime/client';

/** Prisma's side of a database; Prisma exports only the factory's type. */
type Adapter = Awaited<ReturnType<SqlDriverAdapterFactory['connect']>>;
/** Prisma's side of an open transaction. */
export type AdapterTransaction = Awaited<ReturnType<Adapter['startTransaction']>>;

/** One run of `transact`: found through AsyncLocalStorage by everything that its function calls. */
export interface Scope {
  /** A statement on the transaction's own connection; null until Prisma has begun it. */
  query: (<Row>(sql: string, values: readonly unknown[]) => Promise<Row[]>) | null;
  /** The first statement that failed: from then on PostgreSQL rolls back whatever is asked of it. */
  failure: { readonly error: unknown } | null;
  /** Committed, rolled back or timed out: code that still runs is outside again. */
  isOver: boolean;
}

/** A transaction that a driver has begun. */
export interface Begun {
  readonly transaction: AdapterTransaction;
  query<Row>(sql: string, values: readonly unknown[]): Promise<Row[]>;
}

const mustStayInside =
  'Inside transact() only the transaction itself may be used: anything else could wait for it, and it for that.';

/** Throws when called from inside a `transact` that is still open. */
export function requireOutside(scopes: AsyncLocalStorage<Scope>): void {
  const scope = scopes.getStore();
  if (scope && !scope.isOver) throw new Error(mustStayInside);
}

/**
 * An adapter for Prisma that hands each transaction's connection to the scope it was begun in, and refuses all that goes
 * around the transaction. It stands below Prisma, so that a client captured outside cannot slip past it.
 */
export function scopedAdapter(
  factory: SqlDriverAdapterFactory,
  scopes: AsyncLocalStorage<Scope>,
  begin: (adapter: Adapter) => Promise<Begun>,
): SqlDriverAdapterFactory {
  const { provider, adapterName } = factory;
  const connect = async (): Promise<Adapter> => {
    const adapter = await factory.connect();
    const outside = <Input, Output>(run: (input: Input) => Promise<Output>) => {
      return async (input: Input) => {
        requireOutside(scopes);
        return run(input);
      };
    };
    return {
      provider,
      adapterName,
      queryRaw: outside((query) => adapter.queryRaw(query)),
      executeRaw: outside((query) => adapter.executeRaw(query)),
      executeScript: outside((script: string) => adapter.executeScript(script)),
      getConnectionInfo: () => adapter.getConnectionInfo?.() ?? { supportsRelationJoins: true },
      dispose: () => adapter.dispose(),
      async startTransaction() {
        const scope = scopes.getStore();
        if (!scope || scope.isOver) return (await begin(adapter)).transaction;
        if (scope.query) throw new Error(mustStayInside);
        return enter(scope, await begin(adapter));
      },
    };
  };
  return { provider, adapterName, connect };
}

/** Prisma sends these as statements of their own; after them the connection is no longer in the transaction. */
const endings = new Set(['COMMIT', 'ROLLBACK']);

/** Joins Prisma's and our own statements of one transaction in one queue, and remembers the first that fails. */
function enter(scope: Scope, { transaction, query }: Begun): AdapterTransaction {
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(run: () => Promise<T>): Promise<T> => {
    const result = last.then(run);
    last = result.catch(() => undefined);
    return result;
  };
  const statement = <T>(run: () => Promise<T>) =>
    inTurn(async () => {
      try {
        return await run();
      } catch (error) {
        scope.failure ??= { error };
        throw error;
      }
    });
  const end = <T>(run: () => Promise<T>) => {
    scope.isOver = true;
    return inTurn(run);
  };
  scope.query = (sql, values) => {
    if (scope.isOver) return Promise.reject(new Error('The transaction is over: its statements came too late.'));
    return statement(() => query(sql, values));
  };
  return {
    provider: transaction.provider,
    adapterName: transaction.adapterName,
    options: transaction.options,
    queryRaw: (raw) => statement(() => transaction.queryRaw(raw)),
    executeRaw: (raw) => (endings.has(raw.sql) ? end : statement)(() => transaction.executeRaw(raw)),
    commit: () => end(() => transaction.commit()),
    rollback: () => end(() => transaction.rollback()),
  };
}
