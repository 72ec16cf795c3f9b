import { connect, createServer, type Server, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { afterEach, it as always, beforeEach, expect } from 'vitest';
import { channelOf } from '../../src/realtime/channels.ts';
import { createNotifier } from '../../src/realtime/create-notifier.ts';
import type { Notifier } from '../../src/realtime/notifier.ts';
import type { Topic } from '../../src/realtime/topics.ts';
import { openTestStore, type TestStore, testDatabase } from '../support/test-store.ts';

const it = always.skipIf(testDatabase !== 'postgres');

let test: TestStore;
let notifiers: Notifier[] = [];
/** All payloads sent by all notifiers. */
let payloads: string[] = [];
let statements = 0;
beforeEach(async () => {
  test = await openTestStore();
  payloads = [];
  statements = 0;
});
afterEach(async () => {
  await Promise.all(notifiers.map((notifier) => notifier.stop()));
  notifiers = [];
  await test.close();
});

async function startNotifier(databaseUrl: string | null = test.databaseUrl): Promise<Notifier> {
  const notifier = createNotifier({
    databaseUrl,
    execute: (sql, values) => {
      payloads.push(...(values[1] as string[]));
      statements += 1;
      return test.store.execute(sql, values);
    },
    log: { warn: () => undefined },
  });
  notifiers.push(notifier);
  await notifier.start();
  return notifier;
}

/** Resolves with the next notification. */
function nextNotification(notifier: Notifier, topic: Topic): Promise<void> {
  return new Promise((resolve) => {
    const unsubscribe = notifier.subscribe(topic, () => {
      unsubscribe();
      resolve();
    });
  });
}

const topicsSent = () => payloads.map((payload) => payload.split(' ').slice(1));

it('notifies a listener in another process, and its own at once and once', async () => {
  const [local, remote] = [await startNotifier(), await startNotifier()];
  // The first one says that the process listens to the channel now.
  await Promise.all([nextNotification(local, 'session:1'), nextNotification(remote, 'session:1')]);
  const notification = nextNotification(remote, 'session:1');
  let localCalls = 0;
  local.subscribe('session:1', () => {
    localCalls += 1;
  });
  local.notify('session:1');
  expect(localCalls).toBe(1);
  await notification;
  // The other's answer arrives after the echo of the first notification would have.
  const answer = nextNotification(local, 'session:2');
  remote.notify('session:2');
  await answer;
  expect(localCalls).toBe(1);
});

it('sends the notifications of a turn of the loop at once, and later ones in a batch, each topic once', async () => {
  const [local, remote] = [await startNotifier(), await startNotifier()];
  await nextNotification(remote, 'session:9');
  const last = nextNotification(remote, 'session:9');
  for (const topic of ['session:1', 'runs', 'session:1'] as const) local.notify(topic);
  await setImmediate();
  expect(topicsSent()).toEqual([['session:1'], ['runs']]);
  expect(statements).toBe(1);
  for (let n = 0; n < 100; n++) for (const id of [1, 2, 9]) local.notify(`session:${id}`);
  await last;
  expect(topicsSent().slice(2)).toEqual([['session:1'], ['session:2'], ['session:9']]);
  expect(statements).toBe(2);
});

it('never delays a revocation', async () => {
  const local = await startNotifier();
  local.notify('session:1');
  local.notify('keys');
  local.notify('keys');
  expect(topicsSent()).toEqual([['keys'], ['keys']]);
});

it('splits payloads above the limit of NOTIFY', async () => {
  const [local, remote] = [await startNotifier(), await startNotifier()];
  // With one channel.
  const ids: Topic[] = [];
  for (let n = 0; ids.length < 300; n++) {
    const topic: Topic = `session:${n}-${'0'.repeat(30)}`;
    if (channelOf(topic) === channelOf('session:0')) ids.push(topic);
  }
  await Promise.all(ids.map((id) => nextNotification(remote, id)));
  const received = Promise.all(ids.map((id) => nextNotification(remote, id)));
  for (const id of ids) local.notify(id);
  await received;
  expect(payloads.length).toBe(2);
  expect(Math.max(...payloads.map((payload) => Buffer.byteLength(payload)))).toBeLessThan(8_000);
});

it('sends nothing to processes that have no listener of the channel, and nothing is missed by one that has a new one', async () => {
  const [local, remote] = [await startNotifier(), await startNotifier()];
  await nextNotification(remote, 'session:1');
  const before = remote.receivedCount();
  const [one, other] = [nextNotification(remote, 'session:1'), nextNotification(remote, 'organization:*')];
  for (const id of [2, 3, 4, 5]) local.notify(`session:${id}`);
  local.notify('resources:1');
  local.notify('session:1');
  await one;
  expect(remote.receivedCount()).toBe(before + 1);
  await other;
  const called = nextNotification(remote, 'organization:*');
  local.notify('organization:7');
  await called;
  expect(remote.receivedCount()).toBe(before + 2);
  // A notification before the process listens: the listener is called then.
  for (let n = 10; n < 30; n++) {
    const caughtUp = nextNotification(remote, `session:${n}`);
    local.notify(`session:${n}`);
    await caughtUp;
  }
});

it('understands the version before, which sends all topics on one channel', async () => {
  const remote = await startNotifier();
  const topics = ['session:1', 'organization:*', 'runs'] as const;
  await Promise.all(topics.map((topic) => nextNotification(remote, topic)));
  const all = Promise.all(topics.map((topic) => nextNotification(remote, topic)));
  await test.store.execute(`select pg_notify('switchyard', $1)`, ['another session:1 organization:5 runs']);
  await all;
});

it('sends pending notifications before it stops, and nothing after', async () => {
  const [local, remote] = [await startNotifier(), await startNotifier()];
  const notification = nextNotification(remote, 'session:2');
  local.notify('session:1');
  local.notify('session:2');
  await local.stop();
  await notification;
  const sent = payloads.length;
  local.notify('session:3');
  expect(payloads).toHaveLength(sent);
});

it('notifies every listener after its connection was lost and restored, and receives again', async () => {
  const [local, remote] = [await startNotifier(), await startNotifier()];
  const caughtUp = Promise.all([nextNotification(remote, 'session:1'), nextNotification(remote, 'runs')]);
  await test.store.execute(
    `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name = 'switchyard notifier'`,
  );
  await caughtUp;
  const notification = nextNotification(remote, 'session:3');
  local.notify('session:3');
  await notification;
});

it('receives notifications once a server that was unavailable at the start is back', async () => {
  const url = new URL(test.databaseUrl ?? '');
  const proxy = await startProxy(Number(url.port), { isOpen: false });
  url.port = String(proxy.port);
  url.search = '';
  const remote = await startNotifier(url.href);
  const caughtUp = nextNotification(remote, 'session:1');
  proxy.isOpen = true;
  await caughtUp;
  await proxy.stop();
});

/** A port that closes every connection while it is blocked, and forwards all data otherwise. */
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
