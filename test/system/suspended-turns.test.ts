import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findByEnvironment, signalProcess } from '../../src/agents/sandbox/process-identity.ts';
import { call, graphql, startApp, type TestApp } from '../support/app.ts';
import { mutationDocument } from '../support/mutations.ts';
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

const note = 'stopped your previous turn';
const agentsOf = (id: string) => findByEnvironment({ SWITCHYARD_RUN: id });

const mutate = async (field: string, input: Record<string, string>) => {
  const document = mutationDocument(field, 'session { status statusDetail } userErrors { message }');
  const { data, errors } = await graphql(test, test.adminToken, document, { input });
  if (errors || data[field].userErrors.length > 0) throw new Error(JSON.stringify({ data, errors }));
  return data[field].session;
};
const suspend = (id: string) => mutate('suspendSession', { sessionId: id });
const resume = (id: string) => mutate('resumeSession', { sessionId: id });

/** The three APIs that send a message. */
const send = {
  v1: (id: string, message: string) => call(test, test.v1Key, 'POST', `/v1/sessions/${id}/message`, { message }),
  v3: (id: string, message: string) =>
    call(test, test.adminToken, 'POST', `/v3/organizations/${test.organizationId}/sessions/${id}/messages`, {
      message,
    }),
  graphql: (id: string, body: string) => mutate('sendMessage', { sessionId: id, body }),
};
const turnsOf = async (id: string) =>
  (await readEvents(test, id))
    .filter(({ kind }) => kind === 'TURN')
    .map(({ turn, phase, stopReason }) => [turn, phase, stopReason].filter((part) => part != null).join(' '));

/** Starts a session and waits until its agent works. */
async function startWorking(prompt: string): Promise<string> {
  const id = await createSession(test, { prompt });
  await waitForSession(test, id, ({ statusDetail }) => statusDetail === 'WORKING');
  return id;
}

it.each(['v1', 'v3', 'graphql'] as const)(
  'starts the next turn with the message that resumes a suspended session (%s)',
  async (api) => {
    const id = await startWorking('sleep 600\nwrite late.txt old');
    expect(await suspend(id)).toMatchObject({ status: 'SUSPENDED', statusDetail: 'USER_REQUEST' });
    expect(await turnsOf(id)).toEqual(['1 started', '1 stopped suspended']);
    await send[api](id, 'prompt');
    expect(await waitUntilEnded(test, id)).toMatchObject({ status: 'EXIT', statusDetail: 'FINISHED' });

    const agentMessages = (await readMessages(test, id)).filter((message) => message.startsWith('AGENT_MESSAGE'));
    expect(agentMessages).toEqual([expect.stringContaining(note)]);
    expect(agentMessages[0]).toMatch(/\[user\]\nprompt$/);
    expect(agentMessages[0]).not.toContain('sleep 600');
    expect(agentMessages[0]).not.toContain('interrupted');
    expect(existsSync(join(test.dataDir, 'sessions', id, 'ws', 'late.txt'))).toBe(false);
    expect(await turnsOf(id)).toEqual(['1 started', '1 stopped suspended', '2 started', '2 stopped end_turn']);

    // The note belongs to one turn only.
    await send[api](id, 'prompt');
    await waitUntilEnded(test, id);
    expect((await readMessages(test, id)).at(-1)).toBe('AGENT_MESSAGE: [user]\nprompt');
  },
);

it('waits for the user, without an agent, when a session with a stopped turn is resumed', async () => {
  const id = await startWorking('sleep 600');
  await suspend(id);
  expect(await resume(id)).toMatchObject({ status: 'RUNNING', statusDetail: 'WAITING_FOR_USER' });
  while (agentsOf(id).length > 0) await setImmediate();
  expect(await turnsOf(id)).toEqual(['1 started', '1 stopped suspended']);
  await send.v3(id, 'prompt');
  await waitUntilEnded(test, id);
  expect((await readMessages(test, id)).at(-1)).toContain(note);
});

it('delivers messages that waited at the suspension with the next turn', async () => {
  const id = await startWorking('sleep 600');
  await send.v3(id, 'say waited');
  await suspend(id);
  await send.v3(id, 'say new');
  await waitUntilEnded(test, id);
  const agentMessages = (await readMessages(test, id)).filter((message) => message.startsWith('AGENT_MESSAGE'));
  expect(agentMessages).toEqual(['AGENT_MESSAGE: waited', 'AGENT_MESSAGE: new']);
  expect(await turnsOf(id)).toEqual(['1 started', '1 stopped suspended', '2 started', '2 stopped end_turn']);
});

it('delivers messages that waited at the suspension when the session is resumed without a message', async () => {
  const id = await startWorking('sleep 600');
  await send.v3(id, 'prompt');
  await suspend(id);
  expect(await resume(id)).toMatchObject({ status: 'RESUMING' });
  await waitUntilEnded(test, id);
  expect((await readMessages(test, id)).at(-1)).toContain(note);
});

it('closes an open question: the next message is a new instruction, not the answer', async () => {
  const id = await createSession(test, { prompt: 'ask Which colour?' });
  await waitUntilWaiting(test, id);
  await suspend(id);
  await send.graphql(id, 'say blue');
  await waitUntilEnded(test, id);
  expect((await readMessages(test, id)).slice(1)).toEqual([
    'AGENT_MESSAGE: Which colour?',
    'USER_MESSAGE: say blue',
    'AGENT_MESSAGE: blue',
  ]);
});

it('resumes the turn after a stopped one when its agent crashes, with the note and without the stopped turn', async () => {
  const id = await createSession(test, { prompt: 'ask Which colour?\nsleep 600' });
  await waitUntilWaiting(test, id);
  await send.v3(id, 'say purple');
  await waitForSession(test, id, ({ statusDetail }) => statusDetail === 'WORKING');
  await suspend(id);
  await send.v3(id, 'prompt\nask Ready?');
  await waitUntilWaiting(test, id);
  for (const pid of agentsOf(id)) signalProcess(pid, 'SIGKILL');
  // An answer that arrives before the crash is known would belong to the turn.
  while (!(await readEvents(test, id)).some(({ kind }) => kind === 'NOTICE')) await setImmediate();
  await send.v3(id, 'yes');
  await waitUntilEnded(test, id);
  const prompts = (await readMessages(test, id)).filter((message) => message.includes(note));
  expect(prompts).toHaveLength(2);
  for (const prompt of prompts) expect(prompt).not.toMatch(/purple|Which colour/);
  expect(prompts[1]).toContain('The agent process was interrupted.');
  expect((await readMessages(test, id)).at(-1)).toContain('yes');
});

it('does not mention a stopped turn if none had started', async () => {
  const busy = await Promise.all(Array.from({ length: 3 }, () => startWorking('sleep 600')));
  const id = await createSession(test, { prompt: 'prompt' });
  await suspend(id);
  for (const each of busy) await call(test, test.v1Key, 'DELETE', `/v1/sessions/${each}`);
  await resume(id);
  await waitUntilEnded(test, id);
  expect(await turnsOf(id)).toEqual(['1 started', '1 stopped end_turn']);
  expect((await readMessages(test, id)).at(-1)).not.toContain(note);
});
