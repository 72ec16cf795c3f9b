import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, it as always, beforeEach, expect } from 'vitest';
import type { Bell } from '../../src/events/bell.ts';
import { createBell } from '../../src/events/create-bell.ts';
import type { Topic } from '../../src/events/topics.ts';
import { openTestStore, type TestStore, testDatabase } from '../support/test-store.ts';

const it = always.skipIf(testDatabase !== 'postgres');

let test: TestStore;
let bells: Bell[] = [];
/** Every payload that was sent, by all bells. */
let payloads: string[] = [];
beforeEach(async () => {
  test = await openTestStore();
  payloads = [];
});
afterEach(async () => {
  await Promise.all(bells.map((bell) => bell.stop()));
  bells = [];
  await test.close();
});

async function startBell(databaseUrl: string | null = test.databaseUrl): Promise<Bell> {
  const bell = createBell({
    databaseUrl,
    execute: (sql, values) => {
      payloads.push(String(values[1]));
      return test.store.execute(sql, values);
    },
    log: { warn: () => undefined },
  });
  bells.push(bell);
  await bell.start();
  return bell;
}

/** Resolves with the next ring. */
function ringOf(bell: Bell, topic: Topic): Promise<void> {
  return new Promise((resolve) => {
    const stop = bell.on(topic, () => {
      stop();
      resolve();
    });
  });
}

const topicsSent = () => payloads.map((payload) => payload.split(' ').slice(1));

it('reaches a listener in another process, and calls its own at once and once', async () => {
  const [here, there] = [await startBell(), await startBell()];
  const heard = ringOf(there, 'session:1');
  let own = 0;
  here.on('session:1', () => {
    own += 1;
  });
  here.ring('session:1');
  expect(own).toBe(1);
  await heard;
  // The other's answer comes after the first ring's echo would have.
  const answer = ringOf(here, 'session:2');
  there.ring('session:2');
  await answer;
  expect(own).toBe(1);
});

it('sends the first ring at once, and those close behind it together, each topic once', async () => {
  const [here, there] = [await startBell(), await startBell()];
  const last = ringOf(there, 'session:9');
  here.ring('session:1');
  expect(topicsSent()).toEqual([['session:1']]);
  for (let n = 0; n < 100; n++) for (const id of [1, 2, 9]) here.ring(`session:${id}`);
  await last;
  expect(topicsSent()).toEqual([['session:1'], ['session:1', 'session:2', 'session:9']]);
});

it('never holds back a revocation', async () => {
  const here = await startBell();
  here.ring('session:1');
  here.ring('keys');
  here.ring('keys');
  expect(topicsSent()).toEqual([['session:1'], ['keys'], ['keys']]);
});

it('splits what NOTIFY would refuse as too long', async () => {
  const [here, there] = [await startBell(), await startBell()];
  const ids = Array.from({ length: 1_000 }, (_, n) => `session:${String(n).padStart(32, '0')}` as const);
  const all = Promise.all(ids.map((id) => ringOf(there, id)));
  for (const id of ids) here.ring(id);
  await all;
  expect(payloads.length).toBeGreaterThan(5);
  expect(Math.max(...payloads.map((payload) => Buffer.byteLength(payload)))).toBeLessThan(8_000);
});

it('sends what waits before it stops, and nothing after', async () => {
  const [here, there] = [await startBell(), await startBell()];
  const heard = ringOf(there, 'session:2');
  here.ring('session:1');
  here.ring('session:2');
  await here.stop();
  await heard;
  const sent = payloads.length;
  here.ring('session:3');
  expect(payloads).toHaveLength(sent);
});

it('rings every listener after its connection was lost and is back, and hears again', async () => {
  const [here, there] = [await startBell(), await startBell()];
  const caughtUp = Promise.all([ringOf(there, 'session:1'), ringOf(there, 'runs')]);
  await test.store.execute(
    `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name = 'switchyard bell'`,
  );
  await caughtUp;
  const heard = ringOf(there, 'session:3');
  here.ring('session:3');
  await heard;
});

it('begins to hear once a server that was away at the start is there', async () => {
  const url = new URL(test.databaseUrl ?? '');
  const proxy = await startProxy(Number(url.port), { isOpen: false });
  url.port = String(proxy.port);
  url.search = '';
  const there = await startBell(url.href);
  const caughtUp = ringOf(there, 'session:1');
  proxy.isOpen = true;
  await caughtUp;
  await proxy.stop();
});

/** A port that hangs up on everybody while it is not open, and passes everything on while it is. */
async function startProxy(target: number, state: { isOpen: boolean }) {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
    if (!proxy.isOpen) {
      socket.destroy();
      return;
    }
    const onward = connect(target, '127.0.0.1').on('error', () => socket.destroy());
    sockets.add(onward);
    socket.pipe(onward).pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const proxy = {
    ...state,
    port: typeof address === 'object' && address ? address.port : 0,
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return proxy;
}
