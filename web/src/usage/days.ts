const dayMs = 24 * 60 * 60 * 1_000;

/** A day of UTC, as the API writes it. */
export const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** The days from one to another, both counted; none where they are no days or too many. */
export function daysBetween(from: string, to: string): readonly string[] {
  const [first, last] = [Date.parse(from), Date.parse(to)];
  if (!(last >= first) || last - first > 400 * dayMs) return [];
  return Array.from({ length: (last - first) / dayMs + 1 }, (_, index) => dayOf(first + index * dayMs));
}

/** The last so many days, today with them. */
export function lastDays(count: number): { readonly from: string; readonly to: string } {
  const now = Date.now();
  return { from: dayOf(now - (count - 1) * dayMs), to: dayOf(now) };
}

/** What is wrong with a stretch of days; null: nothing. */
export function daysProblem(from: string, to: string): string | null {
  if (!from || !to) return 'Both days are needed.';
  if (from > to) return 'The first day must not be after the last.';
  return daysBetween(from, to).length === 0 ? 'At most 400 days can be shown at once.' : null;
}
