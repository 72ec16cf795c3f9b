const units = [
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

/** Writes a duration with its two largest units; null for less than a second. */
export function writeDuration(ms: number): string | null {
  let seconds = Math.round(ms / 1_000);
  const parts: string[] = [];
  for (const [unit, length] of units) {
    const count = Math.floor(seconds / length);
    seconds -= count * length;
    if (count > 0 && parts.length < 2)
      parts.push(new Intl.NumberFormat(undefined, { style: 'unit', unit, unitDisplay: 'short' }).format(count));
  }
  return parts.length === 0 ? null : parts.join(' ');
}
