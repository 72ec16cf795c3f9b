import { type CheckBudget, checkRecurrence, type Effort, nextOccurrences, recurrenceProblem } from './recurrence.ts';
import { parseRecurrence, type Recurrence } from './recurrence-rule.ts';
import { momentOf, offsetAt, wallOf } from './time-zones.ts';

/**
 * A rule that goes by the clocks of a time zone; null: by UTC. The rule's own times are then what these clocks show, written
 * as if they were UTC's: "at nine" stays at nine all year.
 */
export interface ZonedRecurrence {
  readonly rule: Recurrence;
  readonly timeZone: string | null;
}

/** A rule, or what is wrong with it in a sentence that begins with the name of the part. */
export type ParsedZonedRecurrence =
  | { readonly zoned: ZonedRecurrence; readonly problem: null }
  | { readonly zoned: null; readonly problem: string };

/**
 * Reads a rule as `parseRecurrence` does. With a time zone, DTSTART and UNTIL are times of its clocks when they have no "Z",
 * and moments when they have one, as `defaultStart` is.
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

/** Clocks are not changed by more than this at once: on some islands a day has been left out. */
const maxShiftMs = 25 * 60 * 60 * 1_000;

/**
 * The next times after a moment, at most `count`, in order, as {@link nextOccurrences}. By clocks that are put forward, what falls
 * into the hour that is left out comes an hour later; by clocks that are put back, what falls into the hour that comes twice
 * comes the first time only. That is so for rules of any frequency.
 */
export function nextZonedOccurrences(
  { rule, timeZone }: ZonedRecurrence,
  after: Date,
  count: number,
  effort: Effort = 'full',
): Date[] {
  if (timeZone === null) return nextOccurrences(rule, after, count, effort);
  const found = new Set<number>();
  // What the clocks showed earlier can still lie ahead, when they have just been put forward or back.
  let from = new Date(wallOf(timeZone, after).getTime() - (isChanging(timeZone, after) ? maxShiftMs : 0));
  for (let last = Number.POSITIVE_INFINITY; ; ) {
    const [wall] = nextOccurrences(rule, from, 1, effort);
    if (!wall || wall.getTime() > last) break;
    const moment = momentOf(timeZone, wall);
    if (moment > after) found.add(moment.getTime());
    // What comes next by the clocks may come before it: only where they change.
    if (found.size >= count) last = isChanging(timeZone, moment) ? wall.getTime() + maxShiftMs : 0;
    if (found.size >= count + maxLookahead) break;
    from = wall;
  }
  return [...found]
    .toSorted((one, other) => one - other)
    .slice(0, count)
    .map((time) => new Date(time));
}

/** More than a rule that may be used has in {@link maxShiftMs}. */
const maxLookahead = 110;

const isChanging = (timeZone: string, at: Date) =>
  offsetAt(timeZone, new Date(at.getTime() - maxShiftMs)) !== offsetAt(timeZone, new Date(at.getTime() + maxShiftMs));

/** Why an automation cannot have this rule, or null, as {@link recurrenceProblem}. What is too often is told by the clocks. */
export function zonedRecurrenceProblem({ rule, timeZone }: ZonedRecurrence, now: Date): string | null {
  return recurrenceProblem(rule, timeZone === null ? now : wallOf(timeZone, now));
}

/** {@link zonedRecurrenceProblem} in steps, of which each looks for one time at most. */
export function checkZonedRecurrence(
  { rule, timeZone }: ZonedRecurrence,
  now: Date,
  budget: CheckBudget,
): Generator<void, string | null, undefined> {
  return checkRecurrence(rule, timeZone === null ? now : wallOf(timeZone, now), budget);
}
