import { type CheckBudget, checkRecurrence, type Effort, nextOccurrences, recurrenceProblem } from './recurrence.ts';
import { parseRecurrence, type Recurrence } from './recurrence-rule.ts';
import { momentOf, offsetAt, wallOf } from './time-zones.ts';

/**
 * A rule in the wall time of a time zone; null: UTC. The rule's times are wall times, written as if they were UTC: "at
 * nine" stays at nine all year.
 */
export interface ZonedRecurrence {
  readonly rule: Recurrence;
  readonly timeZone: string | null;
}

/** A rule, or its problem as a sentence that begins with the name of the part. */
export type ParsedZonedRecurrence =
  | { readonly zoned: ZonedRecurrence; readonly problem: null }
  | { readonly zoned: null; readonly problem: string };

/**
 * Parses a rule as `parseRecurrence` does. With a time zone, DTSTART and UNTIL without "Z" are wall times, and with "Z"
 * they are moments, as `defaultStart` is.
 */
export function parseZonedRecurrence(text: string, defaultStart: Date, timeZone: string | null): ParsedZonedRecurrence {
  const { rule, problem } = parseRecurrence(text, defaultStart);
  if (rule === null) return { zoned: null, problem };
  if (timeZone === null) return { zoned: { rule, timeZone }, problem: null };
  const isMoment = (name: string) => new RegExp(`${name}\\s*[:=]\\s*\\d{8}T\\d{6}Z`, 'i').test(text);
  const startsAtMoment = isMoment('DTSTART') || !/DTSTART/i.test(text);
  const startsAt = startsAtMoment ? wallOf(timeZone, rule.startsAt) : rule.startsAt;
  const until = rule.until && isMoment('UNTIL') ? wallOf(timeZone, rule.until) : rule.until;
  return { zoned: { rule: { ...rule, startsAt, until }, timeZone }, problem: null };
}

/** Maximum change of clocks at once: some islands have skipped a day. */
const maxShiftMs = 25 * 60 * 60 * 1_000;

/**
 * Returns the next times after a moment, at most `count`, in order, as {@link nextOccurrences}. When clocks go forward,
 * times in the skipped hour occur an hour later. When clocks go back, times in the repeated hour occur the first time
 * only. This applies to rules of any frequency.
 */
export function nextZonedOccurrences(
  { rule, timeZone }: ZonedRecurrence,
  after: Date,
  count: number,
  effort: Effort = 'full',
): Date[] {
  if (timeZone === null) return nextOccurrences(rule, after, count, effort);
  const found = new Set<number>();
  // When clocks have just changed, an earlier wall time can still be in the future.
  let from = new Date(wallOf(timeZone, after).getTime() - (isChanging(timeZone, after) ? maxShiftMs : 0));
  for (let last = Number.POSITIVE_INFINITY; ; ) {
    const [wall] = nextOccurrences(rule, from, 1, effort);
    if (!wall || wall.getTime() > last) break;
    const moment = momentOf(timeZone, wall);
    if (moment > after) found.add(moment.getTime());
    // Near a change of clocks, a later wall time can be an earlier moment.
    if (found.size >= count) last = isChanging(timeZone, moment) ? wall.getTime() + maxShiftMs : 0;
    if (found.size >= count + maxLookahead) break;
    from = wall;
  }
  return [...found]
    .toSorted((one, other) => one - other)
    .slice(0, count)
    .map((time) => new Date(time));
}

/** More times than a valid rule can have in {@link maxShiftMs}. */
const maxLookahead = 110;

const isChanging = (timeZone: string, at: Date) =>
  offsetAt(timeZone, new Date(at.getTime() - maxShiftMs)) !== offsetAt(timeZone, new Date(at.getTime() + maxShiftMs));

/**
 * Returns the reason why an automation cannot have this rule, or null, as {@link recurrenceProblem}. The minimum gap is
 * measured in wall time.
 */
export function zonedRecurrenceProblem({ rule, timeZone }: ZonedRecurrence, now: Date): string | null {
  return recurrenceProblem(rule, timeZone === null ? now : wallOf(timeZone, now));
}

/** {@link zonedRecurrenceProblem} in steps that each find at most one time. */
export function checkZonedRecurrence(
  { rule, timeZone }: ZonedRecurrence,
  now: Date,
  budget: CheckBudget,
): Generator<void, string | null, undefined> {
  return checkRecurrence(rule, timeZone === null ? now : wallOf(timeZone, now), budget);
}
