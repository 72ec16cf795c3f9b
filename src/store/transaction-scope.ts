import { AsyncLocalStorage } from 'node:async_hooks';
import type { SqlDriverAdapterFactory } from '@prisma/client/runtime/client';

/** Prisma's adapter of a database; Prisma exports only the factory's type. */
export type Adapter = Awaited<ReturnType<SqlDriverAdapterFactory['connect']>>;
/** Prisma's adapter of an open transaction. */
type AdapterTransaction = Awaited<ReturnType<Adapter['startTransaction']>>;

/** The statements of the Prisma client. */
export type PrismaSide = Pick<Adapter, 'queryRaw' | 'executeRaw'>;

/** A transaction that a driver has begun. It must be ended once: until then it occupies its connection. */
export interface Begun {
  query<Row>(sql: string, values: readonly unknown[]): Promise<Row[]>;
  /** Prisma's way to run statements in it. */
  prismaSide(): Promise<PrismaSide>;
  commit(): Promise<void>;
  rollback(): Promise<void>;
}

/** One run of `transact`: all code that its function calls finds it through {@link TransactionScopes}. */
export interface TransactionScope extends Omit<Begun, 'rollback' | 'prismaSide'>, PrismaSide {
  /** Does nothing if the transaction is over. */
  rollback(): Promise<void>;
  /** The first statement that failed: from then on PostgreSQL can only roll back. */
  readonly failure: { readonly error: unknown } | null;
  /** Committed, rolled back or timed out: code that still runs is outside the transaction. */
  readonly isOver: boolean;
}

/** Finds the scope of the current code. */
export interface TransactionScopes {
  current(): TransactionScope | undefined;
  /** The scope whose Prisma client has called the current code; undefined for all other code. */
  joined(): TransactionScope | undefined;
  /**
   * Runs `work` within a scope. It must not settle before the transaction is over, because late statements find the
   * transaction through it.
   */
  run<T>(scope: TransactionScope, work: () => Promise<T>): Promise<T>;
  /** Runs a call of a scope's Prisma client, so that its statements find the scope by {@link TransactionScopes.joined}. */
  runJoined<T>(scope: TransactionScope, call: () => Promise<T>): Promise<T>;
}

/**
 * Creates the scopes of one database. While an AsyncLocalStorage is in use, Node 20 calls back for each promise of the
 * process, which makes promises two to three times as slow: so it is in use only while a scope has work.
 */
export function createTransactionScopes(): TransactionScopes {
  const storage = new AsyncLocalStorage<{ readonly scope: TransactionScope; readonly isJoined: boolean }>();
  let atWork = 0;
  return {
    current: () => storage.getStore()?.scope,
    joined() {
      const found = storage.getStore();
      return found?.isJoined ? found.scope : undefined;
    },
    runJoined: (scope, call) => storage.run({ scope, isJoined: true }, call),
    async run(scope, work) {
      atWork += 1;
      try {
        return await storage.run({ scope, isJoined: false }, work);
      } finally {
        atWork -= 1;
        if (atWork === 0) storage.disable();
      }
    },
  };
}

const mustStayInside =
  'Inside transact() only the transaction itself may be used: anything else could wait for it, and it for that.';

/** Throws if called from inside a `transact` that is still open. */
export function requireOutsideTransaction(scopes: TransactionScopes): void {
  const scope = scopes.current();
  if (scope && !scope.isOver) throw new Error(mustStayInside);
}

/** Queues Prisma's and our own statements of one transaction, and records the first that fails. */
export function openTransactionScope(begun: Begun): TransactionScope {
  let last: Promise<unknown> = Promise.resolve();
  let failure: TransactionScope['failure'] = null;
  let isOver = false;
  const inTurn = <T>(run: () => Promise<T>): Promise<T> => {
    const result = last.then(run);
    last = result.catch(() => undefined);
    return result;
  };
  const statement = <T>(run: () => Promise<T>): Promise<T> => {
    if (isOver) return Promise.reject(new Error('The transaction is over: its statements came too late.'));
    return inTurn(async () => {
      try {
        return await run();
      } catch (error) {
        failure ??= { error };
        throw error;
      }
    });
  };
  let side: Promise<PrismaSide> | null = null;
  const prismaSide = () => {
    side ??= begun.prismaSide();
    return side;
  };
  const end = (run: () => Promise<void>) => {
    isOver = true;
    return inTurn(run);
  };
  return {
    get failure() {
      return failure;
    },
    get isOver() {
      return isOver;
    },
    query: (sql, values) => statement(() => begun.query(sql, values)),
    queryRaw: (raw) => statement(async () => (await prismaSide()).queryRaw(raw)),
    executeRaw: (raw) => statement(async () => (await prismaSide()).executeRaw(raw)),
    commit: () => end(() => begun.commit()),
    rollback: () => (isOver ? Promise.resolve() : end(() => begun.rollback())),
  };
}

/**
 * An adapter for Prisma that refuses all statements outside an open transaction. It is below Prisma, so that a client
 * captured outside cannot bypass it.
 */
export function scopedAdapter(
  factory: SqlDriverAdapterFactory,
  scopes: TransactionScopes,
  begin: () => Promise<Begun>,
): SqlDriverAdapterFactory {
  const { provider, adapterName } = factory;
  const outsideTransaction = <Input, Output>(run: (input: Input) => Promise<Output>) => {
    return async (input: Input) => {
      requireOutsideTransaction(scopes);
      return run(input);
    };
  };
  const connect = async (): Promise<Adapter> => {
    const adapter = await factory.connect();
    return {
      provider,
      adapterName,
      queryRaw: outsideTransaction((query) => adapter.queryRaw(query)),
      executeRaw: outsideTransaction((query) => adapter.executeRaw(query)),
      executeScript: outsideTransaction((script: string) => adapter.executeScript(script)),
      getConnectionInfo: () => adapter.getConnectionInfo?.() ?? { supportsRelationJoins: true },
      dispose: () => adapter.dispose(),
      async startTransaction(): Promise<AdapterTransaction> {
        requireOutsideTransaction(scopes);
        const open = await begin();
        return {
          ...adapterTransaction(factory, await open.prismaSide()),
          commit: () => open.commit(),
          rollback: () => open.rollback(),
        };
      },
    };
  };
  return { provider, adapterName, connect };
}

/** A transaction of an adapter whose statements go to `side`, and which does nothing at its end. */
export function adapterTransaction(
  { provider, adapterName }: Pick<Adapter, 'provider' | 'adapterName'>,
  { queryRaw, executeRaw }: PrismaSide,
): AdapterTransaction {
  const nothing = () => Promise.resolve();
  // Phantom: Prisma only pretends to send BEGIN and COMMIT.
  const options = { usePhantomQuery: true };
  return { provider, adapterName, options, queryRaw, executeRaw, commit: nothing, rollback: nothing };
}
