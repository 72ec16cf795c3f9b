import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from 'graphql-ws';
import { afterEach, it as always, beforeEach, expect, vi } from 'vitest';
import { WebSocket } from 'ws';
import { call, graphql } from '../support/app.ts';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import { bootstrapToken, type ServerProcess, startServer } from '../support/server.ts';
import { connect, follow } from '../support/sockets.ts';
import { createDatabase, testDatabase } from '../support/test-store.ts';

const it = always.skipIf(testDatabase !== 'postgres');

const patience = { timeout: 40_000 };

let dataDir: string;
let proxy: FaultProxy;
let server: ServerProcess;
beforeEach(async () => {
  if (testDatabase !== 'postgres') return;
  dataDir = await mkdtemp(join(tmpdir(), 'switchyard-outages-'));
  proxy = await startFaultProxy(await createDatabase());
  server = await startServer({
    DATA_DIR: dataDir,
    DATABASE_URL: proxy.databaseUrl,
    SECRET_KEY: 'a secret key that is only for the tests',
    PORT: '0',
    ROLES: 'api,scheduler',
    DATABASE_CONNECT_TIMEOUT_SECONDS: '2',
    DATABASE_STATEMENT_TIMEOUT_SECONDS: '3',
  });
});
afterEach(async () => {
  if (testDatabase !== 'postgres') return;
  proxy.accept();
  proxy.heal();
  expect(await server.stop()).toBe(0);
  await proxy.close();
  await rm(dataDir, { recursive: true, force: true });
});

const organizations = '{ organizations(first: 1) { nodes { id } } }';
const create = `mutation($input: CreateSessionInput!) { createSession(input: $input) { session { sessionId } } }`;
const send = `mutation($input: SendMessageInput!) { sendMessage(input: $input) { message { seq } } }`;
const messages = 'subscription($id: ID!) { sessionMessages(sessionId: $id) { cursor node { seq body } } }';

const ask = (query: string, variables = {}) => call(server, bootstrapToken, 'POST', '/graphql', { query, variables });
const readiness = async () => {
  const response = await fetch(`${server.url}/readyz`);
  return { status: response.status, text: await response.text() };
};
const waitUntilReady = () => vi.waitFor(async () => expect((await readiness()).status).toBe(200), patience);

async function createSession(): Promise<{ id: string; organizationId: string }> {
  const { data } = await graphql(server, bootstrapToken, organizations);
  const organizationId = data.organizations.nodes[0].id as string;
  const input = { prompt: 'say hello', organizationId };
  const made = await graphql(server, bootstrapToken, create, { input });
  return { id: made.data.createSession.session.sessionId, organizationId };
}

