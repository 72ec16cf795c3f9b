import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest';
import type { CallCost, Reservation } from '../../src/agents/credential.ts';
import type { Context } from '../../src/domain/context.ts';
import { createReservations } from '../../src/domain/execution/provider-keys/reservations.ts';
import type { StoredKey } from '../../src/domain/library/provider-keys/stored-key.ts';
import { openTestStore, type TestStore } from '../support/test-store.ts';

let test: TestStore;
let now = new Date('2026-11-30T23:59:00Z');
beforeAll(async () => {
  test = await openTestStore();
});
afterAll(() => test.close());

let keys = 0;
let key: StoredKey;
/** Stores a key with a budget of $1. */
beforeEach(async () => {
  keys += 1;
  key = {
    id: `k${keys}`,
    scope: 'ORGANIZATION',
    name: 'Team',
    provider: 'compatible',
    baseUrl: null,
    key: null,
    monthlyBudgetUsd: 1,
    spentThisMonthUsd: 0,
    inputUsdPerMillion: 1,
    cachedUsdPerMillion: null,
    outputUsdPerMillion: 1,
  };
  await test.store.execute(
    `insert into provider_key (id, enterprise_id, provider, name, monthly_budget_usd, created_at, updated_at)
     values ($1, 'e', 'compatible', $1, 1, now(), now())`,
    [key.id],
  );
});

/** Starts the reservations of a process. */
async function startProcess(workerId: string) {
  const messages: string[] = [];
  const log = { error: () => undefined, warn: () => undefined };
  const context = { store: test.store, now: () => now, log } as unknown as Context;
  const reservations = createReservations(context, workerId);
  await reservations.start();
  onTestFinished(() => reservations.stop());
  const budget = () =>
    reservations.budget({ key, organizationId: 'o', userId: '' }, ({ message }) => messages.push(message));
  const reserve = (cost: Partial<CallCost>, signal = new AbortController().signal) =>
    budget().reserve({ maxInputUsd: 0, maxOutputUsd: 0, inputUsd: 0, minOutputUsd: 0, ...cost }, signal);
  const reserveNow = async (cost: Partial<CallCost>) => {
    const leaving = AbortSignal.abort();
    return reserve(cost, leaving);
  };
  return { reservations, reserve, reserveNow, messages };
}
const settled = (reservation: unknown, costUsd: number | null) =>
  (reservation as Reservation).settle({ inputTokens: 5, cachedTokens: 0, outputTokens: 7, costUsd });
const usage = () =>
  test.store.query<{ day: string; calls: number; tokens: number; costUsd: number }>(
    `select day::text, calls, output_tokens as tokens, cost_usd as "costUsd" from provider_key_usage where provider_key_id = $1 order by day`,
    [key.id],
  );
const held = async () =>
  (await test.store.query('select 1 from provider_key_reservation where provider_key_id = $1', [key.id])).length;

it('starts no more calls at the same time than the budget pays for, over all processes', async () => {
  const [one, two] = [await startProcess('w1'), await startProcess('w2')];
  const cost = { maxInputUsd: 0.125, maxOutputUsd: 0.125 };
  const found = await Promise.all(Array.from({ length: 16 }, (_, n) => (n % 2 ? one : two).reserveNow(cost)));
  const made = found.filter((each) => typeof each === 'object');
  expect(made).toHaveLength(4);
  expect(found.filter((each) => each === 'BUSY')).toHaveLength(12);
  expect(await held()).toBe(4);
});

it('lets a call wait for those before it, and wakes it when they end', async () => {
  const { reserve } = await startProcess('w1');
  const first = await reserve({ maxOutputUsd: 0.9 });
  const second = reserve({ maxOutputUsd: 0.9 });
  settled(first, 0.05);
  expect(await second).toMatchObject({ outputUsd: null });
  await expect.poll(usage).toEqual([{ day: '2026-11-30', calls: 1, tokens: 7, costUsd: 0.05 }]);
});

