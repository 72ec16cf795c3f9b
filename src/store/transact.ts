import { setTimeout as delay } from 'node:timers/promises';
import type { Driver } from './driver.ts';
import type { Prisma, PrismaClient } from './generated/client.ts';
import { joinPrisma } from './join-prisma.ts';
import { isCachedPlanError } from './statement-names.ts';
import { openTransactionScope, requireOutsideTransaction, type TransactionScope } from './transaction-scope.ts';
import { StoreUnavailableError } from './unavailable.ts';

/** How long a transaction waits for its turn, and then lasts, at most. PGlite's one connection makes turns long. */
const transactionMs = 30_000;
/** A transaction that another one made impossible is run again: so often at most in all, after a short random wait. */
const rerun = { maxRuns: 3, maxDelayMs: 40 } as const;

/** What a transaction's function is given; nothing else may touch the database inside it. */
export interface Transaction {
  /** Joins at its first use, which takes a moment; without `$queryRaw` and its like. */
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
  requireOutsideTransaction(driver.scopes);
  for (let runs = 1; ; runs++) {
    const scope = await beginInTime(driver);
    const joined = joinPrisma(prisma, scope);
    const hooks: (() => void)[] = [];
    const tx: Transaction = {
      prisma: joined.client,
      query: <Row>(sql: string, values: readonly unknown[] = []) => scope.query<Row>(sql, values),
      afterCommit: (hook) => {
        hooks.push(hook);
      },
    };
    try {
      const result = await driver.scopes.run(scope, async () => {
        try {
          const value = await inTime(inside(fn, tx), 'A transaction lasted');
          requireSuccess(scope);
          await joined.leave();
          await scope.commit();
          return value;
        } catch (error) {
          await joined.leave();
          // The error that it fails with is the one to tell of.
          await scope.rollback().catch(() => undefined);
          throw error;
        }
      });
      for (const hook of hooks) runHook(hook, onHookError);
      return result;
    } catch (error) {
      if (runs === rerun.maxRuns || !isCollision(error, scope)) throw error;
      await delay(Math.random() * rerun.maxDelayMs);
    }
  }
}

/** Prisma's promises do nothing before they are awaited: that must be within the scope. */
async function inside<T>(fn: (tx: Transaction) => Promise<T>, tx: Transaction): Promise<T> {
  return await fn(tx);
}

async function beginInTime(driver: Driver): Promise<TransactionScope> {
  const beginning = driver.begin();
  try {
    return openTransactionScope(await inTime(beginning, 'A transaction waited for its turn'));
  } catch (error) {
    // Its turn may still come, when nobody waits for it any more.
    beginning.then((begun) => begun.rollback()).catch(() => undefined);
    throw error;
  }
}

async function inTime<T>(work: Promise<T>, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    const message = `${what} longer than ${transactionMs / 1_000} seconds.`;
    timer = setTimeout(
      () => reject(new StoreUnavailableError('database', { cause: new Error(message) })),
      transactionMs,
    ).unref();
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function requireSuccess({ failure }: TransactionScope): void {
  if (failure === null) return;
  // PostgreSQL answers COMMIT after a failed statement by rolling back, and calls that a success.
  throw new Error('A statement of this transaction failed and its error was ignored, so nothing can be committed.', {
    cause: failure.error,
  });
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
function isCollision(error: unknown, scope: TransactionScope): boolean {
  const causes = [error, scope.failure?.error];
  return causes.some((cause) => {
    if (cause === null || typeof cause !== 'object') return false;
    const { code, originalCode } = { ...(cause as { cause?: object }).cause, ...cause } as Record<string, unknown>;
    return (
      code === 'P2034' || [code, originalCode].some((each) => collisions.has(String(each))) || isCachedPlanError(cause)
    );
  });
}
