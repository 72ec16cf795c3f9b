import { usageDays as texts } from '../texts/usage.ts';
import { dateFormat } from '../ui/date.ts';

const dayMs = 24 * 60 * 60 * 1_000;

/** A range of UTC days, as the API writes them; both belong to it. */
export interface Days {
  readonly from: string;
  readonly to: string;
}

/** A UTC day as the API writes it. */
export const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** The days of a range, inclusive; empty if the range is invalid or too long. */
export function daysBetween(from: string, to: string): readonly string[] {
  const [first, last] = [Date.parse(from), Date.parse(to)];
  if (!(last >= first) || last - first > 400 * dayMs) return [];
  return Array.from({ length: (last - first) / dayMs + 1 }, (_, index) => dayOf(first + index * dayMs));
}

/** The last `count` days, including today. */
export function lastDays(count: number): Days {
  const now = Date.now();
  return { from: dayOf(now - (count - 1) * dayMs), to: dayOf(now) };
}

/** The current month up to today. */
export function thisMonth(): Days {
  const today = dayOf(Date.now());
  return { from: `${today.slice(0, 8)}01`, to: today };
}

/** The same number of days directly before a range. */
export function daysBefore({ from, to }: Days): Days {
  const length = Date.parse(to) - Date.parse(from) + dayMs;
  return { from: dayOf(Date.parse(from) - length), to: dayOf(Date.parse(from) - dayMs) };
}

/** The day after a day. */
export const dayAfter = (day: string): string => dayOf(Date.parse(day) + dayMs);

/** The day before a day. */
export const dayBefore = (day: string): string => dayOf(Date.parse(day) - dayMs);

/** The last day of a day's month. */
export function endOfMonth(day: string): string {
  const [year = 0, month = 0] = day.split('-').map(Number);
  return dayOf(Date.UTC(year, month, 0));
}

/** The problem with a range of days; null: none. */
export function daysProblem(from: string, to: string): string | null {
  if (!isDay(from) || !isDay(to)) return texts.bothMissing;
  if (from > to) return texts.wrongOrder;
  return daysBetween(from, to).length === 0 ? texts.tooMany : null;
}

/** True for a day as the API writes it. */
export const isDay = (text: string): boolean => /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text));

const formats = {
  long: dateFormat({ dateStyle: 'medium', timeZone: 'UTC' }),
  short: dateFormat({ month: 'short', day: 'numeric', timeZone: 'UTC' }),
  month: dateFormat({ month: 'long', year: 'numeric', timeZone: 'UTC' }),
} as const;

/** A UTC day as the browser's language writes it: with its year, without it, or only its month. */
export const writeDay = (day: string, format: keyof typeof formats = 'long'): string =>
  formats[format].format(Date.parse(day));
