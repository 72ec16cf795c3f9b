import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findByEnvironment } from '../../src/agents/sandbox/process-identity.ts';
import { call, graphql, startApp, type TestApp } from '../support/app.ts';
import { writeProfiles } from '../support/profiles.ts';
import { scriptedCommand } from '../support/programs.ts';
import type { Script } from '../support/scripted-agent.ts';
import {
  readEvents,
  readMessages,
  waitForSession,
  waitUntilEnded,
  waitUntilWaiting,
} from '../support/session-waits.ts';
import { createSession } from '../support/sessions.ts';
import { connect, follow } from '../support/sockets.ts';

// A profile of a scripted agent, outside of the sandbox, which would hide the test's files.
function scripted(id: string, script: Script, settings: object = {}) {
  const file = join(tmpdir(), `switchyard-script-${process.pid}-${id}.json`);
  writeFileSync(file, JSON.stringify(script));
  return { id, command: scriptedCommand(file), sandbox: { driver: 'none' }, mcp: false, ...settings };
}

let test: TestApp;
beforeAll(async () => {
  const refused = { error: { code: -32_000, message: 'Authentication required' } };
  const agentsConfig = await writeProfiles(
    { memory_mb: 100, warm_ttl_ms: 60_000 },
    { extends: 'demo', id: 'steered', steer: 'cancel', memory_mb: 100 },
    { extends: 'demo', id: 'hasty', max_turn_ms: 500, memory_mb: 100 },
    { extends: 'demo', id: 'forgetful', resume_order: ['new'], warm_ttl_ms: 0, memory_mb: 100 },
    { extends: 'demo', id: 'large', memory_mb: 600 },
    { extends: 'demo', id: 'huge', memory_mb: 5_000 },
    { id: 'missing', command: ['no-such-program-here'], memory_mb: 100 },
    scripted('refused', { 'session/new': [{ write: [refused] }] }),
    scripted(
      'stubborn',
      { 'session/prompt': [{ write: [toolCall] }, { wait: 'cancel' }, { write: [cancelled] }] },
      { steer: 'cancel' },
    ),
  );
  test = await startApp({
    roles: ['api', 'worker'],
    agentsConfig,
    maxConcurrentSessions: 4,
    agentMemoryMb: 1_000,
  });
});
afterAll(() => test.close());

const content = [{ type: 'content', content: { type: 'text', text: 'half of it\n' } }];
const toolCall = {
  update: { sessionUpdate: 'tool_call', toolCallId: 't', title: 'make', status: 'in_progress', content },
};
const cancelled = { result: { stopReason: 'cancelled' } };
const send = (id: string, message: string) =>
  graphql(
    test,
    test.adminToken,
    'mutation($input: SendMessageInput!) { sendMessage(input: $input) { userErrors { message } } }',
    { input: { sessionId: id, body: message } },
  );
const end = (id: string) => call(test, test.v1Key, 'DELETE', `/v1/sessions/${id}`);
const agentsOf = (id: string) => findByEnvironment({ SWITCHYARD_RUN: id });
const messageQuery = 'subscription($id: ID!) { sessionMessages(sessionId: $id) { node { body } } }';
const waitForMessage = async (id: string, text: string) => {
  const following = follow(connect(test.url, test.adminToken), messageQuery, { id });
  for (;;) {
    const [payload] = await following.take(1);
    if (payload.data.sessionMessages.node.body !== text) continue;
    return following.stop();
  }
};
const turnsOf = async (id: string) =>
  (await readEvents(test, id))
    .filter((event) => event.kind === 'TURN')
    .map(({ turn, phase, stopReason }) => [turn, phase, stopReason].filter((part) => part != null).join(' '));

it('shows the agent’s messages while it is still at work', async () => {
  const id = await createSession(test, { prompt: 'say first\nsleep 60\nsay never' });
  await waitForMessage(id, 'first');
  expect(await turnsOf(id)).toEqual(['1 started']);
  await end(id);
});

it('ends the turn of an agent that a message steers, and delivers the message', async () => {
  const id = await createSession(test, { agent: 'steered', prompt: 'say one\nlist\nsleep 60\nsay never' });
  await waitForMessage(id, 'one');
  await send(id, 'say two');
  await waitUntilEnded(test, id);
  expect(await readMessages(test, id)).toEqual([
    'INITIAL_USER_MESSAGE: say one\nlist\nsleep 60\nsay never',
    'AGENT_MESSAGE: one',
    'USER_MESSAGE: say two',
    'AGENT_MESSAGE: two',
  ]);
  expect(await turnsOf(id)).toEqual(['1 started', '1 stopped cancelled', '2 started', '2 stopped end_turn']);
});

const waitForTool = async (id: string) => {
  const query = 'subscription($id: ID!) { sessionEvents(sessionId: $id) { node { kind } } }';
  const following = follow(connect(test.url, test.adminToken), query, { id });
  for (let kind = ''; kind !== 'TOOL_CALL'; ) kind = (await following.take(1))[0].data.sessionEvents.node.kind;
  following.stop();
};
const lastToolOf = async (id: string) => (await readEvents(test, id)).filter((event) => event.title === 'make').at(-1);

