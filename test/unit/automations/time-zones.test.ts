import { describe, expect, it } from 'vitest';
import { isTimeZone, momentOf, wallOf } from '../../../src/domain/automations/recurrence/time-zones.ts';
import {
  nextZonedOccurrences,
  parseZonedRecurrence,
  zonedRecurrenceProblem,
} from '../../../src/domain/automations/recurrence/zoned-recurrence.ts';

const made = new Date('2026-01-01T00:00:00Z');

/** The next occurrences of a rule, without seconds. */
function runs(text: string, timeZone: string | null, after: string, count: number): string[] {
  const { zoned, problem } = parseZonedRecurrence(text, made, timeZone);
  if (!zoned) throw new Error(problem);
  return nextZonedOccurrences(zoned, new Date(after), count).map((time) => time.toISOString().slice(0, 16));
}

describe('a time zone', () => {
  it.each(['Europe/Berlin', 'America/New_York', 'UTC', 'Etc/GMT+5', 'Asia/Kathmandu'])('accepts %s', (name) => {
    expect(isTimeZone(name)).toBe(true);
  });

  it.each(['', 'Berlin', 'Mars/Olympus', '+01:00', '01:00', 'Europe/Berlin ', '../etc/passwd', 'x'.repeat(100)])(
    'refuses %s',
    (name) => {
      expect(isTimeZone(name)).toBe(false);
    },
  );

  it.each([
    // Clocks go from 02:00 to 03:00 on 29 March, and from 03:00 to 02:00 on 25 October.
    ['Europe/Berlin', '2026-03-29T01:59:59Z', '2026-03-29T00:59:59Z'],
    ['Europe/Berlin', '2026-03-29T02:00:00Z', '2026-03-29T01:00:00Z'],
    ['Europe/Berlin', '2026-03-29T02:30:00Z', '2026-03-29T01:30:00Z'],
    ['Europe/Berlin', '2026-03-29T03:00:00Z', '2026-03-29T01:00:00Z'],
    ['Europe/Berlin', '2026-10-25T02:30:00Z', '2026-10-25T00:30:00Z'],
    ['Europe/Berlin', '2026-10-25T03:00:00Z', '2026-10-25T02:00:00Z'],
    ['Asia/Kathmandu', '2026-06-01T05:45:00Z', '2026-06-01T00:00:00Z'],
    // Half an hour, in the other half of the year.
    ['Australia/Lord_Howe', '2026-10-04T02:15:00Z', '2026-10-03T15:45:00Z'],
    // A skipped day.
    ['Pacific/Apia', '2011-12-30T12:00:00Z', '2011-12-30T22:00:00Z'],
    ['UTC', '2026-03-29T02:30:00Z', '2026-03-29T02:30:00Z'],
  ])('converts local times to moments: %s, %s', (zone, wall, moment) => {
    expect(momentOf(zone, new Date(wall)).toISOString()).toBe(new Date(moment).toISOString());
  });

  it('converts every moment back, except in the hour that occurs twice', () => {
    for (const zone of ['Europe/Berlin', 'America/St_Johns', 'Australia/Lord_Howe', 'Africa/Casablanca']) {
      let twice = 0;
      for (let at = Date.UTC(2026, 0, 1); at < Date.UTC(2027, 0, 1); at += 15 * 60_000) {
        const moment = momentOf(zone, wallOf(zone, new Date(at))).getTime();
        if (moment === at) continue;
        twice += 1;
        expect(moment).toBeLessThan(at);
        expect(wallOf(zone, new Date(moment))).toEqual(wallOf(zone, new Date(at)));
      }
      expect(twice).toBeLessThanOrEqual(4);
      expect(twice).toBeGreaterThan(0);
    }
  });
});

