const dayMs = 24 * 60 * 60 * 1_000;

/** A UTC day as the API writes it. */
export const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** The days of a range, inclusive; empty if the range is invalid or too long. */
export function daysBetween(from: string, to: string): readonly string[] {
  const [first, last] = [Date.parse(from), Date.parse(to)];
  if (!(last >= first) || last - first > 400 * dayMs) return [];
  return Array.from({ length: (last - first) / dayMs + 1 }, (_, index) => dayOf(first + index * dayMs));
}

/** The last `count` days, including today. */
export function lastDays(count: number): { readonly from: string; readonly to: string } {
  const now = Date.now();
  return { from: dayOf(now - (count - 1) * dayMs), to: dayOf(now) };
}

/** The problem with a range of days; null: none. */
export function daysProblem(from: string, to: string): string | null {
  if (!from || !to) return 'Enter both days.';
  if (from > to) return 'The first day must not be after the last.';
  return daysBetween(from, to).length === 0 ? 'Select at most 400 days.' : null;
}
