import { createHash } from 'node:crypto';
import type { AutomationRecord } from '../model/automations.ts';
import type { MissedRuns } from '../model/missed-runs.ts';
import { OverBudgetError } from '../recurrence/recurrence.ts';
import { nextOccurrenceAtOnce, upcomingOccurrences } from './upcoming-occurrences.ts';

/** Delay after which an occurrence counts as missed. */
export const missedAfterMs = 5 * 60 * 1_000;
/** Maximum number of missed occurrences that are made up for. */
export const maxCatchUpTimes = 100;

type ScheduledAutomation = Pick<AutomationRecord, 'id' | 'enabled' | 'triggers' | 'createdAt' | 'options'>;

/** The next occurrence of an automation, and the time when it is claimed for that. */
export type NextOccurrence = Pick<AutomationRecord, 'nextRunAt' | 'dueAt'>;

// Requests the next times after a moment, and receives them: at once, or over several turns of the event loop.
type Steps<T> = Generator<{ readonly after: Date; readonly count: number }, T, readonly Date[]>;

async function inTurns<T>(automation: ScheduledAutomation, steps: Steps<T>): Promise<T> {
  let step = steps.next();
  while (!step.done) step = steps.next(await upcomingOccurrences(automation, step.value.after, step.value.count));
  return step.value;
}

/**
 * Finds the next occurrence after a moment, and its due time: a little later with jitter. Both null: there is none.
 * Works over several turns of the event loop.
 */
export function findNextOccurrence(automation: ScheduledAutomation, after: Date): Promise<NextOccurrence> {
  return inTurns(automation, nextOccurrence(automation, after));
}

function* nextOccurrence(automation: ScheduledAutomation, after: Date): Steps<NextOccurrence> {
  const nextRunAt = (yield { after, count: 1 })[0] ?? null;
  return { nextRunAt, dueAt: nextRunAt && new Date(nextRunAt.getTime() + jitterMs(automation, nextRunAt)) };
}

// Deterministic: derived from the automation and the occurrence.
function jitterMs({ id, options }: ScheduledAutomation, time: Date): number {
  const maxMs = (options.jitterSeconds ?? 0) * 1_000;
  if (maxMs === 0) return 0;
  const digest = createHash('sha256').update(`${id}:${time.getTime()}`).digest();
  return Math.floor((digest.readUInt32BE(0) / 2 ** 32) * maxMs);
}

/** A due occurrence: whether it is still to be run, and the occurrence after it. */
export interface DueTime {
  readonly time: Date;
  /** The policy skips it, because it was missed. */
  readonly isSkipped: boolean;
  readonly next: NextOccurrence;
}

/** The input of {@link findDueTime}. */
export interface DueTimeQuery {
  readonly automation: ScheduledAutomation & Pick<AutomationRecord, 'nextRunAt' | 'dueAt'>;
  readonly now: Date;
  /** The occurrence is a retry, so it does not count as missed. */
  readonly isRetry: boolean;
}

/**
 * Finds the occurrence to run for an automation that is due. If occurrences were missed, it is the latest, skipped or
 * not; with the policy `all`, the first of the last {@link maxCatchUpTimes}. Null: there is none. Works over several
 * turns of the event loop.
 */
export function findDueTime(query: DueTimeQuery): Promise<DueTime | null> {
  return inTurns(query.automation, dueTime(query));
}

/** {@link findDueTime} at once, for callers that hold locks; 'expensive': it exceeds the work that they may do. */
export function dueTimeAtOnce(query: DueTimeQuery): DueTime | null | 'expensive' {
  const steps = dueTime(query);
  try {
    let step = steps.next();
    for (let stepCount = 0; !step.done; stepCount++) {
      const { after, count } = step.value;
      if (count > 1 || stepCount >= maxSteps) return 'expensive';
      const next = nextOccurrenceAtOnce(query.automation, after);
      step = steps.next(next === null ? [] : [next]);
    }
    return step.value;
  } catch (error) {
    if (error instanceof OverBudgetError) return 'expensive';
    throw error;
  }
}

/** Without a missed occurrence one or two are requested. */
const maxSteps = 2;

function* dueTime({ automation, now, isRetry }: DueTimeQuery): Steps<DueTime | null> {
  const { nextRunAt, dueAt } = automation;
  if (nextRunAt === null || dueAt === null) return null;
  const isMissed = (time: Date, at: Date = now) =>
    at.getTime() - time.getTime() - jitterMs(automation, time) > missedAfterMs;
  function* at(time: Date, isSkipped = false): Steps<DueTime> {
    return { time, isSkipped, next: yield* nextOccurrence(automation, time) };
  }
  if (!isMissed(nextRunAt)) return yield* at(nextRunAt);
  const policy: MissedRuns = automation.options.missedRuns ?? 'latest';
  if (policy === 'all') {
    // A catch-up occurrence that is claimed late has been counted already.
    const isCounted = isMissed(nextRunAt, dueAt);
    const result = yield* at(isCounted ? nextRunAt : yield* firstToCatchUp(nextRunAt, now));
    const after = result.next.nextRunAt;
    return after !== null && isMissed(after) ? { ...result, next: { nextRunAt: after, dueAt: now } } : result;
  }
  if (policy === 'skip' && isRetry) return yield* at(nextRunAt);
  const latest = yield* latestTime(nextRunAt, now);
  return yield* at(latest, policy === 'skip' && isMissed(latest));
}

// Finds the latest time that is not after `now` by bisection: there may be very many between, and each costs work to
// find.
function* latestTime(first: Date, now: Date): Steps<Date> {
  let low = first;
  let high = now;
  for (;;) {
    const [next] = yield { after: low, count: 1 };
    if (next === undefined || next > now) return low;
    low = next;
    const middle = new Date((low.getTime() + high.getTime()) / 2);
    const [found] = yield { after: middle, count: 1 };
    if (found !== undefined && found <= now) low = found;
    else high = middle;
  }
}

// All remaining times if they are few; else those of the latest half of the period, of the quarter, and so on.
function* firstToCatchUp(first: Date, now: Date): Steps<Date> {
  for (let from = first, spanMs = now.getTime() - first.getTime(); ; ) {
    const last = (yield { after: from, count: maxCatchUpTimes }).at(maxCatchUpTimes - 1);
    if (last === undefined || last > now) {
      if (from === first) return first;
      return (yield { after: from, count: 1 })[0] ?? first;
    }
    spanMs /= 2;
    from = new Date(now.getTime() - spanMs);
  }
}
