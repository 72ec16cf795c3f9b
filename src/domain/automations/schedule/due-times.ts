import { createHash } from 'node:crypto';
import type { AutomationRecord } from '../model/automations.ts';
import type { MissedRuns } from '../model/missed-runs.ts';
import { OverBudgetError } from '../recurrence/recurrence.ts';
import { nextOccurrenceAtOnce, upcomingOccurrences } from './upcoming-occurrences.ts';

/** A time that is later than this was missed. */
export const missedAfterMs = 5 * 60 * 1_000;
/** The most missed times that are made up for. */
export const maxCatchUpTimes = 100;

type ScheduledAutomation = Pick<AutomationRecord, 'id' | 'enabled' | 'triggers' | 'createdAt' | 'options'>;

/** When an automation is to act, and when it is claimed for that. */
export type NextOccurrence = Pick<AutomationRecord, 'nextRunAt' | 'dueAt'>;

// Asks for the next times after a moment, and is given them: at once, or in turns.
type Steps<T> = Generator<{ readonly after: Date; readonly count: number }, T, readonly Date[]>;

async function inTurns<T>(automation: ScheduledAutomation, steps: Steps<T>): Promise<T> {
  let step = steps.next();
  while (!step.done) step = steps.next(await upcomingOccurrences(automation, step.value.after, step.value.count));
  return step.value;
}

/** The next time after a moment, and when it is due: a little later with jitter. Both null: there is none. Looked for in turns. */
export function findNextOccurrence(automation: ScheduledAutomation, after: Date): Promise<NextOccurrence> {
  return inTurns(automation, nextOccurrence(automation, after));
}

function* nextOccurrence(automation: ScheduledAutomation, after: Date): Steps<NextOccurrence> {
  const nextRunAt = (yield { after, count: 1 })[0] ?? null;
  return { nextRunAt, dueAt: nextRunAt && new Date(nextRunAt.getTime() + jitterMs(automation, nextRunAt)) };
}

// The same for everybody who asks: by the automation and the time.
function jitterMs({ id, options }: ScheduledAutomation, time: Date): number {
  const maxMs = (options.jitterSeconds ?? 0) * 1_000;
  if (maxMs === 0) return 0;
  const digest = createHash('sha256').update(`${id}:${time.getTime()}`).digest();
  return Math.floor((digest.readUInt32BE(0) / 2 ** 32) * maxMs);
}

/** A time that has come: whether it is still to be fired, and what follows it. */
export interface DueTime {
  readonly time: Date;
  /** The policy leaves it out: it was missed. */
  readonly isSkipped: boolean;
  readonly next: NextOccurrence;
}

/** What {@link findDueTime} is asked about. */
export interface DueTimeQuery {
  readonly automation: ScheduledAutomation & Pick<AutomationRecord, 'nextRunAt' | 'dueAt'>;
  readonly now: Date;
  /** That time has been tried before, so it has not been missed. */
  readonly isRetry: boolean;
}

/**
 * Which time an automation fires for now, whose next one is due. One that was missed is the latest, skipped or not; of all,
 * the first of the last {@link maxCatchUpTimes}. Null: it has none. Looked for in turns.
 */
export function findDueTime(query: DueTimeQuery): Promise<DueTime | null> {
  return inTurns(query.automation, dueTime(query));
}

/** {@link findDueTime} at once, for those who hold locks; 'expensive': that takes more work than they may do. */
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

/** Without a time that was missed one is asked for, or two. */
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
    // One that is claimed so late is one of those: they have been counted.
    const isCounted = isMissed(nextRunAt, dueAt);
    const result = yield* at(isCounted ? nextRunAt : yield* firstToCatchUp(nextRunAt, now));
    const after = result.next.nextRunAt;
    return after !== null && isMissed(after) ? { ...result, next: { nextRunAt: after, dueAt: now } } : result;
  }
  if (policy === 'skip' && isRetry) return yield* at(nextRunAt);
  const latest = yield* latestTime(nextRunAt, now);
  return yield* at(latest, policy === 'skip' && isMissed(latest));
}

// The latest time that is not after `now`, by halves: there may be very many between, and each costs work to find.
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

// All that are left, where these are few enough; else those of the half of the time, of the quarter, and so on.
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
