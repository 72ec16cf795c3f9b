import { refuse } from '../../../common/errors.ts';
import type { Context } from '../../context.ts';
import { inTurn } from '../../turns.ts';
import { isTimeZone } from '../recurrence/time-zones.ts';
import { nextZonedOccurrences, parseZonedRecurrence, zonedRecurrenceProblem } from '../recurrence/zoned-recurrence.ts';

/**
 * The times of a rule that is not stored; `problem`: the reason why an automation cannot have it, in which case there
 * are no times.
 */
export interface RecurrencePreview {
  readonly times: readonly Date[];
  readonly problem: string | null;
}

/** Maximum number of times of one preview. */
export const maxTimes = 20;

/**
 * Returns the next times of a rule as if an automation were created with it now: its first `count`, 1 to 20. Reads and
 * stores nothing. A problem of the rule or the zone is part of the result; throws INVALID_INPUT only for an invalid
 * count.
 */
export async function previewRecurrence(
  context: Pick<Context, 'now'>,
  rule: string,
  timeZone: string | null,
  count: number,
): Promise<RecurrencePreview> {
  if (!(count >= 1 && count <= maxTimes)) {
    throw refuse(['count'], `"count" must be an integer from 1 to ${maxTimes}, but was ${count}.`);
  }
  const wrong = (problem: string): RecurrencePreview => ({ times: [], problem });
  if (timeZone !== null && !isTimeZone(timeZone)) {
    return wrong('The time zone must be a name of the IANA time zone database, such as Europe/Berlin.');
  }
  const now = context.now();
  const { zoned, problem: parseProblem } = parseZonedRecurrence(rule, now, timeZone);
  if (zoned === null) return wrong(parseProblem);
  const ruleProblem = await inTurn(() => zonedRecurrenceProblem(zoned, now));
  if (ruleProblem !== null) return wrong(ruleProblem);
  const times: Date[] = [];
  while (times.length < count) {
    // One per turn of the event loop: a rule may need long for a single time.
    const [next] = await inTurn(() => nextZonedOccurrences(zoned, times.at(-1) ?? now, 1));
    if (next === undefined) break;
    times.push(next);
  }
  return { times, problem: null };
}
