import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import type { WebSocket } from 'ws';
import { graphql } from '../support/app.ts';
import { hostileOperations, hostileText } from '../support/hostile-operations.ts';
import { bootstrapToken, type ServerProcess, startServer } from '../support/server.ts';
import { firstOrganizationId } from '../support/sessions.ts';
import { rawSocket } from '../support/sockets.ts';
import { createDatabase, testDatabase } from '../support/test-store.ts';

const directory = mkdtempSync(join(tmpdir(), 'switchyard-hostile-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** The maximum memory of everything together, beyond the idle service. */
const maxMegabytes = 400;
const subscription = 'subscription($id: ID!) { sessionMessages(sessionId: $id) { cursor node { body } } }';

/** Matches a refusal over HTTP or WebSocket. */
const isRefused = /^closed|"type":"error"|"errors":\[|"userErrors":\[\{/;

/** Returns the peak memory of a process in MB. */
function peak({ pid }: ServerProcess): number {
  const [, kilobytes] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Math.round(Number(kilobytes) / 1_024);
}

async function post(server: ServerProcess, body: string): Promise<{ status: number; text: string }> {
  const response = await fetch(`${server.url}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${bootstrapToken}`, 'content-type': 'application/json' },
    body,
  });
  return { status: response.status, text: await response.text() };
}

async function openSocket(server: ServerProcess): Promise<WebSocket> {
  const socket = rawSocket(server.url);
  socket.on('error', () => undefined);
  await once(socket, 'open');
  socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: bootstrapToken } }));
  await once(socket, 'message');
  return socket;
}

/** Returns the response to an operation on a separate socket, or the code that closed it. */
async function sendOnSocket(server: ServerProcess, text: string): Promise<string> {
  const socket = await openSocket(server);
  const answer = new Promise<string>((resolve) => {
    socket.once('message', (data) => resolve(String(data)));
    socket.once('close', (code) => resolve(`closed ${code}`));
  });
  socket.send(text);
  const message = await answer;
  socket.terminate();
  return message;
}

/**
 * A session with 5,000 messages of 100 KB. It resolves after the first 100, which is more than a client that does not
 * read can buffer; `written` resolves after the others.
 */
async function hugeSession(
  server: ServerProcess,
  databaseUrl: string,
): Promise<{ id: string; written: Promise<unknown> }> {
  const organizationId = await firstOrganizationId(server, bootstrapToken);
  const create = `mutation { createSession(input: {organizationId: "${organizationId}", prompt: "say hello"}) { session { sessionId } } }`;
  const { data } = await graphql(server, bootstrapToken, create);
  const id = data.createSession.session.sessionId.replace('devin-', '');
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const write = (first: number, last: number) =>
    client.query(
      `insert into log_entry (session_id, seq, id, kind, message_type, body, created_at)
       select $1, n + 1000, md5($1 || n), 'MESSAGE', 'agent_message', n || repeat('x', 100000), now()
         from generate_series($2::int, $3::int) n`,
      [id, first, last],
    );
  await write(1, 100);
  await client.query('update session_head set next_seq = 9000 where session_id = $1', [id]);
  return { id, written: write(101, 5_000).finally(() => client.end()) };
}

/** A stream of server-sent events that is not read. Resolves, once it is read again, with the code of the error that ended it. */
async function stalledStream(address: URL): Promise<() => Promise<string>> {
  const headers = { authorization: `Bearer ${bootstrapToken}`, accept: 'text/event-stream' };
  const response = await new Promise<IncomingMessage>((resolve) => get(address, { headers }, resolve));
  onTestFinished(() => void response.destroy());
  const ended = new Promise<string>((resolve) => {
    response.on('error', ({ code }: NodeJS.ErrnoException) => resolve(code ?? 'none')).on('end', () => resolve('end'));
  });
  response.pause();
  return () => {
    response.resume();
    return ended;
  };
}

