import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { findByEnvironment } from '../../src/agents/sandbox/process-identity.ts';
import { graphql } from '../support/app.ts';
import { mutationDocument } from '../support/mutations.ts';
import { writeProfiles } from '../support/profiles.ts';
import { scriptedCommand } from '../support/programs.ts';
import { answerQuestion, readAnswers, readPendingQuestion, waitForQuestion } from '../support/questions.ts';
import type { Script } from '../support/scripted-agent.ts';
import { bootstrapToken, type ServerProcess, startServer } from '../support/server.ts';
import { makeServerEnv } from '../support/server-env.ts';
import { readMessages, waitForSession, waitUntilEnded, waitUntilWaiting } from '../support/session-waits.ts';
import { createFirstSession } from '../support/sessions.ts';
import { connect, follow } from '../support/sockets.ts';

const target = (server: ServerProcess) => ({ url: server.url, adminToken: bootstrapToken });

const create = (server: ServerProcess, prompt: string) => createFirstSession(server, bootstrapToken, prompt);

const runMark = (id: string) => ({ SWITCHYARD_RUN: id.replace('devin-', '') });

const send = (server: ServerProcess, id: string, body: string) =>
  graphql(server, bootstrapToken, mutationDocument('sendMessage', 'message { seq }'), {
    input: { sessionId: id, body },
  });

const attempts = `query($id: ID!) { session(id: $id) { events(first: 100) { nodes { seq __typename ... on SessionMessage { body }
  ... on NoticeEvent { notice: body } ... on TurnEvent { turn phase attempt interruptedSeq } } } } }`;

const readAttempts = async (server: ServerProcess, id: string) =>
  (await graphql(server, bootstrapToken, attempts, { id })).data.session.events.nodes;

/** Resolves when the log has this many messages of the agent. */
async function waitForMessages(server: ServerProcess, id: string, count = 1): Promise<void> {
  const entries = `subscription($id: ID!) { sessionEvents(sessionId: $id) { node { ... on SessionMessage { type } } } }`;
  const following = follow(connect(server.url, bootstrapToken), entries, { id });
  for (let seen = 0; seen < count; ) {
    const [payload] = await following.take(1);
    if (payload.errors) throw new Error(JSON.stringify(payload));
    if (payload.data.sessionEvents.node.type === 'AGENT_MESSAGE') seen += 1;
  }
  following.stop();
}

/** Runs a session up to the kill of the server; `check` continues it after the next start. */
type Interrupted = (first: ServerProcess) => Promise<{ id: string; check: (second: ServerProcess) => Promise<void> }>;

const suspended: Interrupted = async (first) => {
  const prompt = 'say started\nask Go on?\nsay done';
  const id = await create(first, prompt);
  await waitUntilWaiting(target(first), id);
  const { data } = await graphql(first, bootstrapToken, mutationDocument('suspendSession', 'session { status }'), {
    input: { sessionId: id },
  });
  expect(data.suspendSession.session.status).toBe('SUSPENDED');
  const check = async (second: ServerProcess) => {
    await send(second, id, 'prompt');
    await waitUntilEnded(target(second), id);
    const messages = await readMessages(target(second), id);
    expect(messages.slice(0, 4)).toEqual([
      `INITIAL_USER_MESSAGE: ${prompt}`,
      'AGENT_MESSAGE: started',
      'AGENT_MESSAGE: Go on?',
      'USER_MESSAGE: prompt',
    ]);
    expect(messages).toHaveLength(5);
    expect(messages[4]).toContain('stopped your previous turn');
    expect(messages[4]).not.toContain('say done');
  };
  return { id, check };
};

