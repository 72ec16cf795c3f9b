/**
 * A `timestamptz(3)` as SQL that gives whole milliseconds since 1970: of all forms that a time has in JSON the one that is
 * read at next to no cost. Exact for all years that are taken, since the seconds of a double are so to the microsecond.
 */
export const timeAsNumber = (column: string): string => `round(date_part('epoch', ${column}) * 1000)`;

const dayMs = 24 * 60 * 60 * 1_000;
/** Years of four digits and times after 1970: what is not so is left to JavaScript's own way. */
const lastMs = Date.UTC(10_000, 0) - 1;

const padded = (count: number, digits: number) =>
  Array.from({ length: count }, (_, n) => String(n).padStart(digits, '0'));
const twoDigits = padded(60, 2);
const threeDigits = padded(1_000, 3);

/** The day that was written last, and its text with the "T" behind: times that are written together are often of one day. */
const last = { day: -1, text: '' };

/** A time as `toISOString` writes it, in a fraction of the time: pages are full of them. */
export function writeTime(time: Date): string {
  const ms = time.getTime();
  // Also what is no time at all, which is refused there.
  if (!(ms >= 0 && ms <= lastMs)) return time.toISOString();
  const day = Math.floor(ms / dayMs);
  if (day !== last.day) Object.assign(last, { day, text: time.toISOString().slice(0, 11) });
  const seconds = Math.floor((ms - day * dayMs) / 1_000);
  const minutes = Math.floor(seconds / 60);
  const clock = `${twoDigits[Math.floor(minutes / 60)]}:${twoDigits[minutes % 60]}:${twoDigits[seconds % 60]}`;
  return `${last.text}${clock}.${threeDigits[ms % 1_000]}Z`;
}
