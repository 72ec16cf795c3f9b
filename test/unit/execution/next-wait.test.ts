import { expect, it } from 'vitest';
import { nextWait } from '../../../src/domain/execution/runs/quota-waits.ts';

const start = new Date('2026-11-23T14:00:00Z');
const none = { quotaSince: null, quotaWaits: 0 };

/** The lengths of the waits of a series in seconds, until it is over. */
function lengths(resetMs: number | null): number[] {
  const found: number[] = [];
  let series: { quotaSince: Date | null; quotaWaits: number } = none;
  for (let now = start; ; ) {
    const wait = nextWait({ resetMs }, series, now);
    if (wait === null) return found;
    found.push((wait.until.getTime() - now.getTime()) / 1_000);
    series = wait;
    now = wait.until;
  }
}

it('doubles the waits for an unknown reset up to 15 minutes, for 24 hours', () => {
  const all = lengths(null);
  expect(all.slice(0, 6)).toEqual([60, 120, 240, 480, 900, 900]);
  expect(Math.max(...all)).toBe(900);
  expect(all.reduce((sum, each) => sum + each, 0)).toBe(24 * 3_600);
});

it('waits for a stated reset at first, and then not less than for an unknown one', () => {
  expect(lengths(20_000).slice(0, 4)).toEqual([20, 60, 120, 240]);
  expect(lengths(1).slice(0, 3)).toEqual([5, 60, 120]);
  expect(lengths(1_000).length).toBeLessThan(110);
});

it('waits for at most 24 hours in all', () => {
  expect(lengths(20 * 3_600_000)).toEqual([20 * 3_600, 4 * 3_600]);
  expect(lengths(24 * 3_600_000)).toEqual([24 * 3_600]);
});
