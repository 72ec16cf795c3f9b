import type { Prisma, PrismaClient } from './generated/client.ts';
import type { TransactionScope } from './transaction-scope.ts';

/** Longer than any transaction: Prisma must not end one. */
const prismaMs = 120_000;

/** Prisma in a transaction that it has not begun. */
export interface JoinedPrisma {
  readonly client: Prisma.TransactionClient;
  /** Call this before the transaction ends. Never rejects. */
  leave(): Promise<void>;
}

/**
 * Lets Prisma join a transaction at the first use of its client: most transactions are SQL alone, and joining costs
 * more than several of their statements.
 */
export function joinPrisma(prisma: PrismaClient, scope: TransactionScope): JoinedPrisma {
  let joined: Promise<Prisma.TransactionClient> | null = null;
  let ended: Promise<unknown> = Promise.resolve();
  let leave: () => void = () => undefined;
  let hasLeft = false;
  const join = () => {
    if (hasLeft) return Promise.reject(new Error('The transaction is over: Prisma comes too late.'));
    joined ??= new Promise((resolve, reject) => {
      const over = new Promise<void>((resolveOver) => {
        leave = resolveOver;
      });
      scope.isPrismaExpected = true;
      const run = (client: Prisma.TransactionClient) => {
        scope.isPrismaExpected = false;
        resolve(client);
        return over;
      };
      ended = prisma.$transaction(run, { maxWait: prismaMs, timeout: prismaMs }).catch(reject);
    });
    return joined;
  };
  return {
    client: clientOf(join),
    async leave() {
      hasLeft = true;
      leave();
      await ended;
    },
  };
}

/** A client whose `client.model.method(…)` waits for the real one, so that callers need not await it first. */
function clientOf(join: () => Promise<Prisma.TransactionClient>): Prisma.TransactionClient {
  type Models = Record<string, Record<string, (...values: unknown[]) => Promise<unknown>>>;
  const modelOf = (model: string) =>
    new Proxy(
      {},
      {
        get:
          (_target, act: string) =>
          async (...values: unknown[]) => {
            const models = (await join()) as unknown as Models;
            return models[model]?.[act]?.(...values);
          },
      },
    );
  return new Proxy({}, { get: (_target, model: string) => modelOf(model) }) as Prisma.TransactionClient;
}
