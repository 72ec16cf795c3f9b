const dayMs = 24 * 60 * 60 * 1_000;

/** True for a name of the IANA time zone database, such as "Europe/Berlin", that this process knows. */
export function isTimeZone(name: string): boolean {
  // Some engines accept offsets such as "+01:00", which are not zones.
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** One for each zone: there are a few hundred zones, and creating a formatter is slow. */
const clocks = new Map<string, Intl.DateTimeFormat>();

function clockOf(timeZone: string): Intl.DateTimeFormat {
  const cached = clocks.get(timeZone);
  if (cached) return cached;
  const digits = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' } as const;
  const clock = new Intl.DateTimeFormat('en', {
    ...digits,
    second: 'numeric',
    era: 'short',
    hourCycle: 'h23',
    calendar: 'gregory',
    timeZone,
  });
  clocks.set(timeZone, clock);
  return clock;
}

/** Returns the offset of a zone from UTC at a moment, in milliseconds. */
export function offsetAt(timeZone: string, at: Date): number {
  const parts = new Map(
    clockOf(timeZone)
      .formatToParts(at)
      .map(({ type, value }) => [type, value]),
  );
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = (
    ['year', 'month', 'day', 'hour', 'minute', 'second'] as const
  ).map((type) => Number(parts.get(type)));
  const wall = new Date(0);
  wall.setUTCFullYear(parts.get('era') === 'BC' ? 1 - year : year, month - 1, day);
  wall.setUTCHours(hour, minute, second);
  return wall.getTime() - Math.floor(at.getTime() / 1_000) * 1_000;
}

/** Returns the wall time of a zone at a moment, as a Date that shows it in UTC. */
export function wallOf(timeZone: string, at: Date): Date {
  return new Date(at.getTime() + offsetAt(timeZone, at));
}

/**
 * Returns the moment of a wall time in a zone, which is passed as a Date that shows it in UTC. Of two such moments,
 * when clocks go back, it returns the first. If there is none, when clocks go forward, it adds the size of the gap:
 * 02:30 becomes 03:30 (RFC 5545 3.3.5 defines both).
 */
export function momentOf(timeZone: string, wall: Date): Date {
  // The offsets before and after any change within two days.
  const before = offsetAt(timeZone, new Date(wall.getTime() - dayMs));
  const after = offsetAt(timeZone, new Date(wall.getTime() + dayMs));
  const early = new Date(wall.getTime() - before);
  if (before === after || offsetAt(timeZone, early) === before) return early;
  const late = new Date(wall.getTime() - after);
  return offsetAt(timeZone, late) === after ? late : early;
}