// Nothing else can write 500 MB of messages to the embedded database.
it.skipIf(testDatabase !== 'postgres')('survives all of it, with bounded memory', { timeout: 240_000 }, async () => {
  const databaseUrl = await createDatabase();
  const secretKey = 'a secret key that is only for the tests';
  const env = { DATA_DIR: directory, PORT: '0', DATABASE_URL: databaseUrl, SECRET_KEY: secretKey, ROLES: 'api' };
  const server = await startServer({ ...env, LOG_LEVEL: 'error', RATE_LIMIT_GRAPHQL: '0' });
  const { id, written } = await hugeSession(server, databaseUrl);
  const variables = { id };
  const before = peak(server);
  const figures: Record<string, { http: string; socket: string; ms: number; peakMB: number }> = {};

  // Clients that stop reading: five sockets of 20 subscriptions each, and five streams of GraphQL and of REST each. The
  // other messages arrive meanwhile.
  const stalled = await Promise.all(Array.from({ length: 5 }, () => openSocket(server)));
  for (const socket of stalled) {
    socket.pause();
    for (let n = 0; n < 20; n++) {
      socket.send(JSON.stringify({ type: 'subscribe', id: `${n}`, payload: { query: subscription, variables } }));
    }
  }
  const address = new URL(`${server.url}/graphql`);
  address.searchParams.set('query', subscription);
  address.searchParams.set('variables', JSON.stringify(variables));
  const ofRest = new URL(`${server.url}/v3/enterprise/sessions/devin-${id}/messages`);
  const streams = await Promise.all(
    Array.from({ length: 10 }, (_, n) => stalledStream(n % 2 === 0 ? address : ofRest)),
  );
  const stalledAt = performance.now();

  const durations: Record<'allowed' | 'refused', number[]> = { allowed: [], refused: [] };
  for (const [what, operation] of Object.entries(hostileOperations)) {
    const startedAt = performance.now();
    const { status, text } = await post(server, hostileText(operation));
    const between = performance.now();
    const message = hostileText(operation, (payload) => `{"type":"subscribe","id":"1","payload":${payload}}`);
    const socketAnswer = await sendOnSocket(server, message);
    const isAllowed = what.endsWith('as is allowed');
    expect({ what, hasErrors: isRefused.test(text) }).toEqual({ what, hasErrors: !isAllowed });
    expect({ what, isSocketRefused: isRefused.test(socketAnswer) }).toEqual({ what, isSocketRefused: !isAllowed });
    const ms = Math.max(between - startedAt, performance.now() - between);
    (isAllowed ? durations.allowed : durations.refused).push(ms);
    expect(text).not.toContain('"code":"INTERNAL_SERVER_ERROR"');
    figures[what] = {
      http: `${status}, ${Math.round(between - startedAt)} ms`,
      socket: socketAnswer.startsWith('closed') ? socketAnswer : 'answered',
      ms: Math.round(performance.now() - between),
      peakMB: peak(server),
    };
  }

  // The most that is allowed is the measure of this machine: a refusal costs less.
  expect(Math.max(...durations.refused)).toBeLessThan(Math.max(...durations.allowed));

  const document = JSON.stringify({ query: `{ __typename } # ${'x'.repeat(10_000_000)}` });
  const large = await post(server, document).then(
    ({ status }) => String(status),
    () => 'cut off',
  );
  expect(['413', 'cut off']).toContain(large);
  const largeOnSocket = await sendOnSocket(server, document);
  expect(largeOnSocket).toBe('closed 1009');
  figures['a document of 10 MB'] = { http: large, socket: largeOnSocket, ms: 0, peakMB: peak(server) };

  // 10,000 on one socket: 100 are accepted, and only the others are refused.
  const socket = await openSocket(server);
  const counts = { next: 0, error: 0 };
  const live = new Set<string>();
  const answered = new Promise<void>((resolve) => {
    socket.on('message', (data) => {
      const message = JSON.parse(String(data)) as { type: 'next' | 'error'; id: string };
      if (message.type === 'next') live.add(message.id);
      counts[message.type] += 1;
      if (counts.error === 9_900) resolve();
    });
  });
  const startedAt = performance.now();
  const query = 'subscription($id: ID!) { sessionUpdated(sessionId: $id) { title } }';
  for (let n = 0; n < 10_000; n++) {
    socket.send(JSON.stringify({ type: 'subscribe', id: `${n}`, payload: { query, variables } }));
  }
  await answered;
  expect(live.size).toBeLessThanOrEqual(100);
  figures['10,000 subscribes on one socket'] = {
    http: '',
    socket: `${counts.error} refused`,
    ms: Math.round(performance.now() - startedAt),
    peakMB: peak(server),
  };
  socket.terminate();

  // A socket that does not read is closed with a code that its client sees once it reads; a stream is aborted.
  await written;
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, 20_000 - (performance.now() - stalledAt))));
  const codes = await Promise.all(
    stalled.map((each) => {
      const closed = once(each, 'close').then(([code]) => code as number);
      each.resume();
      return closed;
    }),
  );
  expect(codes).toEqual(stalled.map(() => 1013));
  const ends = await Promise.all(streams.map((readAgain) => readAgain()));
  expect(ends).toEqual(streams.map(() => 'ECONNRESET'));
  figures['5 sockets and 10 streams that do not read 5,000 × 100 KB'] = {
    http: 'cut off',
    socket: codes.join(', '),
    ms: Math.round(performance.now() - stalledAt),
    peakMB: peak(server),
  };

  const lines = Object.entries(figures).map(([what, { http, socket: socketResult, ms, peakMB }]) =>
    [
      what.padEnd(56),
      http.padEnd(14),
      socketResult.padEnd(30),
      `${ms} ms`.padStart(9),
      `${peakMB} MB`.padStart(7),
    ].join('  '),
  );
  process.stdout.write(`${lines.join('\n')}\nAt its highest ${peak(server)} MB; before all of this ${before} MB.\n`);
  expect(peak(server) - before).toBeLessThan(maxMegabytes);
  expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
  const { data } = await graphql(server, bootstrapToken, '{ viewer { principalType } }');
  expect(data.viewer.principalType).toBe('SERVICE_USER');
  expect(await server.stop()).toBe(0);
  expect(server.output()).not.toContain('"level":50');
});
