import { RRuleTemporal } from 'rrule-temporal';
import type { Frequency, Recurrence } from './recurrence-rule.ts';

/** The least time between two runs of an automation. */
export const leastGapMs = 15 * 60 * 1_000;

/** How far ahead, at least, a time is looked for: the 29th of February falls on a given weekday every 28 to 40 years. */
const horizonMs = 41 * 366 * 24 * 60 * 60 * 1_000;

/** What the evaluator may walk over for one time, so that no rule can hold up the process. */
const work = { maxIterations: 10_000, maxCandidateEvaluations: 200_000 } as const;

const lengthMs = {
  SECONDLY: 1_000,
  MINUTELY: 60_000,
  HOURLY: 3_600_000,
  DAILY: 86_400_000,
  WEEKLY: 604_800_000,
  MONTHLY: 2_678_400_000,
  YEARLY: 31_622_400_000,
} as const satisfies Record<Frequency, number>;

/** The last moment that has four digits for its year. */
const endOfTime = Date.UTC(9999, 11, 31, 23, 59, 59);

/**
 * The next times of a rule that lie after a moment, at most `count`, in order. Fewer: it ends, or the next one is further
 * away than 41 years, or took more work to find than a rule may take. Each one costs well under a millisecond, a hostile
 * rule's at most a few hundred.
 */
export function nextRuns(rule: Recurrence, after: Date, count: number): Date[] {
  const found: Date[] = [];
  let from = after;
  while (found.length < count) {
    const next = nextRun(rule, from);
    if (next === null) break;
    found.push(next);
    from = next;
  }
  return found;
}

function nextRun(rule: Recurrence, after: Date): Date | null {
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
    // RFC 5545 does not say which days of a week are meant; all of them, as evaluators in wide use have it.
    ...(rule.parts.has('BYWEEKNO') && !rule.parts.has('BYDAY') ? ['BYDAY=MO,TU,WE,TH,FR,SA,SU'] : []),
  ];
  const rruleString = `DTSTART:${write(rule.startsAt)}\nRRULE:${parts.join(';')}`;
  try {
    const counted = rule.count === null ? {} : { count: rule.count };
    const next = new RRuleTemporal({ rruleString, cache: false, ...work, ...counted }).next(after, false);
    return next === null ? null : new Date(next.epochMilliseconds);
  } catch {
    // It says that the work was too much, or that the calendar ends, by throwing. The rule itself has been checked.
    return null;
  }
}

const write = (time: Date) => time.toISOString().replaceAll(/[-:]|\.\d+/g, '');

/** After this long no more than the first few times of a rule are looked at: of some, each one is found from the beginning. */
const longCheckMs = 100;

/**
 * Why an automation cannot have this rule, or null: it never fires after `now`, or more often than every 15 minutes. Looks at
 * the next times until their pattern has been seen, which is not all there may ever be.
 */
export function recurrenceComplaint(rule: Recurrence, now: Date): string | null {
  const tooMuch = workComplaint(rule);
  if (tooMuch !== null) return tooMuch;
  const startedAt = performance.now();
  const first = nextRuns(rule, now, 1)[0];
  if (first === undefined) {
    const next = rule.count === 0 ? 'COUNT is 0' : 'no time after now fits it';
    return `The rule never fires: ${next}, or finding one takes more work than a rule may take.`;
  }
  let last = first;
  for (let seen = 1; seen < 100; seen++) {
    const next = nextRuns(rule, last, 1)[0];
    if (next === undefined) return null;
    if (next.getTime() - last.getTime() < leastGapMs) {
      return `The rule fires more often than every 15 minutes: at ${last.toISOString()} and at ${next.toISOString()}.`;
    }
    last = next;
    const isYear = last.getTime() - first.getTime() > 366 * lengthMs.DAILY;
    if (seen >= 8 && (isYear || performance.now() - startedAt > longCheckMs)) return null;
  }
  return null;
}

/** As many times as a day has with {@link leastGapMs} between them. */
const mostTimes = 96;

// What the evaluator's own bounds do not see: it makes all times of a period before BYSETPOS takes some of them, also where
// there are none to take, and goes on so for thousands of periods, many seconds long.
function workComplaint({ frequency, parts }: Recurrence): string | null {
  const sizeOf = (...names: string[]) =>
    names.reduce((size, name) => size * (parts.get(name)?.split(',').length ?? 1), 1);
  const times = sizeOf('BYHOUR', 'BYMINUTE', 'BYSECOND');
  if (times > mostTimes) {
    return `The rule names too many times of a day: BYHOUR, BYMINUTE and BYSECOND make ${times}, where one every 15 minutes is ${mostTimes}.`;
  }
  const positions = parts.get('BYSETPOS');
  if (positions === undefined) return null;
  const most = {
    SECONDLY: 1,
    MINUTELY: sizeOf('BYSECOND'),
    HOURLY: sizeOf('BYMINUTE', 'BYSECOND'),
    DAILY: times,
    WEEKLY: times * sizeOf('BYDAY'),
    MONTHLY: times * 31,
    YEARLY: times * 366,
  }[frequency];
  if (positions.split(',').some((position) => Math.abs(Number(position)) <= most)) return null;
  return `The rule never fires: BYSETPOS is beyond the ${most} times that a period can have.`;
}
