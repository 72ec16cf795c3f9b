import { expect, it } from 'vitest';
import { createTimeBudget } from '../../../src/common/time-budget.ts';

it('allows a burst, and a share of the time in the long run', () => {
  let now = 0;
  const budget = createTimeBudget(0.1, 500, () => now);
  expect([budget.spend(300), budget.spend(200)]).toEqual([0, 0]);
  now += 5_000;
  expect(budget.spend(500)).toBe(0);
  let worked = 0;
  const startedAt = now;
  while (now - startedAt < 100_000) {
    worked += 40;
    now += 40;
    now += budget.spend(40);
  }
  expect(worked / (now - startedAt)).toBeCloseTo(0.1, 2);
});
