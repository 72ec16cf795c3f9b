import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { findByEnvironment } from '../../src/agents/sandbox/local/process-identity.ts';
import { call, graphql } from '../support/app.ts';
import { mutationDocument } from '../support/mutations.ts';
import { writeProfiles } from '../support/profiles.ts';
import { scriptedCommand } from '../support/programs.ts';
import { answerQuestion, readAnswers, readPendingQuestion, waitForQuestion } from '../support/questions.ts';
import type { Script } from '../support/scripted-agent.ts';
import { bootstrapToken, type ServerProcess, startRefused, startServer } from '../support/server.ts';
import { makeServerEnv, serverSecretKey } from '../support/server-env.ts';
import { readMessages, waitForSession, waitUntilEnded, waitUntilWaiting } from '../support/session-waits.ts';
import { firstOrganizationId } from '../support/sessions.ts';
import { connect, follow } from '../support/sockets.ts';
import { testDatabase } from '../support/test-store.ts';

const target = (server: ServerProcess) => ({ url: server.url, adminToken: bootstrapToken });

async function create(server: ServerProcess, prompt: string): Promise<string> {
  const { data } = await graphql(
    server,
    bootstrapToken,
    'mutation($input: CreateSessionInput!) { createSession(input: $input) { session { sessionId } } }',
    {
      input: { organizationId: await firstOrganizationId(server, bootstrapToken), prompt },
    },
  );
  return data.createSession.session.sessionId;
}

const runMark = (id: string) => ({ SWITCHYARD_RUN: id.replace('devin-', '') });
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
}, 120_000);

it('does not resume a turn that a suspension stopped just before a kill', async () => {
  const env = await makeServerEnv();
  const first = await startServer(env);
  const id = await create(first, 'say started\nask Go on?\nsay done');
  await waitUntilWaiting(target(first), id);
  const act = (server: ServerProcess, field: string, input: object) =>
    graphql(server, bootstrapToken, mutationDocument(field, 'session { status }'), {
      input: { sessionId: id, ...input },
    });
  const { data } = await act(first, 'suspendSession', {});
  await first.kill();
  expect(data.suspendSession.session.status).toBe('SUSPENDED');
  const second = await startServer(env);
  await act(second, 'sendMessage', { body: 'prompt' });
  await waitUntilEnded(target(second), id);
  const messages = await readMessages(target(second), id);
  expect(messages.slice(0, 4)).toEqual([
    'INITIAL_USER_MESSAGE: say started\nask Go on?\nsay done',
    'AGENT_MESSAGE: started',
    'AGENT_MESSAGE: Go on?',
    'USER_MESSAGE: prompt',
  ]);
  expect(messages).toHaveLength(5);
  expect(messages[4]).toContain('stopped your previous turn');
  expect(messages[4]).not.toContain('say done');
  expect(await second.stop()).toBe(0);
}, 120_000);

it('continues after a kill in the middle of a turn, loses no message, and leaves no agent', async () => {
  const env = await makeServerEnv();
  const first = await startServer(env);
  const id = await create(first, 'say started\nask Go on?\nsay done');
  await waitUntilWaiting(target(first), id);
  const [left] = findByEnvironment(runMark(id));
  expect(left).toBeDefined();
  await first.kill();
  const second = await startServer(env);
  await waitUntilWaiting(target(second), id);
  // The session waits only for its user: a later session gets an agent, and this one has none.
  await waitUntilEnded(target(second), await create(second, 'say hello'));
  expect(findByEnvironment(runMark(id))).toEqual([]);
  const { data } = await graphql(
    second,
    bootstrapToken,
    'mutation($input: SendMessageInput!) { sendMessage(input: $input) { message { seq } } }',
    {
      input: { sessionId: id, body: 'yes' },
    },
  );
  expect(data.sendMessage.message.seq).toBeGreaterThan(0);
  await waitUntilEnded(target(second), id);
  const messages = await readMessages(target(second), id);
  expect(messages[0]).toContain('say started');
  expect(messages.filter((message) => message === 'USER_MESSAGE: yes')).toHaveLength(1);
  expect(messages.filter((message) => message === 'AGENT_MESSAGE: Go on?')).toHaveLength(1);
  expect(messages.at(-1)).toBe('AGENT_MESSAGE: done');
  expect(await second.stop()).toBe(0);
  expect(findByEnvironment(runMark(id))).toEqual([]);
}, 60_000);

