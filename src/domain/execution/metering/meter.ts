import type { Metrics } from '../../../metrics/metrics.ts';
import type { Context } from '../../context.ts';
import { newId } from '../../ids.ts';
import { acusOf, type Measured } from '../../metering-rates.ts';
import { FencedError } from '../../sessions/log.ts';
import type { ClaimedRun } from '../runs/claims.ts';
import { createCounter, difference, type KeyUse, keyDifference, nothingUsed, type UsageUpdate } from './counter.ts';
import { readAgentCostUsd, writeWork } from './ledger-entry.ts';
import { findReachedLimit, type LimitReached } from './limits.ts';

/** The run's functions for its meter. The meter calls `onReached` and `onLost` at most once. */
export interface MeterHooks {
  /** The model that the session has chosen; null: the agent's default. */
  readonly model: string | null;
  /** True if the agent waits for the user and does nothing else: such time does not count. */
  isWaiting(): boolean;
  /** Returns the budget of a key that the run has reached; null: none. */
  findBudget(): Promise<LimitReached | null>;
  /** A limit was reached while the agent worked: see suspend-for-limit.ts. */
  onReached(reached: LimitReached): void;
  /** The run is no longer this worker's. */
  onLost(error: FencedError): void;
}

/** Meters one run of a session. */
export interface Meter {
  /** The way in which the agent's own session was opened: its reported cost starts at zero, or continues. */
  opened(how: 'new' | 'resume' | 'load'): Promise<void>;
  /**
   * A prompt is about to be sent: from now on time counts, and usage is written and compared with the limits at
   * intervals.
   */
  turnStarted(): void;
  /** The agent may have started or stopped waiting. This is also checked at intervals. */
  waitingChanged(): void;
  usage(update: UsageUpdate): void;
  /** The turn is over, whatever its result. Resolves when all of its usage is written; never rejects. */
  turnEnded(): Promise<void>;
  /**
   * Writes the remaining calls of the model, after the agent has stopped: those that its gateway cut off, and those
   * that ended outside a turn. Also if the run is no longer this worker's, since the calls were made and cost
   * something.
   */
  close(): Promise<void>;
  /**
   * Writes the usage, and returns the limit that is reached, if any: before an agent is started, and before each turn.
   */
  check(): Promise<LimitReached | null>;
}

/**
 * Entries of the ledger end with the hour, so that each belongs to one day and one cycle whatever hour a day begins at.
 */
const hourMs = 60 * 60 * 1_000;

/**
 * Creates the meter of one run. A run that another worker has taken adds nothing more, except for the usage that {@link
 * Meter.close} writes.
 */
export function createMeter(context: Context, run: ClaimedRun, hooks: MeterHooks): Meter {
  const { metering: rates, log, metrics } = context;
  const counter = createCounter();
  let written = nothingUsed;
  let writtenKeys: ReadonlyMap<string, KeyUse> = new Map();
  let entry: { id: string; usedAt: Date; source: UsageUpdate['source'] | null } | null = null;
  let timer: NodeJS.Timeout | null = null;
  let isOver = false;
  let writing: Promise<void> = Promise.resolve();

  const hourOf = (at: Date) => Math.floor(at.getTime() / hourMs);
  const write = async () => {
    const total = counter.total();
    const keys = new Map(counter.keys());
    const now = context.now();
    const work = difference(total, written);
    if (Object.values(work).every((amount) => amount === 0)) return;
    entry ??= { id: newId(), usedAt: now, source: null };
    // Computed from the totals, not from the difference, so that rounding errors do not add up.
    const acus = Math.round((acusOf(total, rates) - acusOf(written, rates)) * 1_000_000) / 1_000_000;
    const { id: entryId, usedAt } = entry;
    const agentCostUsd = counter.agentCostUsd();
    await writeWork(context, run, {
      entryId,
      usedAt,
      acus,
      measured: work,
      source: counter.source(),
      agentCostUsd,
      keys: keyDifference(keys, writtenKeys),
    });
    written = total;
    writtenKeys = keys;
    countUsage(metrics, hooks.model, work);
    if (hourOf(context.now()) !== hourOf(usedAt)) entry = null;
  };
  // One after another: an entry's first write precedes the others. A failed write is repeated with the next one.
  const flush = () => {
    const done = writing.then(write);
    writing = done.catch(() => undefined);
    return done;
  };
  const settle = () => {
    if (timer === null) return;
    if (hooks.isWaiting()) counter.stop();
    else counter.start();
  };
  const check = async () => {
    await flush();
    return (await findReachedLimit(context, run.sessionId)) ?? hooks.findBudget();
  };
  const poll = async () => {
    settle();
    try {
      const reached = await check();
      if (reached === null || isOver || timer === null) return;
      isOver = true;
      hooks.onReached(reached);
    } catch (error) {
      reportFailure(error);
    }
  };
  const reportFailure = (error: unknown) => {
    if (!(error instanceof FencedError)) {
      log.error({ err: error, sessionId: run.sessionId }, 'The usage of a session could not be recorded.');
      return;
    }
    if (isOver) return;
    isOver = true;
    hooks.onLost(error);
  };

  return {
    async opened(how) {
      counter.setAgentCostUsd(how === 'new' ? 0 : await readAgentCostUsd(context, run.sessionId));
    },
    turnStarted() {
      entry = null;
      counter.start();
      timer ??= setInterval(() => void poll(), rates.everyMs).unref();
    },
    waitingChanged: settle,
    usage(update) {
      const before = counter.agentCostUsd();
      counter.add(update);
      const isCost = rates.acusPerUsd > 0 && before !== counter.agentCostUsd();
      if (timer !== null && isCost) void poll();
    },
    async turnEnded() {
      counter.stop();
      if (timer) clearInterval(timer);
      timer = null;
      await flush().catch(reportFailure);
    },
    async close() {
      await writing;
      const { llmCalls, inputTokens, outputTokens, cachedTokens } = difference(counter.total(), written);
      const isGateway = counter.source() === 'gateway';
      if (!isGateway || llmCalls + inputTokens + outputTokens + cachedTokens === 0) return;
      const { id: entryId, usedAt } = entry ?? { id: newId(), usedAt: context.now() };
      const calls = { ...nothingUsed, llmCalls, inputTokens, outputTokens, cachedTokens };
      const keys = keyDifference(counter.keys(), writtenKeys);
      const work = { entryId, usedAt, acus: 0, measured: calls, source: 'gateway', agentCostUsd: null, keys } as const;
      await writeWork(context, run, work, false);
      countUsage(metrics, hooks.model, calls);
    },
    check,
  };
}

function countUsage({ tokens, cost, modelLabel }: Metrics, chosen: string | null, measured: Measured): void {
  const model = modelLabel(chosen ?? 'default');
  // A counter throws if it is decreased.
  tokens.inc({ model, type: 'input' }, Math.max(0, measured.inputTokens));
  tokens.inc({ model, type: 'cached' }, Math.max(0, measured.cachedTokens));
  tokens.inc({ model, type: 'output' }, Math.max(0, measured.outputTokens));
  cost.inc({ model }, Math.max(0, measured.costUsd));
}
