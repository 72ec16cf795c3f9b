import { RRuleTemporal } from 'rrule-temporal';
import type { Frequency, Recurrence } from './recurrence-rule.ts';

/** Minimum time between two runs of an automation. */
export const minGapMs = 15 * 60 * 1_000;

/** Minimum search range: the 29th of February falls on a given weekday every 28 to 40 years. */
const horizonMs = 41 * 366 * 24 * 60 * 60 * 1_000;

/** Limits of the evaluator's work for one time: the maximum for a rule, or a few milliseconds of work. */
const work = {
  full: { maxIterations: 10_000, maxCandidateEvaluations: 200_000 },
  quick: { maxIterations: 300, maxCandidateEvaluations: 5_000 },
} as const;

/** The amount of work that a search may do. */
export type Effort = keyof typeof work;

/** The search exceeded the limit for quick work: a time may exist or not. */
export class OverBudgetError extends Error {}

const lengthMs = {
  SECONDLY: 1_000,
  MINUTELY: 60_000,
  HOURLY: 3_600_000,
  DAILY: 86_400_000,
  WEEKLY: 604_800_000,
  MONTHLY: 2_678_400_000,
  YEARLY: 31_622_400_000,
} as const satisfies Record<Frequency, number>;

/** The last moment whose year has four digits. */
const endOfTime = Date.UTC(9999, 11, 31, 23, 59, 59);

/**
 * Returns the next times of a rule after a moment, at most `count`, in order. There are fewer if the rule ends, or if
 * the next time is more than 41 years away or exceeds the limit of work for a rule. Each time costs about a
 * millisecond, or a hundred for a hostile rule: so find one per turn of the event loop. With the effort `quick` it
 * throws OverBudgetError instead.
 */
export function nextOccurrences(rule: Recurrence, after: Date, count: number, effort: Effort = 'full'): Date[] {
  const found: Date[] = [];
  let from = after;
  while (found.length < count) {
    const next = nextOccurrence(rule, from, effort);
    if (next === null) break;
    found.push(next);
    from = next;
  }
  return found;
}

function nextOccurrence(rule: Recurrence, after: Date, effort: Effort): Date | null {
  if (rule.count === 0 || (rule.until !== null && rule.until < rule.startsAt)) return null;
  const ahead = Math.max(horizonMs, 3 * rule.interval * lengthMs[rule.frequency]);
  const horizon = Math.min(Math.max(after.getTime(), rule.startsAt.getTime()) + ahead, endOfTime);
  const until = Math.min(rule.until?.getTime() ?? endOfTime, horizon);
  if (until <= after.getTime()) return null;
  const parts = [
    `FREQ=${rule.frequency}`,
    `INTERVAL=${rule.interval}`,
    `UNTIL=${write(new Date(until))}`,
    ...[...rule.parts].map(([name, value]) => `${name}=${value}`),
    // RFC 5545 does not define which days of a week apply; widely used evaluators take all of them.
    ...(rule.parts.has('BYWEEKNO') && !rule.parts.has('BYDAY') ? ['BYDAY=MO,TU,WE,TH,FR,SA,SU'] : []),
  ];
  const rruleString = `DTSTART:${write(rule.startsAt)}\nRRULE:${parts.join(';')}`;
  try {
    const counted = rule.count === null ? {} : { count: rule.count };
    const next = new RRuleTemporal({ rruleString, cache: false, ...work[effort], ...counted }).next(after, false);
    return next === null ? null : new Date(next.epochMilliseconds);
  } catch (error) {
    if (effort === 'quick') throw new OverBudgetError('Finding a time takes too long.', { cause: error });
    // The evaluator throws if the work exceeds the limit, or if the calendar ends. The rule itself has been checked.
    return null;
  }
}

const write = (time: Date) => time.toISOString().replaceAll(/[-:]|\.\d+/g, '');

/**
 * The time budget for checking the rules of one request. When it is used up, only the first few times of each rule are
 * checked. The first two times of each rule may exceed it by {@link maxOverdraftMs}.
 */
export interface CheckBudget {
  leftMs: number;
}
const maxOverdraftMs = 300;

/** Creates a {@link CheckBudget}. */
export const newCheckBudget = (): CheckBudget => ({ leftMs: 100 });

/**
 * Returns the reason why an automation cannot have this rule, or null. The rule must fire after `now`, and not more
 * often than every 15 minutes. Checks the next times until their pattern repeats, which may not be all times of the
 * rule.
 */
export function recurrenceProblem(rule: Recurrence, now: Date): string | null {
  const check = checkRecurrence(rule, now, newCheckBudget());
  for (;;) {
    const { done, value } = check.next();
    if (done) return value;
  }
}