it('makes a call alone whose highest cost does not fit, and limits its output to what is left', async () => {
  const { reserve, reserveNow, messages } = await startProcess('w1');
  const large = { maxInputUsd: 0.9, inputUsd: 0.3, maxOutputUsd: 20, minOutputUsd: 0.1 };
  const found = await reserve(large);
  expect(found).toMatchObject({ outputUsd: 0.7 });
  // Nothing else begins meanwhile.
  expect(await reserveNow(large)).toBe('BUSY');
  expect(await reserveNow({ maxOutputUsd: 0.1 })).toBe('BUSY');
  settled(found, 0.7);
  await expect.poll(held).toBe(0);
  // $0.30 is left, and the next call needs $0.40.
  expect(await reserve(large)).toMatchObject({ refused: 'BUDGET_REACHED' });
  expect(messages).toEqual([
    expect.stringContaining('has $0.30 left of its budget of $1.00 for this month, and the next call may cost $0.40.'),
  ]);
});

it('reports the budget that the last call has reached, and begins the next month with all of it', async () => {
  const { reserve, messages } = await startProcess('w1');
  settled(await reserve({ maxOutputUsd: 0.5 }), 1.5);
  await expect.poll(() => messages).toEqual([expect.stringContaining('has reached its budget of $1.00')]);
  expect(await reserve({ maxOutputUsd: 0 })).toMatchObject({ refused: 'BUDGET_REACHED' });
  now = new Date('2026-12-01T00:00:01Z');
  const december = await reserve({ maxOutputUsd: 0.5 });
  settled(december, 0.25);
  await expect.poll(usage).toMatchObject([{ costUsd: 1.5 }, { day: '2026-12-01', costUsd: 0.25 }]);
});

it('counts the calls of a process that was killed with their reservations, once', async () => {
  const [killed, other] = [await startProcess('w1'), await startProcess('w2')];
  const late = await killed.reserve({ maxOutputUsd: 0.2 });
  await killed.reserve({ maxOutputUsd: 0.3 });
  // Others wait until nobody has extended them for some time.
  expect(await other.reserveNow({ maxOutputUsd: 0.6 })).toBe('BUSY');
  await test.store.execute(`update provider_key_reservation set expires_at = now() - interval '1 second'`);
  expect(await other.reserve({ maxOutputUsd: 0.6 })).toMatchObject({ outputUsd: 0.5 });
  expect(await usage()).toMatchObject([{ calls: 2, costUsd: 0.5 }]);
  // It was only slow.
  settled(late, 0.01);
  await expect.poll(held).toBe(1);
  expect(await usage()).toMatchObject([{ calls: 2, costUsd: 0.5 }]);
});

it('counts the calls that a process made before it was killed when it starts again', async () => {
  const killed = await startProcess('w1');
  await killed.reserve({ maxOutputUsd: 0.2 });
  await startProcess('w1');
  expect([await usage(), await held()]).toMatchObject([[{ calls: 1, costUsd: 0.2 }], 0]);
});

it.each([
  ['not known', null, 0.4],
  ['negative', -5, 0],
  ['not a number', Number.NaN, 1e10],
  ['infinite', Number.POSITIVE_INFINITY, 1e10],
])('counts a cost that is %s', async (_, costUsd, expected) => {
  const { reserve } = await startProcess('w1');
  settled(await reserve({ maxOutputUsd: 0.4 }), costUsd);
  await expect.poll(usage).toMatchObject([{ calls: 1, costUsd: expected }]);
});

it.each([Number.POSITIVE_INFINITY, Number.NaN])('refuses a call that may cost %d', async (maxInputUsd) => {
  const { reserve } = await startProcess('w1');
  expect(await reserve({ maxInputUsd, inputUsd: maxInputUsd })).toMatchObject({ refused: 'BUDGET_REACHED' });
});

it('makes no call with a budget of 0, or with a key that was deleted', async () => {
  const { reserve } = await startProcess('w1');
  await test.store.execute('update provider_key set monthly_budget_usd = 0 where id = $1', [key.id]);
  expect(await reserve({})).toMatchObject({ refused: 'BUDGET_REACHED' });
  await test.store.execute('update provider_key set deleted_at = now() where id = $1', [key.id]);
  expect(await reserve({})).toMatchObject({ refused: 'UNAVAILABLE' });
});
