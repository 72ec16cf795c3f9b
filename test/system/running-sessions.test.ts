import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findByEnvironment, signalProcess } from '../../src/agents/sandbox/process-identity.ts';
import { call, graphql, startApp, type TestApp } from '../support/app.ts';
import { writeProfiles } from '../support/profiles.ts';
import {
  readEvents,
  readMessages,
  waitForSession,
  waitUntilEnded,
  waitUntilWaiting,
} from '../support/session-waits.ts';
import { createSession } from '../support/sessions.ts';

let test: TestApp;
beforeAll(async () => {
  const agentsConfig = await writeProfiles({ retry_delays_ms: [0, 0] });
  test = await startApp({ roles: ['api', 'worker'], agentsConfig, maxConcurrentSessions: 3 });
});
afterAll(() => test.close());

const send = (id: string, message: string) =>
  graphql(
    test,
    test.adminToken,
    'mutation($input: SendMessageInput!) { sendMessage(input: $input) { message { seq } userErrors { message } } }',
    {
      input: { sessionId: id, body: message },
    },
  );
const agentsOf = (id: string) => findByEnvironment({ SWITCHYARD_RUN: id });

it('runs a prompt to its end, and keeps the file in the workspace', async () => {
  const id = await createSession(test, { prompt: 'Please write about trains into trains.txt' });
  expect(await waitUntilEnded(test, id)).toMatchObject({
    status: 'EXIT',
    statusDetail: 'FINISHED',
    title: expect.stringContaining('Demo:'),
  });
  const messages = await readMessages(test, id);
  expect(messages[0]).toBe('INITIAL_USER_MESSAGE: Please write about trains into trains.txt');
  expect(messages.at(-1)).toContain('trains.txt');
  const workspace = join(test.dataDir, 'sessions', id, 'ws');
  expect(readdirSync(workspace).sort()).toEqual(['.session', 'trains.txt']);
  expect(readFileSync(join(workspace, 'trains.txt'), 'utf8')).toContain('about trains');
  const events = await readEvents(test, id);
  expect(events.map((event) => event.seq)).toEqual(events.map((_, n) => n + 1));
  expect(events.filter((event) => event.kind === 'STATUS').map((event) => event.status)).toEqual([
    'NEW',
    'CLAIMED',
    'RUNNING',
    'EXIT',
  ]);
});

it('keeps a given title', async () => {
  const id = await createSession(test, { prompt: 'Write something', title: 'Mine' });
  expect(await waitUntilEnded(test, id)).toMatchObject({ title: 'Mine' });
});

it('resumes a finished session with the next message, in the same workspace', async () => {
  const id = await createSession(test, { prompt: 'write one.txt 1\nsay first' });
  await waitUntilEnded(test, id);
  await send(id, 'list\nsay second');
  await waitUntilEnded(test, id);
  expect(await readMessages(test, id)).toEqual([
    'INITIAL_USER_MESSAGE: write one.txt 1\nsay first',
    'AGENT_MESSAGE: first',
    'USER_MESSAGE: list\nsay second',
    'AGENT_MESSAGE: second',
  ]);
  const events = await readEvents(test, id);
  expect(events.find((event) => event.title === 'List files' && event.toolStatus === 'completed')).toMatchObject({
    output: 'one.txt',
  });
  expect(
    events
      .filter((event) => event.kind === 'STATUS')
      .map((event) => event.status)
      .slice(-3),
  ).toEqual(['RESUMING', 'RUNNING', 'EXIT']);
});

it('delivers messages that arrive during the work as the next turn, one prompt at a time', async () => {
  const id = await createSession(test, { prompt: 'say one\nsleep 0.5\nsay two' });
  await waitForSession(test, id, ({ statusDetail }) => statusDetail === 'WORKING');
  await send(id, 'say three');
  await waitUntilEnded(test, id);
  const messages = (await readMessages(test, id)).filter((message) => message.startsWith('AGENT'));
  expect(messages).toEqual(['AGENT_MESSAGE: one', 'AGENT_MESSAGE: two', 'AGENT_MESSAGE: three']);
  const turns = (await readEvents(test, id))
    .filter((event) => event.kind === 'TURN')
    .map(({ turn, phase }) => `${turn} ${phase}`);
  expect(turns).toEqual(['1 started', '1 stopped', '2 started', '2 stopped']);
});