/** {@link recurrenceProblem} in steps that each find at most one time. */
export function* checkRecurrence(
  rule: Recurrence,
  now: Date,
  budget: CheckBudget,
): Generator<void, string | null, undefined> {
  const problem = workProblem(rule);
  if (problem !== null) return problem;
  const nextAfter = (time: Date) => {
    const startedAt = performance.now();
    const [next] = nextOccurrences(rule, time, 1);
    budget.leftMs -= performance.now() - startedAt;
    return next;
  };
  const first = nextAfter(now);
  if (first === undefined) {
    const next = rule.count === 0 ? 'COUNT is 0' : 'no time after now fits it';
    return `The rule never fires: ${next}, or finding its times takes too long.`;
  }
  if (isSparse(rule)) return null;
  let last = first;
  for (let seen = 1; seen < 100; seen++) {
    yield;
    const next = nextAfter(last);
    if (next === undefined) return null;
    if (next.getTime() - last.getTime() < minGapMs) {
      return `The rule fires more often than every 15 minutes: at ${last.toISOString()} and at ${next.toISOString()}.`;
    }
    last = next;
    const isYear = last.getTime() - first.getTime() > 366 * lengthMs.DAILY;
    if (seen >= 8 && (isYear || budget.leftMs < 0)) return null;
    if (seen >= 2 && budget.leftMs < -maxOverdraftMs) return null;
  }
  return null;
}

/**
 * True if the rule's parts alone prove that it never fires too often, as for most rules, so that no times need to be
 * computed. Its times are a subset of its grid, and of the times of a day that BYHOUR, BYMINUTE and BYSECOND define.
 */
function isSparse({ frequency, interval, parts, startsAt }: Recurrence): boolean {
  const isGrid = frequency === 'SECONDLY' || (frequency === 'MINUTELY' && !parts.get('BYSECOND')?.includes(','));
  if (isGrid && interval * lengthMs[frequency] >= minGapMs) return true;
  const numbers = (name: string, own: number | null, count: number) =>
    parts.get(name)?.split(',').map(Number) ?? (own === null ? Array.from({ length: count }, (_, n) => n) : [own]);
  // A missing part has the value of the start if the frequency is longer than the part's unit.
  const isLongerThan = (than: Frequency) => lengthMs[frequency] > lengthMs[than];
  const hours = numbers('BYHOUR', isLongerThan('HOURLY') ? startsAt.getUTCHours() : null, 24);
  const minutes = numbers('BYMINUTE', isLongerThan('MINUTELY') ? startsAt.getUTCMinutes() : null, 60);
  const seconds = numbers('BYSECOND', isLongerThan('SECONDLY') ? startsAt.getUTCSeconds() : null, 60);
  if (hours.length * minutes.length * seconds.length > maxDailyTimes) return false;
  const times = hours
    .flatMap((hour) => minutes.flatMap((minute) => seconds.map((second) => (hour * 60 + minute) * 60 + second)))
    .toSorted((one, other) => one - other);
  const minGap = minGapMs / 1_000;
  return times.every((time, n) => (times[n + 1] ?? (times[0] ?? 0) + 24 * 60 * 60) - time >= minGap);
}

/** The number of times per day with {@link minGapMs} between them. */
const maxDailyTimes = 96;

// Bounds the work that the evaluator's own limits miss: it computes all times of a period before BYSETPOS selects some
// of them, even if it selects none, and continues so for thousands of periods, many seconds long.
function workProblem({ frequency, parts }: Recurrence): string | null {
  const sizeOf = (...names: string[]) =>
    names.reduce((size, name) => size * (parts.get(name)?.split(',').length ?? 1), 1);
  const times = sizeOf('BYHOUR', 'BYMINUTE', 'BYSECOND');
  if (times > maxDailyTimes) {
    return `The rule names too many times of a day: BYHOUR, BYMINUTE and BYSECOND make ${times}, where one every 15 minutes is ${maxDailyTimes}.`;
  }
  const positions = parts.get('BYSETPOS');
  if (positions === undefined) return null;
  const maxPosition = {
    SECONDLY: 1,
    MINUTELY: sizeOf('BYSECOND'),
    HOURLY: sizeOf('BYMINUTE', 'BYSECOND'),
    DAILY: times,
    WEEKLY: times * sizeOf('BYDAY'),
    MONTHLY: times * 31,
    YEARLY: times * 366,
  }[frequency];
  if (positions.split(',').some((position) => Math.abs(Number(position)) <= maxPosition)) return null;
  return `The rule never fires: BYSETPOS is greater than the ${maxPosition} times that a period can have.`;
}
