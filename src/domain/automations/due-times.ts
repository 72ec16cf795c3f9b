import { createHash } from 'node:crypto';
import { type AutomationRecord, nextRunsOf } from './automations.ts';
import type { MissedRuns } from './missed-runs.ts';

/** A time that is later than this was missed. */
export const missedAfterMs = 5 * 60 * 1_000;
/** The most missed times that are made up for. */
export const mostMadeUp = 100;

type Timed = Pick<AutomationRecord, 'id' | 'enabled' | 'triggers' | 'createdAt' | 'options'>;

/** When an automation is to act, and when it is claimed for that. */
export type NextTime = Pick<AutomationRecord, 'nextRunAt' | 'dueAt'>;

/** The next time after a moment, and when it is due: a little later with jitter. Both null: there is none. */
export function nextTime(automation: Timed, after: Date): NextTime {
  const nextRunAt = nextRunsOf(automation, after, 1)[0] ?? null;
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

/**
 * Which time an automation fires for now, whose next one is due. One that was missed is the latest, skipped or not; of all,
 * the first of the last {@link mostMadeUp}. `isRetry`: that time has been tried before, so it has not been missed.
 */
export function dueTime(
  automation: Timed & Pick<AutomationRecord, 'nextRunAt' | 'dueAt'>,
  now: Date,
  isRetry: boolean,
): DueTime | null {
  const { nextRunAt, dueAt } = automation;
  if (nextRunAt === null || dueAt === null) return null;
  const isMissed = (time: Date, at: Date = now) =>
    at.getTime() - time.getTime() - jitterMs(automation, time) > missedAfterMs;
  const at = (time: Date, isSkipped = false): DueTime => ({ time, isSkipped, next: nextTime(automation, time) });
  if (!isMissed(nextRunAt)) return at(nextRunAt);
  const policy: MissedRuns = automation.options.missedRuns ?? 'latest';
  if (policy === 'all') {
    // One that is claimed so late is one of those: they have been counted.
    const isCounted = isMissed(nextRunAt, dueAt);
    const made = at(isCounted ? nextRunAt : firstToMakeUp(automation, nextRunAt, now));
    const after = made.next.nextRunAt;
    return after !== null && isMissed(after) ? { ...made, next: { nextRunAt: after, dueAt: now } } : made;
  }
  if (policy === 'skip' && isRetry) return at(nextRunAt);
  const latest = latestTime(automation, nextRunAt, now);
  return at(latest, policy === 'skip' && isMissed(latest));
}

// The latest time that is not after `now`, by halves: there may be very many between, and each costs work to find.
function latestTime(automation: Timed, first: Date, now: Date): Date {
  let low = first;
  let high = now;
  for (;;) {
    const next = nextRunsOf(automation, low, 1)[0];
    if (next === undefined || next > now) return low;
    low = next;
    const middle = new Date((low.getTime() + high.getTime()) / 2);
    const found = nextRunsOf(automation, middle, 1)[0];
    if (found !== undefined && found <= now) low = found;
    else high = middle;
  }
}

// All that are left, where these are few enough; else those of the half of the time, of the quarter, and so on.
function firstToMakeUp(automation: Timed, first: Date, now: Date): Date {
  for (let from = first, spanMs = now.getTime() - first.getTime(); ; ) {
    const last = nextRunsOf(automation, from, mostMadeUp).at(mostMadeUp - 1);
    if (last === undefined || last > now) return from === first ? first : (nextRunsOf(automation, from, 1)[0] ?? first);
    spanMs /= 2;
    from = new Date(now.getTime() - spanMs);
  }
}
