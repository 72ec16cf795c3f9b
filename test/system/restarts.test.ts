import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { call, graphql } from '../support/app.ts';
import { builtProgram } from '../support/programs.ts';
import { bootstrapToken, type ServerProcess, startRefused, startServer } from '../support/server.ts';
import { makeDirectory, makeServerEnv, serverSecretKey } from '../support/server-env.ts';
import { waitForSession, waitUntilEnded } from '../support/session-waits.ts';
import { createFirstSession } from '../support/sessions.ts';
import { connect, follow } from '../support/sockets.ts';
import { testDatabase } from '../support/test-store.ts';

const target = (server: ServerProcess) => ({ url: server.url, adminToken: bootstrapToken });

const create = (server: ServerProcess, prompt: string) => createFirstSession(server, bootstrapToken, prompt);

const messagesQuery =
  'subscription($id: ID!, $after: String) { sessionMessages(sessionId: $id, after: $after) { cursor node { seq body } } }';

it('delivers every message once and in order to a client that reconnects 50 times, through two kills of the server', async () => {
  const env = await makeServerEnv();
  let server = await startServer(env);
  const lines = Array.from({ length: 40 }, (_, n) => `say line ${n}\nsleep 0.1`).join('\n');
  const id = await create(server, lines);
  const received: { seq: number; body: string }[] = [];
  let after: string | undefined;
  let connections = 0;
  const receive = async (count: number) => {
    const client = connect(server.url, bootstrapToken);
    const following = follow(client, messagesQuery, { id, after });
    connections += 1;
    for (const payload of await following.take(count)) {
      received.push(payload.data.sessionMessages.node);
      after = payload.data.sessionMessages.cursor;
    }
    // Killed instead of closed: messages in transit are lost, and must be sent again from the cursor.
    client.terminate();
  };
  for (let n = 0; n < 50; n++) {
    if (n === 12 || n === 24) {
      await server.kill();
      server = await startServer(env);
    }
    await receive(1);
  }
  await waitUntilEnded(target(server), id);
  const { data } = await graphql(
    server,
    bootstrapToken,
    'query($id: ID!) { session(id: $id) { messages(first: 100) { nodes { seq body } pageInfo { hasNextPage } } events(first: 100, kinds: [STATUS, TURN]) { nodes { seq } } } }',
    { id },
  );
  const stored = data.session.messages.nodes;
  if (stored.length > received.length) await receive(stored.length - received.length);
  expect(connections).toBeGreaterThanOrEqual(50);
  expect(data.session.messages.pageInfo.hasNextPage).toBe(false);
  expect(received).toEqual(stored);
  expect(await server.stop()).toBe(0);
}, 240_000);

it('continues a session that waits for its provider, once, although the server was killed in the wait', async () => {
  const clock = join(makeDirectory(), 'offset');
  writeFileSync(clock, '0');
  const movable = { NODE_OPTIONS: `--import ${pathToFileURL(builtProgram('moved-clock')).href}`, MOVED_CLOCK: clock };
  const env = { ...(await makeServerEnv()), ...movable };
  let server = await startServer(env);
  const id = await create(server, 'refuse 429 Please retry in 3600s.');
  await waitForSession(target(server), id, ({ statusDetail }) => statusDetail === 'WAITING_FOR_QUOTA');
  const read = async () => {
    const fields = 'waitsUntil events(first: 50, kinds: [TURN, NOTICE]) { nodes { ... on TurnEvent { phase } } }';
    const { data } = await graphql(server, bootstrapToken, `query($id: ID!) { session(id: $id) { ${fields} } }`, {
      id,
    });
    return data.session;
  };
  const before = await read();
  expect(before.waitsUntil).not.toBeNull();
  await server.kill();
  server = await startServer(env);
  expect(await read()).toEqual(before);
  // Written atomically, because the server may read it at any moment.
  writeFileSync(`${clock}.new`, '3600000');
  renameSync(`${clock}.new`, clock);
  // The agent refuses again.
  while ((await read()).events.nodes.length < 2 * before.events.nodes.length) await setImmediate();
  const after = await read();
  expect(Date.parse(after.waitsUntil)).toBeGreaterThan(Date.parse(before.waitsUntil));
  expect(after.events.nodes).toEqual([...before.events.nodes, ...before.events.nodes]);
  expect(await server.stop()).toBe(0);
}, 240_000);

it('prints the introduction once, at the first start, with working curl commands', async () => {
  const env = await makeServerEnv();
  const [first, another] = await Promise.all([
    startServer({ ...env, BOOTSTRAP_TOKEN: '' }),
    startServer({ ...(await makeServerEnv()), BOOTSTRAP_TOKEN: '' }),
  ]);
  const text = first.output();
  const printedBy = (server: ServerProcess) =>
    new Set(server.output().match(/(?<=apk_user_|cog_|org-|#link=)[\w-]{20,}/g));
  expect(printedBy(first).size).toBe(4);
  // Both start with a copy of the same database (docs/decisions/0012), but have their own data.
  expect([...printedBy(another)].filter((each) => printedBy(first).has(each))).toEqual([]);
  expect(printedBy(another).size).toBe(4);
  await another.stop();
  const v1Key = /apk_user_[a-z2-7]{52}/.exec(text)?.[0] ?? '';
  const adminToken = /cog_[a-z2-7]{52}/.exec(text)?.[0] ?? '';
  expect(text).toMatch(/org-[0-9a-f]{32}/);
  expect(text.match(/^curl /gm)).toHaveLength(4);
  const self = await call(first, adminToken, 'GET', '/v3/self');
  expect(self.body).toMatchObject({ principal_type: 'service_user', org_id: null });
  expect((await call(first, v1Key, 'GET', '/v1/sessions')).body).toEqual({ sessions: [] });
  for (const path of ['/healthz', '/readyz']) expect((await fetch(first.url + path)).status).toBe(200);
  if (testDatabase === 'pglite') {
    expect(statSync(join(env.DATA_DIR ?? '', 'secret.key')).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(env.DATA_DIR ?? '', 'secret.key'), 'utf8').trim().length).toBeGreaterThan(40);
  }
  expect(await first.stop()).toBe(0);
  const second = await startServer({ ...env, BOOTSTRAP_TOKEN: '' });
  expect(second.output()).not.toContain('cog_');
  expect((await call(second, v1Key, 'GET', '/v1/sessions')).status).toBe(200);
  const refused = await startRefused({ ...env, PORT: '0' });
  expect(refused.code).toBe(1);
  expect(refused.output).toContain('is in use by another Switchyard process');
  await second.stop();
}, 240_000);

it('refuses a database that belongs to another SECRET_KEY', async () => {
  const env = { ...(await makeServerEnv()), SECRET_KEY: serverSecretKey };
  const first = await startServer(env);
  // The log of a container is read by others than the operator who gave the token.
  expect(first.output()).toContain('that of BOOTSTRAP_TOKEN');
  expect(first.output()).not.toContain(bootstrapToken);
  await first.stop();
  const refused = await startRefused({ ...env, SECRET_KEY: 'quite another key of enough length' });
  expect(refused.code).toBe(1);
  expect(refused.output).toContain('SECRET_KEY is not the one');
  const rotated = await startServer({
    ...env,
    SECRET_KEY: 'quite another key of enough length',
    SECRET_KEY_PREVIOUS: serverSecretKey,
  });
  expect((await call(rotated, bootstrapToken, 'GET', '/v3/self')).status).toBe(200);
  await rotated.stop();
}, 240_000);