describe('a rule in a time zone', () => {
  it('stays at nine all year', () => {
    const rule = 'DTSTART:20260101T090000\nRRULE:FREQ=DAILY';
    expect(runs(rule, 'Europe/Berlin', '2026-03-27T12:00:00Z', 3)).toEqual([
      '2026-03-28T08:00',
      '2026-03-29T07:00',
      '2026-03-30T07:00',
    ]);
    expect(runs(rule, null, '2026-03-27T12:00:00Z', 2)).toEqual(['2026-03-28T09:00', '2026-03-29T09:00']);
  });

  it('reads DTSTART and UNTIL with "Z" as moments, and otherwise as local times', () => {
    const daily = (start: string, until: string) => `DTSTART:${start}\nRRULE:FREQ=DAILY;UNTIL=${until}`;
    const local = daily('20260701T090000', '20260703T090000');
    expect(runs(local, 'America/New_York', '2026-06-01T00:00:00Z', 9)).toEqual([
      '2026-07-01T13:00',
      '2026-07-02T13:00',
      '2026-07-03T13:00',
    ]);
    const moments = daily('20260701T090000Z', '20260703T085959Z');
    expect(runs(moments, 'America/New_York', '2026-06-01T00:00:00Z', 9)).toEqual([
      '2026-07-01T09:00',
      '2026-07-02T09:00',
    ]);
    expect(runs('FREQ=DAILY;COUNT=2', 'America/New_York', '2025-01-01T00:00:00Z', 9)).toEqual([
      '2026-01-01T00:00',
      '2026-01-02T00:00',
    ]);
    expect(runs('FREQ=DAILY;BYHOUR=9;BYMINUTE=0;BYSECOND=0', 'America/New_York', '2026-01-01T15:00:00Z', 1)).toEqual([
      '2026-01-02T14:00',
    ]);
  });

  it('stays at its time where clocks go back in spring', () => {
    // Morocco is at UTC+1, and at UTC during Ramadan: from 15 February to 22 March 2026.
    const rule = 'DTSTART:20250601T153000\nRRULE:FREQ=DAILY';
    const timesAfter = (time: string) => runs(rule, 'Africa/Casablanca', time, 2);
    expect(timesAfter('2026-02-14T00:00:00Z')).toEqual(['2026-02-14T14:30', '2026-02-15T15:30']);
    expect(timesAfter('2026-03-21T00:00:00Z')).toEqual(['2026-03-21T15:30', '2026-03-22T14:30']);
  });

  it('uses the days of the zone', () => {
    const monday = 'DTSTART:20260101T003000\nRRULE:FREQ=WEEKLY;BYDAY=MO';
    expect(runs(monday, 'Asia/Tokyo', '2026-01-01T00:00:00Z', 2)).toEqual(['2026-01-04T15:30', '2026-01-11T15:30']);
  });

  it('occurs an hour later on a day when clocks skip it, and on no other day', () => {
    const rule = 'DTSTART:20260301T023000\nRRULE:FREQ=DAILY';
    expect(runs(rule, 'America/New_York', '2026-03-06T12:00:00Z', 3)).toEqual([
      '2026-03-07T07:30',
      '2026-03-08T07:30',
      '2026-03-09T06:30',
    ]);
    const begun = 'DTSTART:20260308T023000\nRRULE:FREQ=DAILY;COUNT=2';
    expect(runs(begun, 'America/New_York', '2026-03-01T00:00:00Z', 3)).toEqual([
      '2026-03-08T07:30',
      '2026-03-09T06:30',
    ]);
  });

  it('occurs once if two of its times coincide, and in order', () => {
    const rule = 'DTSTART:20260301T000000\nRRULE:FREQ=DAILY;BYHOUR=2,3;BYMINUTE=0,30;BYSECOND=0';
    const wanted = ['2026-03-08T07:00', '2026-03-08T07:30', '2026-03-09T06:00'];
    expect(runs(rule, 'America/New_York', '2026-03-08T03:00:00Z', 3)).toEqual(wanted);
    // The same one by one, from every time: no occurrence is lost or repeated.
    const seen: string[] = [];
    for (let after = '2026-03-08T03:00'; seen.length < 3; ) {
      const [next = ''] = runs(rule, 'America/New_York', `${after}:00Z`, 1);
      seen.push(next);
      after = next;
    }
    expect(seen).toEqual(wanted);
    const mixed = 'DTSTART:20260301T000000\nRRULE:FREQ=DAILY;BYHOUR=2,3;BYMINUTE=15,45;BYSECOND=0';
    expect(runs(mixed, 'America/New_York', '2026-03-08T06:00:00Z', 2)).toEqual([
      '2026-03-08T07:15',
      '2026-03-08T07:45',
    ]);
  });

  it('occurs the first time if clocks repeat it', () => {
    const rule = 'DTSTART:20261001T013000\nRRULE:FREQ=DAILY';
    for (const after of ['2026-10-31T12:00:00Z', '2026-11-01T05:29:59Z']) {
      expect(runs(rule, 'America/New_York', after, 2)).toEqual(['2026-11-01T05:30', '2026-11-02T06:30']);
    }
    for (const after of ['2026-11-01T05:30:00Z', '2026-11-01T06:00:00Z', '2026-11-01T06:30:00Z']) {
      expect(runs(rule, 'America/New_York', after, 1)).toEqual(['2026-11-02T06:30']);
    }
  });

  it('of every hour skips the repeated hour', () => {
    const rule = 'DTSTART:20261101T000000\nRRULE:FREQ=HOURLY';
    expect(runs(rule, 'America/New_York', '2026-11-01T03:00:00Z', 4)).toEqual([
      '2026-11-01T04:00',
      '2026-11-01T05:00',
      '2026-11-01T07:00',
      '2026-11-01T08:00',
    ]);
  });

  it('returns ordered occurrences from any moment of a year', () => {
    const rule = 'DTSTART:20260101T000000\nRRULE:FREQ=MINUTELY;INTERVAL=30';
    for (const day of ['2026-03-07', '2026-03-08', '2026-10-31', '2026-11-01', '2026-06-01']) {
      const times = runs(rule, 'America/New_York', `${day}T00:00:00Z`, 60);
      expect(times).toEqual([...new Set(times)].toSorted());
      expect(times).toHaveLength(60);
    }
  });

  it('is refused if it would occur more often than every 15 minutes, or never', () => {
    const problemOf = (text: string) => {
      const { zoned } = parseZonedRecurrence(text, made, 'Europe/Berlin');
      return zoned && zonedRecurrenceProblem(zoned, new Date('2026-06-01T00:00:00Z'));
    };
    expect(problemOf('FREQ=MINUTELY;INTERVAL=5')).toContain('more often than every 15 minutes');
    expect(problemOf('DTSTART:20260601T013000\nRRULE:FREQ=DAILY;COUNT=1')).toContain('never fires');
    expect(problemOf('DTSTART:20260601T023000\nRRULE:FREQ=DAILY;COUNT=1')).toBeNull();
    expect(parseZonedRecurrence('FREQ=NEVER', made, 'Europe/Berlin')).toMatchObject({ zoned: null });
  });
});
