import { createHash } from 'node:crypto';
import type { AutomationRecord } from './automations.ts';
import type { MissedRuns } from './missed-runs.ts';
import { TooDearError } from './recurrence.ts';
import { nextRunAtOnce, upcomingRuns } from './upcoming-runs.ts';

/** A time that is later than this was missed. */
export const missedAfterMs = 5 * 60 * 1_000;
/** The most missed times that are made up for. */
export const mostMadeUp = 100;

type Timed = Pick<AutomationRecord, 'id' | 'enabled' | 'triggers' | 'createdAt' | 'options'>;

/** When an automation is to act, and when it is claimed for that. */
export type NextTime = Pick<AutomationRecord, 'nextRunAt' | 'dueAt'>;

// Asks for the next times after a moment, and is given them: at once, or in turns.
type Steps<T> = Generator<{ readonly after: Date; readonly count: number }, T, readonly Date[]>;

async function inTurns<T>(automation: Timed, steps: Steps<T>): Promise<T> {
  let step = steps.next();
  while (!step.done) step = steps.next(await upcomingRuns(automation, step.value.after, step.value.count));
  return step.value;
}

/** The next time after a moment, and when it is due: a little later with jitter. Both null: there is none. Looked for in turns. */
export function findNextTime(automation: Timed, after: Date): Promise<NextTime> {
  return inTurns(automation, nextTime(automation, after));
}

function* nextTime(automation: Timed, after: Date): Steps<NextTime> {
  const nextRunAt = (yield { after, count: 1 })[0] ?? null;
  return { nextRunAt, dueAt: nextRunAt && new Date(nextRunAt.getTime() + jitterMs(automation, nextRunAt)) };
}

// The same for everybody who asks: by the automation and the time.
function jitterMs({ id, options }: Timed, time: Date): number {
  const most = (options.jitterSeconds ?? 0) * 1_000;
  if (most === 0) return 0;
  const digest = createHash('sha256').update(`${id}:${time.getTime()}`).digest();
  return Math.floor((digest.readUInt32BE(0) / 2 ** 32) * most);
}

/** A time that has come: whether it is still to be fired, and what follows it. */
export interface DueTime {
  readonly time: Date;
  /** The policy leaves it out: it was missed. */
  readonly isSkipped: boolean;
  readonly next: NextTime;
}

/** What {@link findDueTime} is asked about. */
export interface DueQuestion {
  readonly automation: Timed & Pick<AutomationRecord, 'nextRunAt' | 'dueAt'>;
  readonly now: Date;
  /** That time has been tried before, so it has not been missed. */
  readonly isRetry: boolean;
}

/**
 * Which time an automation fires for now, whose next one is due. One that was missed is the latest, skipped or not; of all,
 * the first of the last {@link mostMadeUp}. Null: it has none. Looked for in turns.
 */
export function findDueTime(question: DueQuestion): Promise<DueTime | null> {
  return inTurns(question.automation, dueTime(question));
}

/** {@link findDueTime} at once, for those who hold locks; 'dear': that takes more work than they may do. */
export function dueTimeAtOnce(question: DueQuestion): DueTime | null | 'dear' {
  const steps = dueTime(question);
  try {
    let step = steps.next();
    for (let asked = 0; !step.done; asked++) {
      const { after, count } = step.value;
      if (count > 1 || asked >= mostAtOnce) return 'dear';
      const next = nextRunAtOnce(question.automation, after);
      step = steps.next(next === null ? [] : [next]);
    }
    return step.value;
  } catch (error) {
    if (error instanceof TooDearError) return 'dear';
    throw error;
  }
}

/** Without a time that was missed one is asked for, or two. */
const mostAtOnce = 2;

function* dueTime({ automation, now, isRetry }: DueQuestion): Steps<DueTime | null> {
  const { nextRunAt, dueAt } = automation;
  if (nextRunAt === null || dueAt === null) return null;
  const isMissed = (time: Date, at: Date = now) =>
    at.getTime() - time.getTime() - jitterMs(automation, time) > missedAfterMs;
  function* at(time: Date, isSkipped = false): Steps<DueTime> {
    return { time, isSkipped, next: yield* nextTime(automation, time) };
  }
  if (!isMissed(nextRunAt)) return yield* at(nextRunAt);
  const policy: MissedRuns = automation.options.missedRuns ?? 'latest';
  if (policy === 'all') {
    // One that is claimed so late is one of those: they have been counted.
    const isCounted = isMissed(nextRunAt, dueAt);
    const made = yield* at(isCounted ? nextRunAt : yield* firstToMakeUp(nextRunAt, now));
    const after = made.next.nextRunAt;
    return after !== null && isMissed(after) ? { ...made, next: { nextRunAt: after, dueAt: now } } : made;
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
function* firstToMakeUp(first: Date, now: Date): Steps<Date> {
  for (let from = first, spanMs = now.getTime() - first.getTime(); ; ) {
    const last = (yield { after: from, count: mostMadeUp }).at(mostMadeUp - 1);
    if (last === undefined || last > now) {
      if (from === first) return first;
      return (yield { after: from, count: 1 })[0] ?? first;
    }
    spanMs /= 2;
    from = new Date(now.getTime() - spanMs);
  }
}
