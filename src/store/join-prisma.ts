import type { SqlDriverAdapterFactory } from '@prisma/client/runtime/client';
import type { Prisma, PrismaClient } from './generated/client.ts';
import {
  type Adapter,
  adapterTransaction,
  type TransactionScope,
  type TransactionScopes,
} from './transaction-scope.ts';

/**
 * An adapter for Prisma that sends the statements of {@link joinPrisma}'s clients within their transactions, and all others
 * by `factory`.
 */
export function joiningAdapter(factory: SqlDriverAdapterFactory, scopes: TransactionScopes): SqlDriverAdapterFactory {
  const { provider, adapterName } = factory;
  const connect = async (): Promise<Adapter> => {
    const adapter = await factory.connect();
    const sideOfCall = () => scopes.joined() ?? adapter;
    return {
      provider,
      adapterName,
      queryRaw: (query) => sideOfCall().queryRaw(query),
      executeRaw: (query) => sideOfCall().executeRaw(query),
      executeScript: (script) => adapter.executeScript(script),
      async startTransaction(level) {
        const scope = scopes.joined();
        return scope ? adapterTransaction(factory, scope) : adapter.startTransaction(level);
      },
      getConnectionInfo: () => adapter.getConnectionInfo?.() ?? { supportsRelationJoins: true },
      dispose: () => adapter.dispose(),
    };
  };
  return { provider, adapterName, connect };
}

/** The Prisma client of a transaction. */
export interface JoinedPrisma {
  readonly client: Prisma.TransactionClient;
  /** True while a call has not ended. */
  isBusy(): boolean;
}

/**
 * Returns the Prisma client of a transaction: each call runs as one of `prisma`, whose adapter is a {@link joiningAdapter}.
 * Prisma's own interactive transactions cost several times as much.
 */
export function joinPrisma(prisma: PrismaClient, scopes: TransactionScopes, scope: TransactionScope): JoinedPrisma {
  const models = prisma as unknown as Record<string, Record<string, (...values: unknown[]) => Promise<unknown>>>;
  let running = 0;
  const call = async (model: string, act: string, values: readonly unknown[]) => {
    if (scope.isOver) throw new Error('The transaction is over: Prisma comes too late.');
    running += 1;
    try {
      // Awaited within, because Prisma's promises do nothing before.
      return await scopes.runJoined(scope, async () => await models[model]?.[unbatched[act] ?? act]?.(...values));
    } finally {
      running -= 1;
    }
  };
  const modelOf = (model: string) =>
    new Proxy(
      {},
      {
        get:
          (_target, act: string) =>
          (...values: unknown[]) =>
            call(model, act, values),
      },
    );
  const client = new Proxy({}, { get: (_target, model: string) => modelOf(model) }) as Prisma.TransactionClient;
  return { client, isBusy: () => running > 0 };
}

/** Prisma reads several unique rows together, also those of different transactions. */
const unbatched: Readonly<Record<string, string>> = {
  findUnique: 'findFirst',
  findUniqueOrThrow: 'findFirstOrThrow',
};
