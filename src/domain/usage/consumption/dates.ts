import { type Issue, invalidInput } from '../../../common/errors.ts';
import { maxDays, type Period } from './cycles.ts';

const dayMs = 24 * 60 * 60 * 1_000;

/** Days in UTC, as their midnights; both bounds are included. */
export interface Dates {
  readonly from: Date;
  readonly to: Date;
}

/**
 * Returns the period of some days. Throws INVALID_INPUT for days before 1970, an end before the beginning, and more
 * than 400 days.
 */
export function periodOfDates({ from, to }: Dates): Period {
  const issues: Issue[] = [];
  for (const [name, day] of Object.entries({ from, to })) {
    if (day.getUTCFullYear() >= 1970 && day.getUTCFullYear() <= 9_998) continue;
    issues.push({ path: [name], message: `"${name}" must be a day of the years 1970 to 9998.` });
  }
  const days = (to.getTime() - from.getTime()) / dayMs + 1;
  if (days < 1) issues.push({ path: ['to'], message: '"to" must not be before "from".' });
  if (days > maxDays) {
    const message = `"from" and "to" must span at most ${maxDays} days, both counted, but are ${days}.`;
    issues.push({ path: ['to'], message });
  }
  if (issues.length > 0) throw invalidInput(issues);
  return { startsAt: from, endsAt: new Date(to.getTime() + dayMs) };
}