it('closes the tool calls of a turn that was cancelled, and keeps their output', async () => {
  const id = await createSession(test, { agent: 'stubborn', prompt: 'go' });
  await waitForTool(id);
  await send(id, 'stop that');
  while ((await turnsOf(id)).length < 2) await new Promise((resolve) => setImmediate(resolve));
  expect(await turnsOf(id)).toContain('1 stopped cancelled');
  const tools = (await readEvents(test, id)).filter((event) => event.title === 'make');
  expect(tools[1]).toMatchObject({ toolStatus: 'failed', output: 'half of it\nInterrupted.' });
  await end(id);
});

it.each(['terminated', 'suspended'])(
  'closes the tool calls of a session that is %s, and keeps their output',
  async (how) => {
    const id = await createSession(test, { agent: 'stubborn', prompt: 'go' });
    await waitForTool(id);
    expect(await lastToolOf(id)).toMatchObject({ toolStatus: 'in_progress' });
    const path = `/v3/organizations/${test.organizationId}/sessions/${id}/archive`;
    await (how === 'terminated' ? end(id) : call(test, test.adminToken, 'POST', path));
    expect(await lastToolOf(id)).toMatchObject({ toolStatus: 'failed', output: 'half of it\nInterrupted.' });
  },
);

it('answers an open question with a message, also if messages steer', async () => {
  const id = await createSession(test, { agent: 'steered', prompt: 'ask Which colour?' });
  await waitUntilWaiting(test, id);
  await send(id, 'blue');
  await waitUntilEnded(test, id);
  expect((await readMessages(test, id)).at(-1)).toBe('AGENT_MESSAGE: You answered: blue');
});

it('stops a turn after its maximum duration, and waits for the user', async () => {
  const id = await createSession(test, { agent: 'hasty', prompt: 'sleep 60' });
  await waitUntilWaiting(test, id);
  expect((await readMessages(test, id)).at(-1)).toMatch(/^AGENT_MESSAGE: The agent was stopped because its turn took/);
  await send(id, 'say back');
  await waitUntilEnded(test, id);
  expect((await readMessages(test, id)).at(-1)).toBe('AGENT_MESSAGE: back');
});

it.each([
  { agent: 'missing', message: /cannot be started.*must be installed where the worker runs/ },
  { agent: 'refused', message: /Authentication required. Check its key \(.*Model keys\) or its login/ },
])('does not retry an error that a retry cannot fix: $agent', async ({ agent, message }) => {
  const id = await createSession(test, { agent, prompt: 'go' });
  expect(await waitUntilEnded(test, id)).toMatchObject({ status: 'ERROR' });
  expect((await readMessages(test, id)).at(-1)).toMatch(message);
  expect((await readEvents(test, id)).filter((event) => event.kind === 'NOTICE')).toEqual([]);
});

it('summarizes the events for an agent that could not load its session', async () => {
  const id = await createSession(test, { agent: 'forgetful', prompt: 'say the word is plum\nwrite a.txt b' });
  await waitUntilEnded(test, id);
  while (agentsOf(id).length > 0) await new Promise((resolve) => setImmediate(resolve));
  await send(id, 'prompt');
  await waitUntilEnded(test, id);
  const lastMessage = (await readMessages(test, id)).at(-1) ?? '';
  expect(lastMessage).toContain('Your workspace is as you left it.');
  expect(lastMessage).toContain('the word is plum');
  expect(lastMessage).toContain('Write a.txt');
  expect(lastMessage.endsWith('prompt')).toBe(true);
});

it('runs as many agents as fit into memory, the oldest session first, and an agent above the limit alone', async () => {
  const large = await createSession(test, { agent: 'large', prompt: 'sleep 60' });
  await waitForSession(test, large, ({ statusDetail }) => statusDetail === 'WORKING');
  const second = await createSession(test, { agent: 'large', prompt: 'sleep 60' });
  const huge = await createSession(test, { agent: 'huge', prompt: 'say alone' });
  const small = await createSession(test, { prompt: 'say small' });
  const statusOf = async (id: string) =>
    (await call(test, test.adminToken, 'GET', `/v3/organizations/${test.organizationId}/sessions/${id}`)).body.status;
  // The worker has polled since: the work of the last notification is done when the next poll is.
  test.app.services.notifier.notify('runs');
  expect(await Promise.all([second, huge, small].map(statusOf))).toEqual(['new', 'new', 'new']);
  await end(large);
  await waitForSession(test, second, ({ statusDetail }) => statusDetail === 'WORKING');
  expect(await Promise.all([huge, small].map(statusOf))).toEqual(['new', 'new']);
  await end(second);
  await waitUntilEnded(test, huge);
  await waitUntilEnded(test, small);
  const startOf = async (id: string) =>
    (
      await graphql(
        test,
        test.adminToken,
        'query($id: ID!) { session(id: $id) { events(first: 5, kinds: [TURN]) { nodes { createdAt } } } }',
        { id },
      )
    ).data.session.events.nodes[0].createdAt;
  expect(Date.parse(await startOf(huge))).toBeLessThan(Date.parse(await startOf(small)));
});
