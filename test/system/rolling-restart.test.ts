import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { graphql } from '../support/app.ts';
import { openStream } from '../support/event-stream.ts';
import { bootstrapToken, freePort, type ServerProcess, startServer } from '../support/server.ts';
import { firstOrganizationId } from '../support/sessions.ts';
import { connect, follow } from '../support/sockets.ts';
import { createDatabase, testDatabase } from '../support/test-store.ts';

const clients = 200;
const sessions = 4;
const perSession = 60;

/** Returns the environments of one server, or of two on one PostgreSQL behind a load balancer. */
async function environments(): Promise<Record<string, string>[]> {
  const shared: Record<string, string> =
    testDatabase === 'postgres'
      ? { DATABASE_URL: await createDatabase(), SECRET_KEY: 'the same secret key at every start' }
      : {};
  const limits = { MAX_SOCKETS: String(clients * 2), RATE_LIMIT_GRAPHQL: '0' };
  return Promise.all(
    Array.from({ length: testDatabase === 'postgres' ? 2 : 1 }, async () => {
      const dataDir = mkdtempSync(join(tmpdir(), 'switchyard-rolling-'));
      onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
      const port = String(await freePort());
      return { DATA_DIR: dataDir, PORT: port, ROLES: 'api', LOG_LEVEL: 'error', ...shared, ...limits };
    }),
  );
}

const query =
  'subscription($id: ID!, $after: String) { sessionMessages(sessionId: $id, after: $after) { cursor node { body } } }';

/** The entries that one reader received over all of its connections. */
interface Reader {
  readonly id: string;
  readonly bodies: string[];
  connections: number;
}

// Like a client of several servers: it tries the next server from its last cursor until it has everything.
async function read(reader: Reader, n: number, urls: readonly string[], count: number): Promise<void> {
  let after: string | undefined;
  while (reader.bodies.length < count) {
    const url = urls[(n + reader.connections) % urls.length] as string;
    reader.connections += 1;
    try {
      const variables = { id: reader.id, after };
      const stream =
        n % 4 === 0
          ? await openStream(url, bootstrapToken, query, variables)
          : follow(connect(url, bootstrapToken), query, variables);
      while (reader.bodies.length < count) {
        const [payload] = await stream.take(1);
        after = payload.data.sessionMessages.cursor;
        reader.bodies.push(payload.data.sessionMessages.node.body);
      }
    } catch {
      // The stream ended, or nobody listens: the server restarts.
      await wait(100);
    }
  }
}

async function send(servers: readonly ServerProcess[], document: string, input: object): Promise<any> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      const { url } = servers[attempt % servers.length] as ServerProcess;
      const { data } = await graphql({ url }, bootstrapToken, document, { input });
      return data;
    } catch (error) {
      if (attempt > 300) throw error;
      await wait(50);
    }
  }
}

it('delivers every message once and in order to 200 readers over a rolling restart', { timeout: 180_000 }, async () => {
  const envs = await environments();
  // Sequentially: the first one creates the database's content.
  const servers: ServerProcess[] = [];
  for (const env of envs) servers.push(await startServer(env));
  const urls = servers.map(({ url }) => url);
  const organizationId = await firstOrganizationId({ url: urls[0] ?? '' }, bootstrapToken);
  const ids: string[] = [];
  for (let n = 0; n < sessions; n += 1) {
    const data = await send(
      servers,
      'mutation($input: CreateSessionInput!) { createSession(input: $input) { session { sessionId } } }',
      { organizationId, prompt: 'first' },
    );
    ids.push(data.createSession.session.sessionId);
  }
  const readers = Array.from({ length: clients }, (_, n): Reader => {
    return { id: ids[n % sessions] as string, bodies: [], connections: 0 };
  });
  const reading = readers.map((reader, n) => read(reader, n, urls, perSession + 1));

  const writing = (async () => {
    for (let n = 0; n < perSession; n += 1) {
      for (const sessionId of ids) {
        // A message that was accepted, but whose response was lost, is not written again.
        const input = { sessionId, body: `m${n}`, idempotencyKey: `${sessionId}-${n}` };
        await send(
          servers,
          'mutation($input: SendMessageInput!) { sendMessage(input: $input) { message { seq } userErrors { message } } }',
          input,
        );
      }
    }
  })();
  for (const [n, env] of envs.entries()) {
    expect(await servers[n]?.stop()).toBe(0);
    servers[n] = await startServer(env);
  }
  await writing;
  await Promise.all(reading);
  const expected = ['first', ...Array.from({ length: perSession }, (_, n) => `m${n}`)];
  for (const { bodies } of readers) expect(bodies).toEqual(expected);
  // Each reader was disconnected at least once.
  expect(Math.min(...readers.map(({ connections }) => connections))).toBeGreaterThan(1);
  for (const server of servers) expect(await server.stop()).toBe(0);
});
