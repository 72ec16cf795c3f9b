import { once } from 'node:events';
import { expect, it } from 'vitest';
import type { WebSocket } from 'ws';
import { socketLimits } from '../../src/api/graphql/websocket.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { makeKey } from '../support/principals.ts';
import { createSession, makeOrganization, say } from '../support/sessions.ts';
import { connect, follow, rawSocket } from '../support/sockets.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();

const messages = 'subscription($id: ID!) { sessionMessages(sessionId: $id) { node { body } } }';
const waitForActive = (count: number) =>
  expect.poll(() => test.app.watches.active(), { interval: 5, timeout: 60_000 }).toBe(count);

const send = (socket: WebSocket, message: object) => socket.send(JSON.stringify(message));
const subscribe = (socket: WebSocket, id: string, sessionId: string, query: string = messages) =>
  send(socket, { type: 'subscribe', id, payload: { query, variables: { id: sessionId } } });

/** Opens a socket and completes its handshake, without the protocol checks of a client library. */
async function openRaw(of: TestApp = test): Promise<WebSocket> {
  const socket = rawSocket(of.url);
  await once(socket, 'open');
  send(socket, { type: 'connection_init', payload: { authorization: of.adminToken } });
  await once(socket, 'message');
  return socket;
}

/** Resolves with the first message that matches. */
function received(socket: WebSocket, isWanted: (message: any) => boolean): Promise<any> {
  return new Promise((resolve) => {
    socket.on('message', (data) => {
      const message = JSON.parse(String(data));
      if (isWanted(message)) resolve(message);
    });
  });
}

const closeCode = async (socket: WebSocket) => (await once(socket, 'close'))[0];

it('closes a socket as 4403 when its key ends', async () => {
  const { organizationId, serviceUserId, token } = await makeOrganization(test, 'Short');
  const id = await createSession(test, { organizationId }, token);
  const expiresAt = new Date(Date.now() + 2_000).toISOString();
  const key = await makeKey(test, { kind: 'SERVICE_USER', serviceUserId, expiresAt });
  const following = follow(connect(test.url, key), messages, { id });
  await following.take(1);
  const reason = 'The token is missing, unknown, expired or revoked';
  expect(await following.ended).toMatchObject({ code: 4403, reason });
  expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(expiresAt) - 5);
  await waitForActive(0);
});

it.each([
  ['a frame over 256 KiB with 1009', 'x'.repeat(socketLimits.payloadBytes + 1), 1009],
  ['an invalid message with 4400', 'hello', 4400],
  ['a second connection_init with 4429', '{"type":"connection_init"}', 4429],
])('closes a socket that sends %s', async (_what, text, code) => {
  const socket = await openRaw();
  socket.send(text);
  expect(await closeCode(socket)).toBe(code);
});

it('closes a socket that subscribes before connection_init with 4401, and a silent one with 4408', async () => {
  const hasty = rawSocket(test.url);
  const silent = rawSocket(test.url);
  await Promise.all([once(hasty, 'open'), once(silent, 'open')]);
  subscribe(hasty, '1', 'x');
  expect(await Promise.all([closeCode(hasty), closeCode(silent)])).toEqual([4401, 4408]);
});

it('distinguishes operations that reuse an id', async () => {
  const id = await createSession(test);
  const socket = await openRaw();
  const bodies = new Map<string, string[]>();
  socket.on('message', (data) => {
    const { type, id: of, payload } = JSON.parse(String(data));
    if (type !== 'next') return;
    const [[name, { node }]] = Object.entries<any>(payload.data) as [[string, any]];
    bodies.set(`${of} ${name}`, [...(bodies.get(`${of} ${name}`) ?? []), node.body]);
  });
  // They are distinguished by their field's alias.
  const second = messages.replace('sessionMessages', 'second: sessionMessages');
  for (let n = 0; n < 50; n++) {
    subscribe(socket, `${n}`, id);
    send(socket, { type: 'complete', id: `${n}` });
    subscribe(socket, `${n}`, id, second);
  }
  await waitForActive(50);
  await say(test, id, 'once each');
  const last = received(socket, (message) => message.id === 'last' && message.payload?.data);
  subscribe(socket, 'last', id);
  await last;
  const ofSeconds = () => Array.from({ length: 50 }, (_, n) => bodies.get(`${n} second`));
  const whole = ofSeconds().map(() => ['say hello', 'once each']);
  await expect.poll(ofSeconds, { timeout: 60_000 }).toEqual(whole);
  // Existing messages may have arrived before, if the end came in another packet.
  for (let n = 0; n < 50; n++) expect([undefined, ['say hello']]).toContainEqual(bodies.get(`${n} sessionMessages`));
  socket.terminate();
  await waitForActive(0);
  expect(ofSeconds()).toEqual(whole);
});

it('counts each of them against the limit of operations', async () => {
  const id = await createSession(test);
  const socket = await openRaw();
  for (let n = 0; n < socketLimits.operations; n++) {
    subscribe(socket, `${n}`, id);
    send(socket, { type: 'complete', id: `${n}` });
    subscribe(socket, `${n}`, id);
  }
  await waitForActive(socketLimits.operations);
  const refused = received(socket, (message) => message.id === 'more');
  subscribe(socket, 'more', id);
  expect(await refused).toMatchObject({ type: 'error', payload: [{ extensions: { code: 'LIMIT_EXCEEDED' } }] });
  socket.terminate();
  await waitForActive(0);
});

it('stores none if a socket closes before they begin', async () => {
  const id = await createSession(test);
  for (let turns = 0; turns < 20; turns++) {
    const socket = await openRaw();
    for (let n = 0; n < 5; n++) {
      subscribe(socket, `${n}`, id);
      send(socket, { type: 'complete', id: `${n}` });
      subscribe(socket, `${n}`, id);
    }
    for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
    socket.terminate();
  }
  await waitForActive(0);
});

it('drops an operation that is completed at any time after its start', async () => {
  const id = await createSession(test);
  const socket = await openRaw();
  for (let turns = 0; turns < 40; turns++) {
    subscribe(socket, `${turns}`, id);
    for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
    send(socket, { type: 'complete', id: `${turns}` });
  }
  const last = received(socket, (message) => message.id === 'last' && message.type === 'next');
  subscribe(socket, 'last', id);
  await last;
  await waitForActive(1);
  socket.close();
  await waitForActive(0);
});

it('ends only the operation whose log cannot be read, without the reason', async () => {
  const id = await createSession(test);
  const client = connect(test.url, test.adminToken);
  const following = follow(client, messages, { id });
  await following.take(1);
  const { store } = test.app.services;
  const { query } = store;
  store.query = () => Promise.reject(new Error('the database is at db.internal:5432'));
  await say(test, id, 'lost');
  const errors = await following.errors();
  store.query = query;
  expect(errors).toMatchObject([{ message: 'Unexpected error.' }]);
  expect(JSON.stringify(errors)).not.toContain('db.internal');
  const neighbour = follow(client, messages, { id });
  expect((await neighbour.take(2)).map((payload) => payload.data.sessionMessages.node.body)).toEqual([
    'say hello',
    'lost',
  ]);
});

it('stops even if a client does not answer', async () => {
  const other = await startApp();
  const id = await createSession(other);
  const socket = await openRaw(other);
  const first = received(socket, (message) => message.type === 'next');
  subscribe(socket, '1', id);
  await first;
  socket.pause();
  const startedAt = performance.now();
  await other.close();
  // By default, a socket waits 30 s for the other side.
  expect(performance.now() - startedAt).toBeLessThan(10_000);
  expect(other.app.watches.active()).toBe(0);
});
