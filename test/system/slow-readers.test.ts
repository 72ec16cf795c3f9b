import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { WebSocket } from 'ws';
import { startApp, type TestApp } from '../support/app.ts';
import { createSession } from '../support/sessions.ts';
import { connect, follow, rawSocket } from '../support/sockets.ts';

interface Stalled {
  readonly response: IncomingMessage;
  /** The code of the error that ends it, once it reads again. */
  readonly cut: Promise<string>;
}

let test: TestApp;
beforeAll(async () => {
  test = await startApp();
});
afterAll(() => test.close());

const query =
  'subscription($id: ID!, $after: String) { sessionMessages(sessionId: $id, after: $after) { cursor node { body } } }';
/** Longer than any reader may take. */
const patience = { interval: 100, timeout: 40_000 };

/** Creates a session with this many messages of 100 KB. */
async function longSession(count: number): Promise<string> {
  const id = await createSession(test);
  const { store } = test.app.services;
  await store.execute(
    `insert into log_entry (session_id, seq, id, kind, message_type, body, created_at)
     select $1, n + 1000, md5($1 || n), 'MESSAGE', 'agent_message', n || repeat('x', 100000), now()
       from generate_series(1, $2::int) n`,
    [id, count],
  );
  await store.execute('update session_head set next_seq = 5000 where session_id = $1', [id]);
  return id;
}

/** Opens a socket that follows a session, and does not read it. */
async function stalledSocket(id: string): Promise<WebSocket> {
  const socket = rawSocket(test.url);
  await once(socket, 'open');
  socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: test.adminToken } }));
  await once(socket, 'message');
  socket.pause();
  socket.send(JSON.stringify({ type: 'subscribe', id: '1', payload: { query, variables: { id } } }));
  return socket;
}

/** Opens a stream of server-sent events, and does not read it. */
async function stalledStream(address: URL): Promise<Stalled> {
  const headers = { authorization: `Bearer ${test.adminToken}`, accept: 'text/event-stream' };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(address, { headers }, resolve).on('error', reject);
  });
  const cut = once(response, 'error').then(([error]) => error.code as string);
  return { response: response.pause(), cut };
}

function graphqlStream(id: string): URL {
  const address = new URL(`${test.url}/graphql`);
  address.searchParams.set('query', query);
  address.searchParams.set('variables', JSON.stringify({ id }));
  return address;
}

const restStream = (id: string) => new URL(`${test.url}/v3/enterprise/sessions/${id}/messages`);

/** The REST events in a stream's data; an event that was cut off does not count. */
function restEvents(text: string): { id: string; number: number }[] {
  return [...text.matchAll(/^id: (.+)\ndata: (.+)\n\n/gm)].map(([, id, data]) => ({
    id: id as string,
    number: Number.parseInt(JSON.parse(data as string).message, 10) || 0,
  }));
}

it('disconnects a client that stops reading, and lets it resume', { timeout: 240_000 }, async () => {
  const id = await longSession(300);
  const before = process.memoryUsage().rss;
  const [socket, silent, stream, rest] = await Promise.all([
    stalledSocket(id),
    stalledSocket(id),
    stalledStream(graphqlStream(id)),
    stalledStream(restStream(id)),
  ]);
  // A stream that is reserved and never opened is closed sooner.
  const headers = { authorization: `Bearer ${test.adminToken}` };
  expect((await fetch(`${test.url}/graphql/stream`, { method: 'PUT', headers })).status).toBe(201);
  await expect.poll(() => test.app.watches.active(), { interval: 10 }).toBe(4);
  expect(test.app.streams.count()).toEqual({ socket: 2, stream: 3 });
  // Readers beside a slow one receive everything meanwhile.
  const neighbour = follow(connect(test.url, test.adminToken), query, { id });
  expect(await neighbour.take(301)).toHaveLength(301);
  neighbour.stop();

  await expect.poll(() => test.app.streams.count(), patience).toEqual({ socket: 0, stream: 0 });
  await expect.poll(() => test.app.watches.active(), patience).toBe(0);
  // 30 MB for each would be visible.
  expect(process.memoryUsage().rss - before).toBeLessThan(300 * 1_024 * 1_024);

  const received: any[] = [];
  socket.on('message', (data) => received.push(JSON.parse(String(data)).payload));
  const closed = once(socket, 'close');
  socket.resume();
  const [code, reason] = await closed;
  expect([code, String(reason)]).toEqual([1013, 'Messages are not read']);
  expect(received.length).toBeLessThan(300);
  const { cursor } = received.at(-1).data.sessionMessages;
  const others = await follow(connect(test.url, test.adminToken), query, { id, after: cursor }).take(
    301 - received.length,
  );
  const numbers = [...received, ...others].map(({ data }) => Number.parseInt(data.sessionMessages.node.body, 10) || 0);
  expect(numbers).toEqual(Array.from({ length: 301 }, (_, n) => n));

  // Readers that never read again are disconnected.
  stream.response.resume();
  expect(await stream.cut).toBe('ECONNRESET');
  const cut = once(silent, 'close').then(([ended]) => ended);
  silent.resume();
  expect([1006, 1013]).toContain(await cut);

  // A stream of REST also continues from its position.
  const came: string[] = [];
  rest.response.setEncoding('utf8').on('data', (piece) => came.push(piece));
  rest.response.resume();
  expect(await rest.cut).toBe('ECONNRESET');
  const taken = restEvents(came.join(''));
  expect(taken.length).toBeLessThan(300);
  const again = restStream(id);
  again.searchParams.set('after', taken.at(-1)?.id ?? '');
  const { response } = await stalledStream(again);
  const after: string[] = [];
  let tail = '';
  for await (const piece of response.setEncoding('utf8')) {
    after.push(piece);
    // The complete last event may have arrived in several chunks.
    tail = (tail + piece).slice(-120_000);
    if (tail.includes('"message":"300x') && tail.endsWith('\n\n')) break;
  }
  const all = [...taken, ...restEvents(after.join(''))].map(({ number }) => number);
  expect(all).toEqual(Array.from({ length: 301 }, (_, n) => n));
});