it('repeats all messages of an interrupted turn after a kill', async () => {
  const env = await makeServerEnv();
  const first = await startServer(env);
  const id = await create(first, 'ask Ready?');
  await waitUntilWaiting(target(first), id);
  const send = (server: ServerProcess, message: string) =>
    graphql(
      server,
      bootstrapToken,
      'mutation($input: SendMessageInput!) { sendMessage(input: $input) { message { seq } } }',
      {
        input: { sessionId: id, body: message },
      },
    );
  await send(first, 'yes\nwait');
  await waitUntilEnded(target(first), id);
  for (const message of ['say m-A', 'say m-B', 'ask Go on?']) await send(first, message);
  await waitUntilWaiting(target(first), id);
  await first.kill();
  const second = await startServer(env);
  await waitUntilWaiting(target(second), id);
  await send(second, 'now');
  await waitUntilEnded(target(second), id);
  const messages = await readMessages(target(second), id);
  for (const message of ['m-A', 'm-B']) expect(messages).toContain(`AGENT_MESSAGE: ${message}`);
  expect(messages.filter((message) => message.startsWith('USER_MESSAGE'))).toHaveLength(5);
  expect(messages).toContain('AGENT_MESSAGE: You answered: now');
  await second.stop();
}, 60_000);

it('delivers an answer sent while no worker runs to the agent that asks again, which acts once', async () => {
  const env = await makeServerEnv();
  const AGENTS_CONFIG = await writeProfiles({ permission: 'ask' });
  const first = await startServer({ ...env, AGENTS_CONFIG });
  const id = await create(first, 'tool Deploy');
  const { questionId } = await waitForQuestion(target(first), id, 'May I run Deploy?');
  await first.kill();
  const second = await startServer({ ...env, AGENTS_CONFIG, ROLES: 'api' });
  expect(await readPendingQuestion(target(second), id)).toMatchObject({ questionId });
  const answered = await answerQuestion(target(second), id, questionId, { optionId: '1' });
  expect(answered).toMatchObject({ message: { body: 'Allow once' }, userErrors: [] });
  await second.kill();
  const third = await startServer({ ...env, AGENTS_CONFIG });
  await waitUntilEnded(target(third), id);
  const { messages, permissions } = await readAnswers(target(third), id);
  expect(messages).toEqual([expect.objectContaining({ answer: { questionId, optionId: '1' } })]);
  expect(permissions).toEqual([expect.objectContaining({ title: 'Deploy', decision: 'ALLOWED', questionId })]);
  const questions = (await readMessages(target(third), id)).filter((message) => message.includes('May I run Deploy?'));
  expect(questions).toHaveLength(1);
  const late = await answerQuestion(target(third), id, questionId, { optionId: '3' });
  expect(late.userErrors).toMatchObject([{ code: 'INVALID_STATE' }]);
  expect(await third.stop()).toBe(0);
}, 120_000);

it('stops cleanly on SIGTERM while an agent works, and resumes the session at the next start', async () => {
  const env = await makeServerEnv();
  const first = await startServer(env);
  const id = await create(first, 'say one\nsleep 1\nsay two');
  await waitForSession(target(first), id, ({ statusDetail }) => statusDetail === 'WORKING');
  expect(await first.stop()).toBe(0);
  expect(findByEnvironment(runMark(id))).toEqual([]);
  const second = await startServer(env);
  await waitUntilEnded(target(second), id);
  expect((await readMessages(target(second), id)).at(-1)).toBe('AGENT_MESSAGE: two');
  expect(await second.stop()).toBe(0);
}, 60_000);

it('stores no message that an agent sends because a stop cancels its question, which can be answered later', async () => {
  const env = await makeServerEnv();
  // It reports every answer, even a missing one, before it ends its turn.
  const params = {
    mode: 'form',
    sessionId: 's1',
    message: 'Which?',
    requestedSchema: { type: 'object', properties: {} },
  };
  const script: Script = {
    'session/prompt': [
      { ask: { method: 'elicitation/create', params } },
      { write: [{ result: { stopReason: 'end_turn' } }] },
    ],
  };
  const file = join(env.DATA_DIR ?? '', 'script.json');
  writeFileSync(file, JSON.stringify(script));
  const AGENTS_CONFIG = await writeProfiles({ command: scriptedCommand(file), sandbox: 'none' });
  const first = await startServer({ ...env, AGENTS_CONFIG });
  const id = await create(first, 'go');
  await waitUntilWaiting(target(first), id);
  expect(await first.stop()).toBe(0);
  const second = await startServer({ ...env, AGENTS_CONFIG });
  await waitUntilWaiting(target(second), id);
  const beforeAnswer = ['INITIAL_USER_MESSAGE: go', 'AGENT_MESSAGE: Which?'];
  expect(await readMessages(target(second), id)).toEqual(beforeAnswer);
  await graphql(
    second,
    bootstrapToken,
    'mutation($input: SendMessageInput!) { sendMessage(input: $input) { message { seq } } }',
    { input: { sessionId: id, body: 'blue' } },
  );
  await waitUntilEnded(target(second), id);
  const answered = ['USER_MESSAGE: blue', 'AGENT_MESSAGE: {"action":"accept","content":{"answer":"blue"}}'];
  expect(await readMessages(target(second), id)).toEqual([...beforeAnswer, ...answered]);
  expect(await second.stop()).toBe(0);
}, 60_000);

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
}, 60_000);

it('refuses a database that belongs to another SECRET_KEY', async () => {
  const env = { ...(await makeServerEnv()), SECRET_KEY: serverSecretKey };
  await (await startServer(env)).stop();
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
}, 60_000);
