const dayMs = 24 * 60 * 60 * 1_000;

/** True of a name of the IANA time zone database, such as "Europe/Berlin", as far as this process knows them. */
export function isTimeZone(name: string): boolean {
  // Offsets such as "+01:00", which some engines take, are no zones.
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** One for each zone: there are some hundreds, and making one takes long. */
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

/** How far the clocks of a zone are ahead of UTC at a moment, in milliseconds. */
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

/** What the clocks of a zone show at a moment, as a time that would show it in UTC. */
export function wallOf(timeZone: string, at: Date): Date {
  return new Date(at.getTime() + offsetAt(timeZone, at));
}

/**
 * When the clocks of a zone show a time, which is given as one that shows it in UTC. Of two such moments, as when clocks are
 * put back, the first. Where there is none, as when they are put forward, as much later as they jump: 02:30 is then 03:30
 * (RFC 5545 3.3.5 has both).
 */
export function momentOf(timeZone: string, wall: Date): Date {
  // Whatever changes within two days: these are the offsets before it and after it.
  const before = offsetAt(timeZone, new Date(wall.getTime() - dayMs));
  const after = offsetAt(timeZone, new Date(wall.getTime() + dayMs));
  const early = new Date(wall.getTime() - before);
  if (before === after || offsetAt(timeZone, early) === before) return early;
  const late = new Date(wall.getTime() - after);
  return offsetAt(timeZone, late) === after ? late : early;
}
