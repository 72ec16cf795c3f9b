import { setTimeout as delay } from 'node:timers/promises';
import type { Driver } from './driver.ts';
import type { Prisma, PrismaClient } from './generated/client.ts';
import { joinPrisma } from './join-prisma.ts';
import { isCachedPlanError } from './statement-names.ts';
import { openTransactionScope, requireOutsideTransaction, type TransactionScope } from './transaction-scope.ts';
import { StoreUnavailableError } from './unavailable.ts';

/**
 * Maximum wait for a transaction's connection, and maximum duration after that. PGlite has one connection, so waits are
 * long.
 */
const transactionMs = 30_000;
/**
 * A transaction that fails because of another one is repeated, up to this total number of runs, after a short random
 * wait.
 */
const rerun = { maxRuns: 3, maxDelayMs: 40 } as const;

/** The argument of a transaction's function; nothing else may use the database inside it. */
export interface Transaction {
  /** Without `$queryRaw` and similar methods, and without unique keys of several fields. */
  readonly prisma: Prisma.TransactionClient;
  /** Runs SQL directly on the transaction's connection; rows as the store's `query` returns them. */
  query<Row>(sql: string, values?: readonly unknown[]): Promise<Row[]>;
  /** Called after the commit, but not after a failure. An error in it is only logged. */
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
    const joined = joinPrisma(prisma, driver.scopes, scope);
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
          if (joined.isBusy())
            throw new Error('A call of the Prisma client was not awaited, so nothing can be committed.');
          await scope.commit();
          return value;
        } catch (error) {
          // The first error is the relevant one.
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

/** Prisma's promises do nothing before they are awaited: that must happen within the scope. */
async function inside<T>(fn: (tx: Transaction) => Promise<T>, tx: Transaction): Promise<T> {
  return await fn(tx);
}

async function beginInTime(driver: Driver): Promise<TransactionScope> {
  const beginning = driver.begin();
  try {
    return openTransactionScope(await inTime(beginning, 'A transaction waited for its turn'));
  } catch (error) {
    // The connection may still be obtained after the timeout, when no caller waits for it any more.
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
  // PostgreSQL answers a COMMIT after a failed statement with a rollback, and reports success.
  throw new Error('A statement of this transaction failed and its error was ignored, so nothing can be committed.', {
    cause: failure.error,
  });
}

function runHook(hook: () => void, onError: (error: unknown) => void): void {
  try {
    hook();
  } catch (error) {
    // The commit is final: the caller must not get an error.
    onError(error);
  }
}

/** serialization_failure and deadlock_detected. */
const collisions = new Set(['40001', '40P01']);

/** True if the database cancelled this run because of another transaction, so that a repetition helps. */
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