it('waits for the answer to a question', async () => {
  const id = await createSession(test, { prompt: 'ask Which colour?' });
  expect(await waitUntilWaiting(test, id)).toMatchObject({ status: 'RUNNING', statusDetail: 'WAITING_FOR_USER' });
  expect((await call(test, test.v1Key, 'GET', `/v1/sessions/${id}`)).body).toMatchObject({
    status: 'running',
    status_enum: 'blocked',
  });
  await send(id, 'blue');
  await waitUntilEnded(test, id);
  expect((await readMessages(test, id)).slice(1)).toEqual([
    'AGENT_MESSAGE: Which colour?',
    'USER_MESSAGE: blue',
    'AGENT_MESSAGE: You answered: blue',
  ]);
});

it('retries after a crash, and reports when the budget is used up', async () => {
  const id = await createSession(test, { prompt: 'say before\ncrash' });
  expect(await waitUntilEnded(test, id)).toMatchObject({ status: 'ERROR' });
  const messages = await readMessages(test, id);
  expect(messages.filter((message) => message === 'AGENT_MESSAGE: before')).toHaveLength(3);
  expect(messages.at(-1)).toBe(
    'AGENT_MESSAGE: The session stopped with an error: The agent process ended unexpectedly (exit code 1). Send a message to try again.',
  );
  await send(id, 'say back');
  await waitUntilEnded(test, id);
  expect((await readMessages(test, id)).at(-1)).toBe('AGENT_MESSAGE: back');
});

it('ends an agent at once when its session is terminated, and accepts nothing more from it', async () => {
  const id = await createSession(test, { prompt: 'say working\nsleep 60\nsay never' });
  await waitForSession(test, id, ({ statusDetail }) => statusDetail === 'WORKING');
  expect(agentsOf(id)).not.toHaveLength(0);
  expect((await call(test, test.v1Key, 'DELETE', `/v1/sessions/${id}`)).status).toBe(200);
  while (agentsOf(id).length > 0) await new Promise((resolve) => setImmediate(resolve));
  const events = await readEvents(test, id);
  expect(events.at(-1)).toMatchObject({ kind: 'STATUS', status: 'EXIT' });
});

it('gives secrets only to the agent', async () => {
  const value = 'c4n4ry-value-of-a-secret';
  const id = await createSession(test, {
    prompt: 'env MY_TOKEN\nsay in the open',
    sessionSecrets: [{ key: 'MY_TOKEN', value }],
  });
  await waitUntilEnded(test, id);
  expect((await readMessages(test, id)).slice(1)).toEqual([
    'AGENT_MESSAGE: MY_TOKEN=********',
    'AGENT_MESSAGE: in the open',
  ]);
  const rows = await test.app.services.store.query<{ all: string }>(
    `select (select string_agg(l::text, '') from log_entry l) || (select string_agg(s::text, '') from session_secret s)
         || (select string_agg(s::text, '') from session s) || (select string_agg(a::text, '') from audit_entry a) as all`,
  );
  expect(rows[0]?.all).toContain('MY_TOKEN');
  expect(rows[0]?.all).not.toContain(value);
});