const waiting: Interrupted = async (first) => {
  const id = await create(first, 'say started\nask Go on?\nsay done');
  await waitUntilWaiting(target(first), id);
  const [left] = findByEnvironment(runMark(id));
  expect(left).toBeDefined();
  const check = async (second: ServerProcess) => {
    await waitUntilWaiting(target(second), id);
    // The session waits only for its user: a later session gets an agent, and this one has none.
    await waitUntilEnded(target(second), await create(second, 'say hello'));
    expect(findByEnvironment(runMark(id))).toEqual([]);
    const { data } = await send(second, id, 'yes');
    expect(data.sendMessage.message.seq).toBeGreaterThan(0);
    await waitUntilEnded(target(second), id);
    const messages = await readMessages(target(second), id);
    expect(messages[0]).toContain('say started');
    expect(messages.filter((message) => message === 'USER_MESSAGE: yes')).toHaveLength(1);
    expect(messages.filter((message) => message === 'AGENT_MESSAGE: Go on?')).toHaveLength(1);
    expect(messages.at(-1)).toBe('AGENT_MESSAGE: done');
  };
  return { id, check };
};

const withSeveralMessages: Interrupted = async (first) => {
  const id = await create(first, 'ask Ready?');
  await waitUntilWaiting(target(first), id);
  await send(first, id, 'yes\nwait');
  await waitUntilEnded(target(first), id);
  for (const message of ['say m-A', 'say m-B', 'ask Go on?']) await send(first, id, message);
  await waitUntilWaiting(target(first), id);
  const check = async (second: ServerProcess) => {
    await waitUntilWaiting(target(second), id);
    await send(second, id, 'now');
    await waitUntilEnded(target(second), id);
    const messages = await readMessages(target(second), id);
    for (const message of ['m-A', 'm-B']) expect(messages).toContain(`AGENT_MESSAGE: ${message}`);
    expect(messages.filter((message) => message.startsWith('USER_MESSAGE'))).toHaveLength(5);
    expect(messages).toContain('AGENT_MESSAGE: You answered: now');
  };
  return { id, check };
};

it('continues interrupted turns after a kill with all their messages, except suspended ones, and leaves no agent', async () => {
  const env = await makeServerEnv();
  const first = await startServer(env);
  const sessions = await Promise.all([suspended, waiting, withSeveralMessages].map((prepare) => prepare(first)));
  await first.kill();
  const second = await startServer(env);
  for (const { check } of sessions) await check(second);
  expect(await second.stop()).toBe(0);
  for (const { id } of sessions) expect(findByEnvironment(runMark(id))).toEqual([]);
}, 240_000);

it('tells an interrupted attempt from the next one, which repeats it after a kill', async () => {
  const env = await makeServerEnv();
  const first = await startServer(env);
  const id = await create(first, 'say started\nlist\nsleep 600');
  await waitForMessages(first, id);
  await first.kill();
  const second = await startServer(env);
  await waitForMessages(second, id, 2);
  const all = (await readAttempts(second, id)) as any[];
  const [one, two] = all.filter(({ phase }) => phase === 'STARTED');
  expect([one, two]).toMatchObject([
    { turn: 1, attempt: 1, interruptedSeq: null },
    { turn: 2, attempt: 2, interruptedSeq: one.seq },
  ]);
  // The entries of the first attempt stay, and the second one repeats its message.
  expect(all.filter(({ body }) => body === 'started').map(({ seq }) => seq > two.seq)).toEqual([false, true]);
  const notices = all.filter(({ notice }) => notice?.startsWith('The agent was interrupted'));
  expect(notices).toHaveLength(1);
  expect(notices[0].notice).toContain('Its unfinished message was lost.');
  expect(notices[0].seq).toBeLessThan(two.seq);
  expect(await second.stop()).toBe(0);
}, 240_000);

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
}, 240_000);

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
}, 240_000);

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
  await send(second, id, 'blue');
  await waitUntilEnded(target(second), id);
  const answered = ['USER_MESSAGE: blue', 'AGENT_MESSAGE: {"action":"accept","content":{"answer":"blue"}}'];
  expect(await readMessages(target(second), id)).toEqual([...beforeAnswer, ...answered]);
  expect(await second.stop()).toBe(0);
}, 240_000);
