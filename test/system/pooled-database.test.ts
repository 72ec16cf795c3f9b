import { it as always, expect, onTestFinished, vi } from 'vitest';
import { call, graphql } from '../support/app.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { pgbouncer, startPooler } from '../support/pooler.ts';
import { bootstrapToken, startServer } from '../support/server.ts';
import { makeServerEnv } from '../support/server-env.ts';
import { connect, follow } from '../support/sockets.ts';
import { testDatabase } from '../support/test-store.ts';

const it = always.skipIf(testDatabase !== 'postgres' || !pgbouncer);

const patience = { timeout: 40_000 };
const organizations = '{ organizations(first: 1) { nodes { id } } }';
const create = `mutation($input: CreateSessionInput!) { createSession(input: $input) { session { sessionId } } }`;
const send = `mutation($input: SendMessageInput!) { sendMessage(input: $input) { message { seq } } }`;
const messages = 'subscription($id: ID!) { sessionMessages(sessionId: $id) { cursor node { seq body } } }';

it('runs sessions behind a pooler in transaction mode, and answers 503 while the pooler is away', async () => {
  const env = await makeServerEnv();
  const databaseUrl = env.DATABASE_URL as string;
  // Fewer connections than the service has clients.
  const proxy = await startFaultProxy(await startPooler('transaction', { databaseUrl, maxServers: 2 }));
  onTestFinished(() => proxy.close());
  const server = await startServer({
    ...env,
    DATABASE_URL: proxy.databaseUrl,
    DATABASE_DIRECT_URL: databaseUrl,
    BOOTSTRAP_TOKEN: bootstrapToken,
    DATABASE_CONNECT_TIMEOUT_SECONDS: '2',
    SANDBOX: 'none',
  });
  onTestFinished(async () => {
    await server.stop();
  });
  const { data } = await graphql(server, bootstrapToken, organizations);
  const organizationId = data.organizations.nodes[0].id as string;
  const ids = await Promise.all(
    Array.from({ length: 8 }, async (_, n) => {
      const input = { prompt: `say hello ${n}`, organizationId };
      const made = await graphql(server, bootstrapToken, create, { input });
      return made.data.createSession.session.sessionId as string;
    }),
  );
  const bodiesOf = async (id: string, count: number) => {
    const taken = await follow(connect(server.url, bootstrapToken), messages, { id }).take(count);
    return taken.map(({ data }) => data.sessionMessages.node.body as string);
  };
  // The notification of an agent's message comes by way of the direct connection.
  for (const [n, id] of ids.entries()) expect(await bodiesOf(id, 2)).toEqual([`say hello ${n}`, `hello ${n}`]);

  const [id] = ids as [string];
  const followed = follow(connect(server.url, bootstrapToken), messages, { id });
  await followed.take(2);
  proxy.refuse();
  const refused = await call(server, bootstrapToken, 'GET', `/v3/organizations/${organizationId}/sessions`);
  expect(refused.status).toBe(503);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await fetch(`${server.url}/readyz`)).status).toBe(503);
  proxy.accept();
  await vi.waitFor(async () => expect((await fetch(`${server.url}/readyz`)).status).toBe(200), patience);
  const input = { sessionId: id, body: 'say again', idempotencyKey: 'once' };
  await graphql(server, bootstrapToken, send, { input });
  expect((await followed.take(2)).map(({ data }) => data.sessionMessages.node.body)).toEqual(['say again', 'again']);
});
