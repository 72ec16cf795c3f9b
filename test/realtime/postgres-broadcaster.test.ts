import { createHmac } from 'node:crypto';
import { afterEach, it as always, beforeEach, expect } from 'vitest';
import type { Broadcaster } from '../../src/realtime/broadcaster.ts';
import { createBroadcaster } from '../../src/realtime/create-broadcaster.ts';
import { openTestStore, type TestStore, testDatabase } from '../support/test-store.ts';

const it = always.skipIf(testDatabase !== 'postgres');

let test: TestStore;
let broadcasters: Broadcaster[] = [];
/** The payloads of each transaction. */
let transactions: string[][] = [];
let warnings: string[] = [];
beforeEach(async () => {
  test = await openTestStore();
  [transactions, warnings] = [[], []];
});
afterEach(async () => {
  await Promise.all(broadcasters.map((broadcaster) => broadcaster.stop()));
  broadcasters = [];
  await test.close();
});

async function start(secret = 'key', gate: Promise<unknown> = Promise.resolve()): Promise<Broadcaster> {
  const broadcaster = createBroadcaster({
    databaseUrl: test.databaseUrl,
    async execute(sql, values) {
      transactions.push(values[1] as string[]);
      await gate;
      return test.store.execute(sql, values);
    },
    keyOf: (sender) => createHmac('sha256', secret).update(sender).digest(),
    log: { warn: (_fields, message) => void warnings.push(message) },
  });
  broadcasters.push(broadcaster);
  await broadcaster.start();
  return broadcaster;
}

/** Resolves with the payloads of a key, up to and including `last`. */
function receive(broadcaster: Broadcaster, key: string, last = 'last'): Promise<string[]> {
  const received: string[] = [];
  return new Promise((resolve) => {
    const stop = broadcaster.subscribe('draft', key, (payload) => {
      received.push(payload);
      if (payload !== last) return;
      stop();
      resolve(received);
    });
  });
}

it('reaches the listeners of another process in order, and its own at once and once', async () => {
  const [local, remote] = [await start(), await start()];
  const received = receive(remote, 's1');
  const [own, all]: [string[], string[]] = [[], []];
  local.subscribe('draft', 's1', (payload) => own.push(payload));
  local.subscribeAll('draft', (payload, key) => all.push(`${key} ${payload}`));
  const sent = [...Array.from({ length: 50 }, (_, n) => `{"n": ${n}, "é": "漢 😀"}`), 'last'];
  for (const payload of sent) local.publish('draft', 's1', payload);
  expect(own).toEqual(sent);
  expect(await received).toEqual(sent);
  const answer = receive(local, 's2');
  remote.publish('draft', 's2', 'last');
  await answer;
  expect(own).toEqual(sent);
  expect(all.slice(-1)).toEqual(['s2 last']);
});

it('sends many messages in few transactions, each notification below the limit of NOTIFY', async () => {
  const [local, remote] = [await start(), await start()];
  const received = receive(remote, 's1');
  for (let n = 0; n < 500; n++) local.publish('draft', 's1', `${n} ${'x'.repeat(700)}`);
  local.publish('draft', 's1', 'last');
  expect(await received).toHaveLength(501);
  const payloads = transactions.flat();
  expect(Math.max(...payloads.map((payload) => Buffer.byteLength(payload)))).toBeLessThan(8_000);
  expect(payloads.length).toBeLessThan(100);
  expect(transactions.length).toBeLessThan(8);
});

it('drops the oldest messages while the database does not take them, and one that is too large', async () => {
  let open: () => void = () => undefined;
  const local = await start('key', new Promise<void>((resolve) => (open = resolve)));
  const remote = await start();
  const received = receive(remote, 's1');
  local.publish('draft', 's1', 'first');
  local.publish('draft', 's1', 'x'.repeat(local.maxBytes));
  for (let n = 0; n < 3_000; n++) local.publish('draft', 's1', `${n} ${'x'.repeat(990)}`);
  local.publish('draft', 's1', 'last');
  open();
  const numbers = (await received).map((payload) => payload.split(' ')[0]);
  expect(numbers.slice(0, 1)).toEqual(['first']);
  expect(numbers.length).toBeGreaterThan(900);
  expect(numbers.length).toBeLessThan(1_100);
  expect(numbers.slice(-2)).toEqual(['2999', 'last']);
  expect(warnings).toEqual(['A message cannot be sent to other processes.']);
});

it('keeps messages within this process where that is enough', async () => {
  const local = await start();
  const own: string[] = [];
  local.subscribe('draft', 's1', (payload) => own.push(payload));
  local.publish('draft', 's1', 'here', true);
  expect([own, transactions]).toEqual([['here'], []]);
});

it('shows no content to other roles of the database, and takes nothing from them', async () => {
  const [local, remote, stranger] = [await start(), await start(), await start('another key')];
  const strange: string[] = [];
  stranger.subscribeAll('draft', (payload) => strange.push(payload));
  const taken: string[] = [];
  remote.subscribeAll('draft', (payload) => taken.push(payload));
  const notify = (payload: string) => test.store.execute('select pg_notify($1, $2)', ['switchyard_live', payload]);
  for (const payload of [
    '',
    ' ',
    'x',
    'a b c',
    'draft s1 forged',
    `${local.processId} draft s1 forged`,
    `${local.processId} ${'A'.repeat(400)}`,
  ]) {
    await notify(payload);
  }
  stranger.publish('draft', 's1', 'forged');
  const received = receive(remote, 's1');
  local.publish('draft', 's1', 'content of a draft');
  local.publish('draft', 's1', 'last');
  await received;
  const [sealed = ''] = transactions.flat().filter((payload) => payload.startsWith(local.processId));
  expect(sealed).not.toContain('content');
  // A changed message, and one under the name of another sender.
  await notify(`${sealed.slice(0, -6)}AAAAA=`);
  await notify(sealed.replace(local.processId, remote.processId.replace(/^./, 'f')));
  const again = receive(remote, 's1');
  local.publish('draft', 's1', 'last');
  await again;
  expect(taken).toEqual(['content of a draft', 'last', 'last']);
  expect(strange).toEqual(['forged']);
});

it('reports a gap after its connection was lost and restored, and receives again', async () => {
  const [local, remote] = [await start(), await start()];
  const gap = new Promise<void>((resolve) => void remote.onGap(resolve));
  await test.store.execute(
    `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name = 'switchyard broadcaster'`,
  );
  await gap;
  const received = receive(remote, 's1');
  local.publish('draft', 's1', 'last');
  await received;
});

it('calls the other listeners if one throws', async () => {
  const local = await start();
  const own: string[] = [];
  local.subscribe('draft', 's1', () => {
    throw new Error('No.');
  });
  local.subscribe('draft', 's1', (payload) => own.push(payload));
  local.publish('draft', 's1', 'here', true);
  expect([own, warnings]).toEqual([['here'], ['A listener of the broadcaster failed.']]);
});
