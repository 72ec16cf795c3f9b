import { describe, expect, it } from 'vitest';
import type { MissedRuns } from '../../../src/domain/automations/model/missed-runs.ts';
import {
  type DueTime,
  type DueTimeQuery,
  dueTimeAtOnce,
  findDueTime,
  maxCatchUpTimes,
  missedAfterMs,
} from '../../../src/domain/automations/schedule/due-times.ts';

const hourMs = 60 * 60 * 1_000;
const start = Date.UTC(2026, 0, 1);
const at = (hours: number) => new Date(start + hours * hourMs);
const hoursOf = (time: Date | null | undefined) => (time == null ? null : (time.getTime() - start) / hourMs);

const dueTime = (automation: DueTimeQuery['automation'], now: Date, isRetry: boolean) =>
  findDueTime({ automation, now, isRetry });

/** An automation that is due every hour, and has not run since `next`. */
const hourly = (next: number, missedRuns?: MissedRuns, rule = 'FREQ=HOURLY') => ({
  id: 'a',
  enabled: true,
  createdAt: at(0),
  options: missedRuns === undefined ? {} : { missedRuns },
  nextRunAt: at(next),
  dueAt: at(next),
  triggers: [
    {
      eventType: 'schedule:recurring',
      replies: [],
      conditions: {
        any: [
          {
            all: [
              { field: 'rrule', operator: 'recurrence' as const, value: `DTSTART:20260101T000000Z\nRRULE:${rule}` },
            ],
          },
        ],
      },
    },
  ],
});

const shown = (due: DueTime | null | 'expensive') =>
  due &&
  due !== 'expensive' && {
    at: hoursOf(due.time),
    isSkipped: due.isSkipped,
    next: hoursOf(due.next.nextRunAt),
    due: hoursOf(due.next.dueAt),
  };

describe('the occurrence to run', () => {
  it('is the current one, if it has not been missed', async () => {
    for (const policy of ['latest', 'skip', 'all'] as const) {
      const now = new Date(at(5).getTime() + missedAfterMs);
      expect(shown(await dueTime(hourly(5, policy), now, false))).toEqual({ at: 5, isSkipped: false, next: 6, due: 6 });
    }
  });

  it('is the latest of any number of missed ones', async () => {
    const years = 5 * 365 * 24;
    expect(shown(await dueTime(hourly(5), at(years + 0.5), false))).toEqual({
      at: years,
      isSkipped: false,
      next: years + 1,
      due: years + 1,
    });
    expect(shown(await dueTime(hourly(5, 'latest', 'FREQ=HOURLY;COUNT=8'), at(1_000), false))).toEqual({
      at: 7,
      isSkipped: false,
      next: null,
      due: null,
    });
  });

  it('is skipped on request, unless it was tried already or is not late itself', async () => {
    expect(shown(await dueTime(hourly(5, 'skip'), at(9.5), false))).toMatchObject({ at: 9, isSkipped: true, next: 10 });
    expect(shown(await dueTime(hourly(5, 'skip'), at(9.05), false))).toMatchObject({
      at: 9,
      isSkipped: false,
      next: 10,
    });
    expect(shown(await dueTime(hourly(5, 'skip'), at(9.5), true))).toMatchObject({ at: 5, isSkipped: false, next: 6 });
  });

  it('is every occurrence on request, limited to the last ones if there are many', async () => {
    for (const now of [50.5, 150.5, 20_000.5]) {
      let automation = hourly(5, 'all');
      const started: (number | null)[] = [];
      for (;;) {
        const due = await dueTime(automation, at(now), false);
        if (due === null || due.next.nextRunAt === null || due.next.dueAt === null) throw new Error('It never ends.');
        started.push(hoursOf(due.time));
        automation = { ...automation, nextRunAt: due.next.nextRunAt, dueAt: due.next.dueAt };
        if (automation.nextRunAt > at(now)) break;
      }
      const last = Math.floor(now);
      expect(started).toEqual(started.map((_, n) => last - started.length + 1 + n));
      const missed = last - 4;
      if (missed <= maxCatchUpTimes) expect(started).toHaveLength(missed);
      expect(started.length).toBeGreaterThanOrEqual(Math.min(missed, maxCatchUpTimes / 2));
      expect(started.length).toBeLessThanOrEqual(maxCatchUpTimes);
    }
  });

  it('is returned synchronously only if that is cheap', () => {
    const atOnce = (automation: DueTimeQuery['automation'], now: Date) =>
      dueTimeAtOnce({ automation, now, isRetry: false });
    expect(shown(atOnce(hourly(5), at(5)))).toEqual({ at: 5, isSkipped: false, next: 6, due: 6 });
    const leapMondays = 'FREQ=DAILY;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO;BYHOUR=3;BYMINUTE=0;BYSECOND=0';
    expect(atOnce(hourly(5, 'latest', leapMondays), at(5))).toBe('expensive');
    expect(atOnce(hourly(5, 'latest', 'FREQ=DAILY;COUNT=1000'), at(500 * 24))).toBe('expensive');
    for (const policy of ['latest', 'skip', 'all'] as const)
      expect(atOnce(hourly(5, policy), at(9_000))).toBe('expensive');
  });
});
