import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { expect, it, onTestFinished } from 'vitest';
import { graphql } from '../support/app.ts';
import { startReceiver } from '../support/receiver.ts';
import { bootstrapToken, freePort, type ServerProcess, startServer } from '../support/server.ts';
import { firstOrganizationId } from '../support/sessions.ts';
import { createDatabase, testDatabase } from '../support/test-store.ts';

async function makeEnv(): Promise<Record<string, string>> {
  const dataDir = mkdtempSync(join(tmpdir(), 'switchyard-webhooks-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
  const database =
    testDatabase === 'postgres'
      ? { DATABASE_URL: await createDatabase(), SECRET_KEY: 'a secret key for kills '.repeat(2) }
      : {};
  const settings = { ROLES: 'api,scheduler', WEBHOOK_ALLOW_PRIVATE: 'true', LOG_LEVEL: 'warn' };
  return { DATA_DIR: dataDir, PORT: String(await freePort()), ...settings, ...database };
}

async function mutate(server: ServerProcess, document: string, input: object): Promise<any> {
  const { data, errors } = await graphql(server, bootstrapToken, document, { input });
  if (errors) throw new Error(JSON.stringify(errors));
  return Object.values(data)[0];
}

async function createSession(server: ServerProcess, prompt: string): Promise<string> {
  const document =
    'mutation($input: CreateSessionInput!) { createSession(input: $input) { session { sessionId } userErrors { message } } }';
  const organizationId = await firstOrganizationId(server, bootstrapToken);
  return (await mutate(server, document, { organizationId, prompt })).session.sessionId;
}

it('loses nothing when the process is killed, and sends every event under the same id', async () => {
  const env = await makeEnv();
  let server = await startServer(env);
  const receiver = await startReceiver();
  const made = await mutate(
    server,
    'mutation($input: CreateWebhookEndpointInput!) { createWebhookEndpoint(input: $input) { secret userErrors { message } } }',
    {
      organizationId: await firstOrganizationId(server, bootstrapToken),
      url: receiver.url,
      eventTypes: ['SESSION_MESSAGE'],
    },
  );
  const sessions: string[] = [];
  for (let n = 0; n < 10; n++) sessions.push(await createSession(server, `say ${n}`));
  await receiver.waitFor((all) => all.length >= 5);
  // The receiver accepts the current delivery, but its response is lost.
  receiver.answer((response) => {
    void server.kill();
    response.destroy();
  });
  const count = receiver.received.length;
  const more = createSession(server, 'say the last').catch(() => null);
  await receiver.waitFor((all) => all.length > count);
  const last = await more;
  if (last !== null) sessions.push(last);
  await server.kill();
  receiver.answer((response) => void response.writeHead(204).end());
  server = await startServer(env);
  sessions.push(await createSession(server, 'say after'));

  const isNotified = (id: string) => receiver.received.some(({ body }) => body.data.sessionId === id);
  await receiver.waitFor(
    (all) => sessions.every(isNotified) && all.some(({ body }) => body.data.message === 'say after'),
  );
  const idsOf = new Map<string, Set<unknown>>();
  for (const { headers, text, body } of receiver.received) {
    new Webhook(made.secret).verify(text, headers as Record<string, string>);
    const { sessionId } = body.data;
    idsOf.set(sessionId, (idsOf.get(sessionId) ?? new Set()).add(headers['webhook-id']));
  }
  expect([...idsOf.values()].map(({ size }) => size)).toEqual([...idsOf].map(() => 1));
  // An interrupted delivery is repeated after its timeout.
  const cut = receiver.received[count];
  const again = await receiver.waitFor(
    (all) => all.filter(({ headers }) => headers['webhook-id'] === cut?.headers['webhook-id']).length > 1,
  );
  expect(
    new Set(again.filter(({ body }) => body.data.sessionId === cut?.body.data.sessionId).map(({ text }) => text)).size,
  ).toBe(1);
  expect(await server.stop()).toBe(0);
}, 240_000);
