const dayMs = 24 * 60 * 60 * 1_000;
/** The fast path covers times from 1970 to the year 9999; JavaScript's own function writes the others. */
const lastMs = Date.UTC(10_000, 0) - 1;

const padded = (count: number, digits: number) =>
  Array.from({ length: count }, (_, n) => String(n).padStart(digits, '0'));
const twoDigits = padded(60, 2);
const threeDigits = padded(1_000, 3);

/** The last day, and its text with the "T": times that are written together are often of one day. */
const last = { day: -1, text: '' };

/** Writes a time to the second, for people: `2026-01-31 12:03:04 UTC`. */
export function spellTime(time: Date): string {
  return `${time.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** Writes a time as `toISOString` does, but much faster: pages contain many times. */
export function writeTime(time: Date): string {
  const ms = time.getTime();
  // Also an invalid time, for which toISOString throws.
  if (!(ms >= 0 && ms <= lastMs)) return time.toISOString();
  const day = Math.floor(ms / dayMs);
  if (day !== last.day) Object.assign(last, { day, text: time.toISOString().slice(0, 11) });
  const seconds = Math.floor((ms - day * dayMs) / 1_000);
  const minutes = Math.floor(seconds / 60);
  const clock = `${twoDigits[Math.floor(minutes / 60)]}:${twoDigits[minutes % 60]}:${twoDigits[seconds % 60]}`;
  return `${last.text}${clock}.${threeDigits[ms % 1_000]}Z`;
}
