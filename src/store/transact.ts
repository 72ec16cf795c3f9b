import { setTimeout as delay } from 'node:timers/promises';
import type { Driver } from './driver.ts';
import type { Prisma, PrismaClient } from './generated/client.ts';
import { requireOutside, type Scope } from './scope.ts';
import { isCachedPlanError } from './statement-names.ts';

/** How long a transaction waits for its turn, and then lasts, at most. PGlite's one connection makes turns long. */
const transactionMs = 30_000;
/** A transaction that another one made impossible is run again: so often at most in all, after a short random wait. */
const rerun = { mostRuns: 3, mostDelayMs: 40 } as const;

/** What a transaction's function is given; nothing else may touch the database inside it. */
export interface Transaction {
  readonly prisma: Prisma.TransactionClient;
  /** SQL straight on the transaction's connection; rows as the store's `query` gives them. */
  query<Row>(sql: string, values?: readonly unknown[]): Promise<Row[]>;
  /** Called once the transaction has committed, not when it fails. An error in it is logged and goes no further. */
  afterCommit(hook: () => void): void;
}

/** Runs a function in a transaction; see the store's `transact`. */
export async function transact<T>(
  { driver, prisma, onHookError }: { driver: Driver; prisma: PrismaClient; onHookError: (error: unknown) => void },
  fn: (tx: Transaction) => Promise<T>,
): Promise<T> {
  requireOutside(driver.scopes);
  for (let runs = 1; ; runs++) {
    const scope: Scope = { query: null, failure: null, isOver: false };
    const hooks: (() => void)[] = [];
    try {
      const result = await driver.scopes.run(scope, () =>
        prisma.$transaction((client) => runInside(scope, transactionOn(client, scope, hooks), fn), {
          maxWait: transactionMs,
          timeout: transactionMs,
        }),
      );
      for (const hook of hooks) runHook(hook, onHookError);
      return result;
    } catch (error) {
      if (runs === rerun.mostRuns || !isCollision(error, scope)) throw error;
      await delay(Math.random() * rerun.mostDelayMs);
    } finally {
      scope.isOver = true;
    }
  }
}

async function runInside<T>(scope: Scope, tx: Transaction, fn: (tx: Transaction) => Promise<T>): Promise<T> {
  const result = await fn(tx);
  if (scope.failure) {
    // PostgreSQL answers COMMIT after a failed statement by rolling back, and calls that a success.
    throw new Error('A statement of this transaction failed and its error was ignored, so nothing can be committed.', {
      cause: scope.failure.error,
    });
  }
  return result;
}

function transactionOn(client: Prisma.TransactionClient, scope: Scope, hooks: (() => void)[]): Transaction {
  return {
    prisma: client,
    query: async <Row>(sql: string, values: readonly unknown[] = []) => {
      if (!scope.query) throw new Error('Prisma began this transaction outside of its scope.');
      return scope.query<Row>(sql, values);
    },
    afterCommit: (hook) => {
      hooks.push(hook);
    },
  };
}

function runHook(hook: () => void, onError: (error: unknown) => void): void {
  try {
    hook();
  } catch (error) {
    // What was committed stays committed: the caller must not be told otherwise.
    onError(error);
  }
}

/** serialization_failure and deadlock_detected. */
const collisions = new Set(['40001', '40P01']);

/** True when the database gave up on this run for another transaction's sake, so that running it again helps. */
function isCollision(error: unknown, scope: Scope): boolean {
  const causes = [error, scope.failure?.error];
  return causes.some((cause) => {
    if (cause === null || typeof cause !== 'object') return false;
    const { code, originalCode } = { ...(cause as { cause?: object }).cause, ...cause } as Record<string, unknown>;
    return (
      code === 'P2034' || [code, originalCode].some((each) => collisions.has(String(each))) || isCachedPlanError(cause)
    );
  });
}