it('returns the same events over GraphQL, v1 and v3, each in its own dialect', async () => {
  const id = await createSession(test, { prompt: 'plan a; b\nsay hello\nwrite x.txt y\nsay bye', tags: ['story'] });
  await waitUntilEnded(test, id);
  const { data } = await graphql(
    test,
    test.adminToken,
    'query($id: ID!) { session(id: $id) { sessionId url status statusDetail tags createdAt messages(first: 50) { nodes { eventId type body createdAt } } } }',
    { id },
  );
  const v1 = (await call(test, test.v1Key, 'GET', `/v1/sessions/devin-${id}`)).body;
  const v3 = (
    await call(test, test.adminToken, 'GET', `/v3/organizations/org-${test.organizationId}/sessions/devin-${id}`)
  ).body;
  const v3Messages = (
    await call(test, test.adminToken, 'GET', `/v3/organizations/${test.organizationId}/sessions/${id}/messages`)
  ).body;
  const { session } = data;
  expect(v1).toMatchObject({
    session_id: session.sessionId,
    status: 'exit',
    status_enum: 'finished',
    tags: session.tags,
    created_at: session.createdAt,
  });
  expect(v3).toMatchObject({
    url: session.url,
    status: 'exit',
    status_detail: 'finished',
    tags: session.tags,
    created_at: Math.floor(Date.parse(session.createdAt) / 1_000),
  });
  const rows = session.messages.nodes.map((message: any) => [message.eventId, message.body]);
  expect(rows).toHaveLength(3);
  expect(v1.messages.map((message: any) => [message.event_id, message.message])).toEqual(rows);
  expect(v3Messages.items.map((message: any) => [message.event_id, message.message])).toEqual(rows);
  expect(v1.messages.map((message: any) => message.type)).toEqual([
    'initial_user_message',
    'devin_message',
    'devin_message',
  ]);
  expect(v3Messages.items.map((message: any) => message.source)).toEqual(['user', 'devin', 'devin']);
});

it('runs more sessions than it has slots, evicting agents that only wait', async () => {
  const ids = await Promise.all(Array.from({ length: 8 }, (_, n) => createSession(test, { prompt: `say ${n}` })));
  await Promise.all(ids.map((id) => waitUntilEnded(test, id)));
  expect(test.app.worker?.active()).toBeLessThanOrEqual(3);
  expect(await Promise.all(ids.map(async (id) => (await readMessages(test, id)).at(-1)))).toEqual(
    ids.map((_, n) => `AGENT_MESSAGE: ${n}`),
  );
});

it('accepts that a warm agent ends, and starts another for the next message', async () => {
  const id = await createSession(test, { prompt: 'say one' });
  await waitUntilEnded(test, id);
  // In a sandbox these are several processes, which end with the first.
  for (const pid of agentsOf(id)) signalProcess(pid, 'SIGKILL');
  await send(id, 'say two');
  await waitUntilEnded(test, id);
  expect((await readMessages(test, id)).at(-1)).toBe('AGENT_MESSAGE: two');
  const events = await readEvents(test, id);
  expect(events.filter((event) => event.kind === 'ERROR')).toEqual([]);
});

it('delivers a message sent before a question to the next turn, not to the question', async () => {
  const id = await createSession(test, { prompt: 'sleep 0.5\nask Really?' });
  await waitForSession(test, id, ({ statusDetail }) => statusDetail === 'WORKING');
  await send(id, 'say later');
  await waitUntilWaiting(test, id);
  await send(id, 'yes');
  await waitUntilEnded(test, id);
  expect((await readMessages(test, id)).filter((message) => message.startsWith('AGENT'))).toEqual([
    'AGENT_MESSAGE: Really?',
    'AGENT_MESSAGE: You answered: yes',
    'AGENT_MESSAGE: later',
  ]);
});

it('runs all messages that waited', async () => {
  const id = await createSession(test, { prompt: 'sleep 0.5' });
  await waitForSession(test, id, ({ statusDetail }) => statusDetail === 'WORKING');
  for (const n of [1, 2, 3]) await send(id, `say m${n}`);
  await waitUntilEnded(test, id);
  expect((await readMessages(test, id)).filter((message) => message.startsWith('AGENT'))).toEqual([
    'AGENT_MESSAGE: m1',
    'AGENT_MESSAGE: m2',
    'AGENT_MESSAGE: m3',
  ]);
});
