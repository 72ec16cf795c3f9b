import { expect, it } from 'vitest';
import { createSettlement } from '../../../src/auth/settlement.ts';

/** Returns true if a wait is over, after all due callbacks have run. */
async function isOver(wait: Promise<void> | null): Promise<boolean> {
  let over = wait === null;
  void wait?.then(() => {
    over = true;
  });
  await new Promise(setImmediate);
  return over;
}

it('is settled before the first announcement', () => {
  expect(createSettlement().wait()).toBeNull();
});

it('waits for a read that begins after the announcement, not for an earlier one', async () => {
  const settlement = createSettlement();
  const early = settlement.begin();
  settlement.announce();
  const wait = settlement.wait();
  early();
  expect(await isOver(wait)).toBe(false);
  settlement.begin()();
  expect(await isOver(wait)).toBe(true);
  expect(settlement.wait()).toBeNull();
});

it('does not wait for later announcements', async () => {
  const settlement = createSettlement();
  settlement.announce();
  const wait = settlement.wait();
  const read = settlement.begin();
  settlement.announce();
  read();
  expect(await isOver(wait)).toBe(true);
  expect(await isOver(settlement.wait())).toBe(false);
});

it('settles with the next read after a failed one', async () => {
  const settlement = createSettlement();
  settlement.announce();
  settlement.begin();
  const wait = settlement.wait();
  settlement.begin()();
  expect(await isOver(wait)).toBe(true);
  expect(settlement.wait()).toBeNull();
});