it('answers 503 with Retry-After in each API while the database refuses, and recovers after it', async () => {
  const { id, organizationId } = await createSession();
  const paths = [
    ['GET', `/v1/sessions`],
    ['GET', '/v2/enterprise/audit-logs'],
    ['GET', `/v3/organizations/${organizationId}/sessions`],
    ['GET', `/v3/organizations/${organizationId}/sessions/${id}`],
  ] as const;
  const reading = () => ask(organizations);
  const writing = () => ask(send, { input: { sessionId: id, body: 'more', idempotencyKey: 'one' } });
  // Each twice: the second query runs a known, compiled operation.
  expect([(await reading()).status, (await reading()).status]).toEqual([200, 200]);

  proxy.refuse();
  for (const operation of [reading, reading, writing]) {
    const { status, headers, body } = await operation();
    expect(status).toBe(503);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    expect(body.errors[0].extensions).toEqual({ code: 'SERVICE_UNAVAILABLE', retryAfter: expect.any(Number) });
    expect(body.errors[0].message).toContain('The database isn’t responding.');
  }
  for (const [method, path] of paths) {
    const token = path.startsWith('/v3') ? bootstrapToken : (/apk_user_\w+/.exec(server.output())?.[0] ?? null);
    const { status, headers, body } = await call(server, token, method, path);
    expect([path, status]).toEqual([path, 503]);
    expect(headers.get('retry-after')).toBe(String(body.retry_after));
    expect(body.detail).toContain('The database isn’t responding.');
    if (path.startsWith('/v3')) expect(headers.get('content-type')).toBe('application/problem+json');
  }
  const signIn = await fetch(`${server.url}/console/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'switchyard-client': 'console', origin: server.url },
    body: JSON.stringify({ token: bootstrapToken }),
  });
  expect(signIn.status).toBe(503);
  expect(signIn.headers.get('retry-after')).not.toBeNull();
  expect(await readiness()).toEqual({ status: 503, text: 'the database does not answer\n' });
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200);

  proxy.accept();
  await waitUntilReady();
  expect((await reading()).status).toBe(200);
  expect((await writing()).body.data.sendMessage.message.seq).toBeGreaterThan(1);
});

it('logs an outage at most once a second, and its end once', async () => {
  const before = server.output().length;
  proxy.refuse();
  await Promise.all(Array.from({ length: 60 }, () => ask(organizations)));
  proxy.accept();
  await vi.waitFor(() => expect(server.output()).toContain('The database is available again.'), patience);
  const lines = server
    .output()
    .slice(before)
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as { level: number; msg: string; failures?: number; time: number });
  const warnings = lines.filter(({ level }) => level >= 40);
  expect(warnings[0]?.msg).toBe('The database is unavailable.');
  expect(warnings.at(-1)?.msg).toBe('The database is available again.');
  expect(warnings.at(-1)?.failures).toBeGreaterThanOrEqual(60);
  for (const { msg } of warnings) expect(msg).toMatch(/^The database is (?:un|still un)?available(?: again)?\.$/);
  const times = warnings.slice(0, -1).map(({ time }) => time);
  for (const [n, time] of times.entries()) if (n > 0) expect(time - (times[n - 1] as number)).toBeGreaterThan(900);
});

it('closes a new subscription in an outage so that clients retry, and loses no event of the others', async () => {
  const { id } = await createSession();
  const under = follow(connect(server.url, bootstrapToken), messages, { id });
  await under.take(1);
  // A socket that is already open, and a new one.
  const open = connect(server.url, bootstrapToken);
  await follow(open, messages, { id }).take(1);

  proxy.refuse();
  const [late, fresh] = [open, connect(server.url, bootstrapToken)].map((client) => follow(client, messages, { id }));
  expect(await late?.ended).toMatchObject({ code: 1013 });
  // To the client, an upgrade that is refused with 503 is an abnormal closure; an accepted socket is closed with 1013.
  await fresh?.ended;
  const wsClient = createClient({
    url: `${server.url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    retryAttempts: 1_000,
    retryWait: () => new Promise((resolve) => setTimeout(resolve, 100)),
    connectionParams: { authorization: `Bearer ${bootstrapToken}` },
  });
  const nextMessage = new Promise((resolve, reject) => {
    wsClient.subscribe(
      { query: messages, variables: { id } },
      { next: resolve, error: reject, complete: () => undefined },
    );
  });

  proxy.accept();
  await waitUntilReady();
  expect(await nextMessage).toMatchObject({ data: { sessionMessages: { node: { body: 'say hello' } } } });
  await wsClient.dispose();
  for (const text of ['two', 'three'])
    await vi.waitFor(async () => {
      const { body } = await ask(send, { input: { sessionId: id, body: text, idempotencyKey: text } });
      expect(body.errors).toBeUndefined();
    }, patience);
  const payloads = await under.take(2);
  expect(payloads.map(({ data }) => data.sessionMessages.node.body)).toEqual(['two', 'three']);
});

it('answers within the timeouts during a network black hole, and at once after it', async () => {
  const { id } = await createSession();
  const following = follow(connect(server.url, bootstrapToken), messages, { id });
  await following.take(1);
  proxy.hold();
  // More than the number of connections: requests that wait for a connection are answered too.
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, n) =>
      ask(send, { input: { sessionId: id, body: `m${n}`, idempotencyKey: `key ${n}` } }),
    ),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]));
  expect(await readiness()).toEqual({ status: 503, text: 'the database does not answer\n' });
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
  proxy.heal();
  await waitUntilReady();
  for (let n = 0; n < 30; n++)
    await vi.waitFor(async () => {
      const { status } = await ask(send, { input: { sessionId: id, body: `m${n}`, idempotencyKey: `key ${n}` } });
      expect(status).toBe(200);
    }, patience);
  // Each message once, no matter when it was written: during the outage or after it.
  const bodies = (await following.take(30)).map(({ data }) => data.sessionMessages.node.body);
  expect(bodies.toSorted()).toEqual(Array.from({ length: 30 }, (_, n) => `m${n}`).toSorted());
});
