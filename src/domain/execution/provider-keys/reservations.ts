import { setMaxListeners } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import type { CallBudget, CallCost, CallUse, CredentialRefusal, Reservation } from '../../../agents/credential.ts';
import type { Context } from '../../context.ts';
import { newId } from '../../ids.ts';
import type { StoredKey } from '../../library/provider-keys/stored-key.ts';
import type { LimitReached } from '../metering/limits.ts';
import { reachedBudget } from './key-budgets.ts';
import { extend, reserve, settle, settleLost } from './reservation-statements.ts';

/** A key with a budget, and the owner of the session that uses it. */
export interface BudgetScope {
  readonly key: StoredKey;
  readonly organizationId: string;
  /** Empty: the session belongs to no user. */
  readonly userId: string;
}

/** The reservations of the calls that one process makes. */
export interface Reservations {
  /** Returns the budget of a key. `onReached`: it is reached, or too little is left for a call. */
  budget(scope: BudgetScope, onReached: (reached: LimitReached) => void): CallBudget;
  /** Counts the calls that the process made before it was killed, and from now on those of others. */
  start(): Promise<void>;
  /** Counts the calls in progress by estimates. Resolves when all is written, or after some seconds. */
  stop(): Promise<void>;
}

/** The interval at which reservations are extended, and those of processes that have died are counted. */
const everyMs = 30_000;
/** The longest time that a call waits for others. */
const maxWaitMs = 120_000;
const [minPauseMs, maxPauseMs] = [100, 2_000];
/** The time for writing at a stop. */
const stopMs = 5_000;

/** Creates the reservations of a process. */
export function createReservations(context: Context, workerId: string): Reservations {
  const open = new Set<string>();
  const writing = new Set<Promise<void>>();
  const waiting = new Set<() => void>();
  const stopping = new AbortController();
  setMaxListeners(0, stopping.signal);
  let timer: NodeJS.Timeout | null = null;
  const log = (error: unknown, message: string) => context.log.error({ err: error }, message);

  const writeUse = async (id: string, use: CallUse | null): Promise<number | null> => {
    for (let waitMs = 250; ; waitMs = Math.min(waitMs * 2, everyMs)) {
      try {
        return await settle(context, id, use);
      } catch (error) {
        log(error, 'The cost of a call could not be written.');
        // Another process counts the reservation.
        if (stopping.signal.aborted) return null;
        await wait(waitMs, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined);
      }
    }
  };

  const grant = (
    { key }: BudgetScope,
    id: string,
    { outputUsd, onReached }: Pick<Reservation, 'outputUsd'> & { onReached: (reached: LimitReached) => void },
  ): Reservation => {
    open.add(id);
    let isSettled = false;
    const finish = async (use: CallUse | null) => {
      const spentUsd = await writeUse(id, use);
      open.delete(id);
      for (const wake of waiting) wake();
      const reached = spentUsd === null ? null : reachedBudget({ ...key, spentThisMonthUsd: spentUsd });
      if (reached !== null) onReached(reached);
    };
    return {
      outputUsd,
      stopped: stopping.signal,
      settle(use) {
        if (isSettled) return;
        isSettled = true;
        const done: Promise<void> = finish(use)
          .catch((error: unknown) => log(error, 'A reservation could not be settled.'))
          .finally(() => writing.delete(done));
        writing.add(done);
      },
    };
  };

  const pause = (ms: number, signal: AbortSignal) => {
    const ended = new AbortController();
    const woken = new Promise<void>((resolve) => {
      const wake = () => {
        waiting.delete(wake);
        resolve();
      };
      waiting.add(wake);
      ended.signal.addEventListener('abort', wake, { once: true });
    });
    const timeout = wait(ms, undefined, { signal: AbortSignal.any([signal, ended.signal]), ref: false });
    return Promise.race([woken, timeout.catch(() => undefined)]).finally(() => ended.abort());
  };

  const ask = async (
    scope: BudgetScope,
    cost: CallCost,
    { signal, onReached }: { signal: AbortSignal; onReached: (reached: LimitReached) => void },
  ): Promise<Reservation | CredentialRefusal | 'BUSY'> => {
    const { key, organizationId, userId } = scope;
    const needed = cost.inputUsd + cost.minOutputUsd;
    const since = performance.now();
    for (let waitMs = minPauseMs; ; waitMs = Math.min(waitMs * 2, maxPauseMs)) {
      const id = newId();
      const owner = { keyId: key.id, organizationId, userId, workerId };
      const found = await reserve(context, { id, ...owner }, cost);
      if (found === null)
        return { refused: 'UNAVAILABLE', message: 'The key of the model provider has changed. Retry.' };
      if (found.isReserved) return grant(scope, id, { outputUsd: found.outputUsd, onReached });
      const now = { ...key, monthlyBudgetUsd: found.budgetUsd, spentThisMonthUsd: found.budgetUsd - found.leftUsd };
      const reached = reachedBudget(now, needed);
      if (reached !== null) {
        onReached(reached);
        return { refused: 'BUDGET_REACHED', message: reached.message };
      }
      const rest = maxWaitMs - (performance.now() - since);
      if (rest <= 0 || signal.aborted || stopping.signal.aborted) return 'BUSY';
      // The other calls may be those of a process that has died.
      await settleLost(context, null);
      await pause(Math.min(waitMs, rest), signal);
    }
  };

  const beat = async () => {
    try {
      if (open.size > 0) await extend(context, [...open]);
      await settleLost(context, null);
    } catch (error) {
      log(error, 'The reservations of calls could not be extended.');
    }
  };

  return {
    budget: (scope, onReached) => ({
      reserve: (cost, signal) =>
        ask(scope, cost, { signal, onReached }).catch((error: unknown) => {
          log(error, 'The cost of a call could not be reserved.');
          const message = 'The service cannot read the budget of the key of the model provider. Retry later.';
          return { refused: 'UNAVAILABLE', message } as const;
        }),
    }),
    async start() {
      await settleLost(context, workerId);
      timer = setInterval(() => void beat(), everyMs).unref();
    },
    async stop() {
      stopping.abort();
      if (timer !== null) clearInterval(timer);
      const written = Promise.all(writing);
      await Promise.race([written, wait(stopMs, undefined, { ref: false })]);
    },
  };
}
