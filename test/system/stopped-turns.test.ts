import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findByEnvironment } from '../../src/agents/sandbox/process-identity.ts';
import { call, graphql, startApp, type TestApp } from '../support/app.ts';
import { endTurn, messageChunk, scriptedProfile } from '../support/live.ts';
import { mutationDocument } from '../support/mutations.ts';
import { runMutation } from '../support/people.ts';
import { writeProfiles } from '../support/profiles.ts';
import type { Script } from '../support/scripted-agent.ts';
import { bootstrapToken, startServer } from '../support/server.ts';
import { makeServerEnv } from '../support/server-env.ts';
import {
  readEvents,
  readMessages,
  waitForSession,
  waitUntilEnded,
  waitUntilWaiting,
} from '../support/session-waits.ts';
import { createFirstSession, createSession } from '../support/sessions.ts';
import { testDatabase } from '../support/test-store.ts';

const cancelled: Script[string][number] = { write: [{ result: { stopReason: 'cancelled' } }] };
const toolCall = {
  update: { sessionUpdate: 'tool_call', toolCallId: 'c1', title: 'Build', kind: 'execute', status: 'in_progress' },
};
const soFar = messageChunk('The text so far');
const graces = { cancel: 10_000, stdin: 10_000, term: 10_000, interrupt: 300 };
const scripted = (id: string, ...prompt: Script[string]) =>
  scriptedProfile(id, { 'session/prompt': prompt }, { stop_graces_ms: graces, warm_ttl_ms: 60_000 });
/** An agent that starts only while a file exists. */
const switchFile = join(tmpdir(), `switchyard-starts-${process.pid}`);
const startable = scriptedProfile('startable', { 'session/prompt': [endTurn] });
const ifSwitched = ['/bin/sh', '-c', 'test -e "$0" && exec "$@"; exit 7', switchFile];

// The API and the worker in two processes, or in one on the embedded database.
let test: TestApp;
let worker: TestApp;
beforeAll(async () => {
  const agentsConfig = await writeProfiles(
    { stop_graces_ms: graces, permission: 'ask' },
    { id: 'steered', extends: 'demo', steer: 'cancel', stop_graces_ms: graces },
    scripted('polite', { write: [soFar, toolCall] }, { wait: 'cancel' }, cancelled),
    scripted(
      'chatty',
      { write: [soFar] },
      { wait: 'cancel' },
      { write: [messageChunk(' and more')] },
      cancelled,
      { sleepMs: 50 },
      {
        write: [messageChunk('after the end')],
      },
    ),
    scripted(
      'late',
      { write: [soFar, toolCall] },
      { wait: 'cancel' },
      { sleepMs: 2_000 },
      { write: [soFar] },
      cancelled,
    ),
    scripted('crasher', { write: [soFar] }, { wait: 'cancel' }, { exit: 3 }),
    { ...startable, command: [...ifSwitched, ...(startable.command as string[])] },
    scripted('finisher', { write: [soFar] }, { wait: 'cancel' }, endTurn),
  );
  const roles = testDatabase === 'postgres' ? (['api'] as const) : (['api', 'worker'] as const);
  const settings = { agentsConfig, maxConcurrentSessions: 12 };
  test = await startApp({ roles: [...roles], ...settings });
  worker = testDatabase === 'postgres' ? await test.another({ roles: ['worker'], ...settings }) : test;
});
afterAll(async () => {
  if (worker !== test) await worker.close();
  await test.close();
});

const interrupt = (sessionId: string, more: object = {}, token?: string) =>
  runMutation(test, 'interruptSession', 'session { status statusDetail }', { sessionId, ...more }, token);
const send = (sessionId: string, body: string) =>
  runMutation(test, 'sendMessage', 'message { seq }', { sessionId, body });

const eventsDocument = `query($id: ID!) { session(id: $id) { status statusDetail pendingQuestion { id } events(first: 100) { nodes { seq
  ... on SessionMessage { type body } ... on NoticeEvent { body } ... on TurnEvent { turn phase stopReason stoppedBy { displayName } }
  ... on ToolCallEvent { toolStatus isCancelled output } } } } }`;
async function read(id: string): Promise<any> {
  const { data, errors } = await graphql(test, test.adminToken, eventsDocument, { id });
  if (errors) throw new Error(JSON.stringify(errors));
  return { ...data.session, events: data.session.events.nodes };
}
const turnsOf = async (id: string) =>
  (await read(id)).events
    .filter(({ phase }: any) => phase !== undefined)
    .map(({ turn, phase, stopReason, stoppedBy }: any) =>
      [turn, phase, stopReason, stoppedBy && 'by a user'].filter((part) => part != null).join(' '),
    );
const stoppedTurn = (turn: number) => [`${turn} STARTED`, `${turn} STOPPED CANCELLED by a user`];
const agentsOf = (id: string) => findByEnvironment({ SWITCHYARD_RUN: id });

/** Starts a session and waits until its agent has begun. */
async function startWorking(prompt: string, agent?: string): Promise<string> {
  const id = await createSession(test, { prompt, ...(agent && { agent }) });
  await waitForSession(test, id, ({ statusDetail }) => statusDetail === 'WORKING');
  return id;
}
/** Resolves once a tool call or a message of the agent is in the log. */
async function untilReported(id: string): Promise<void> {
  while (!(await read(id)).events.some((event: any) => event.toolStatus || event.type === 'AGENT_MESSAGE')) {
    await setImmediate();
  }
}

it('keeps the text so far, closes open tool calls as cancelled, and continues with the next message', async () => {
  const id = await startWorking('go', 'polite');
  await untilReported(id);
  expect(await interrupt(id)).toMatchObject({ session: { status: 'RUNNING' }, userErrors: [] });
  await waitUntilWaiting(test, id);
  const { events } = await read(id);
  expect(events.filter(({ type }: any) => type === 'AGENT_MESSAGE').map(({ body }: any) => body)).toEqual([
    'The text so far',
  ]);
  expect(events.filter(({ toolStatus }: any) => toolStatus).at(-1)).toMatchObject({
    toolStatus: 'FAILED',
    isCancelled: true,
    output: 'Interrupted.',
  });
  expect(await turnsOf(id)).toEqual(stoppedTurn(1));
  const [agent] = agentsOf(id);
  await send(id, 'go on');
  await waitForSession(test, id, ({ statusDetail }) => statusDetail === 'WORKING');
  expect(agentsOf(id)).toEqual([agent]);
  // A second stop is for the second turn.
  await interrupt(id);
  await waitUntilWaiting(test, id);
  expect(await turnsOf(id)).toEqual([...stoppedTurn(1), ...stoppedTurn(2)]);
});

it('tells the agent that its turn was stopped, and repeats it', async () => {
  const id = await startWorking('say so far\nlist\nsleep 600');
  await untilReported(id);
  await interrupt(id);
  await waitUntilWaiting(test, id);
  await send(id, 'prompt');
  await waitUntilEnded(test, id);
  const received = (await readMessages(test, id)).at(-1);
  expect(received).toContain('User: say so far\nlist\nsleep 600\nYou: so far\n[tool]');
  expect(received).toMatch(/Your workspace is[\s\S]*The user stopped your previous turn[\s\S]*\[user\]\nprompt$/);
});

it.each([
  ['chatty', ['The text so far and more']],
  ['crasher', ['The text so far']],
  ['finisher', ['The text so far']],
  ['late', ['The text so far']],
])('ends the turn as stopped, with the text until then, if the agent is %s', async (agent, messages) => {
  const id = await startWorking('go', agent);
  if (agent === 'late') await untilReported(id);
  await interrupt(id);
  await waitUntilWaiting(test, id);
  expect(await turnsOf(id)).toEqual(stoppedTurn(1));
  await send(id, 'go on');
  await waitForSession(test, id, ({ statusDetail }) => statusDetail === 'WORKING');
  const received = (await readMessages(test, id)).filter((message) => message.startsWith('AGENT_MESSAGE: '));
  expect(received.map((message) => message.slice('AGENT_MESSAGE: '.length)).slice(0, 1)).toEqual(messages);
  expect(received.join()).not.toContain('after the end');
  await runMutation(test, 'terminateSession', 'session { id }', { sessionId: id });
});

it('kills an agent that ignores the cancel and SIGTERM, and resumes it with the next message', async () => {
  const id = await startWorking('list\nhang');
  while (!(await read(id)).events.some(({ toolStatus }: any) => toolStatus === 'COMPLETED')) await setImmediate();
  await interrupt(id);
  await waitUntilWaiting(test, id);
  expect(await turnsOf(id)).toEqual(stoppedTurn(1));
  await send(id, 'say two');
  await waitUntilEnded(test, id);
  expect((await readMessages(test, id)).at(-1)).toBe('AGENT_MESSAGE: two');
});

it.each([
  ['a question', 'ask Which colour?\nsay never'],
  ['a request for a permission', 'tool Deploy\nsay never'],
])('cancels %s', async (_what, prompt) => {
  const id = await createSession(test, { prompt });
  await waitUntilWaiting(test, id);
  await interrupt(id);
  while ((await turnsOf(id)).length < 2) await setImmediate();
  expect(await read(id)).toMatchObject({ status: 'RUNNING', statusDetail: 'WAITING_FOR_USER', pendingQuestion: null });
  expect(await turnsOf(id)).toEqual(stoppedTurn(1));
  await send(id, 'say blue');
  await waitUntilEnded(test, id);
  expect((await readMessages(test, id)).slice(-2)).toEqual(['USER_MESSAGE: say blue', 'AGENT_MESSAGE: blue']);
});

it('holds messages that waited at the stop until the next message, and starts those after it', async () => {
  const id = await startWorking('sleep 600');
  await send(id, 'say waited');
  await interrupt(id);
  await waitUntilWaiting(test, id);
  const held = await test.app.services.store.query('select queued_at from run where session_id = $1', [id]);
  expect(held).toEqual([{ queued_at: null }]);
  await send(id, 'say new\nlist\nsleep 600');
  await waitForSession(test, id, ({ statusDetail }) => statusDetail === 'WORKING');
  while ((await readMessages(test, id)).at(-1) !== 'AGENT_MESSAGE: new') await setImmediate();
  // A message between the stop and the end of the turn.
  const [, sent] = await Promise.all([interrupt(id), interrupt(id).then(() => send(id, 'say next'))]);
  expect(sent.userErrors).toEqual([]);
  await waitUntilEnded(test, id);
  expect((await readMessages(test, id)).filter((message) => message.startsWith('AGENT_MESSAGE'))).toEqual([
    'AGENT_MESSAGE: waited',
    'AGENT_MESSAGE: new',
    'AGENT_MESSAGE: next',
  ]);
  expect(await turnsOf(id)).toEqual([...stoppedTurn(1), ...stoppedTurn(2), '3 STARTED', '3 STOPPED END_TURN']);
});

it.each([
  ['one that obeys', 'sleep 600'],
  ['one that ignores the cancel', 'list\nhang'],
  ['one that asks a question', 'ask Which colour?'],
  ['one that asks for a permission', 'tool Deploy'],
])('interrupts the turn for a message: %s', async (_what, prompt) => {
  const id = await createSession(test, { prompt });
  await waitForSession(test, id, ({ statusDetail }) =>
    prompt.includes('?') || prompt.includes('Deploy')
      ? statusDetail?.startsWith('WAITING') === true
      : statusDetail === 'WORKING',
  );
  if (prompt.includes('hang')) await untilReported(id);
  const sent = await runMutation(test, 'sendMessage', 'message { mode }', {
    sessionId: id,
    body: 'say instead',
    mode: 'INTERRUPT',
  });
  expect(sent).toMatchObject({ message: { mode: 'INTERRUPT' }, userErrors: [] });
  await waitUntilEnded(test, id);
  expect((await readMessages(test, id)).at(-1)).toBe('AGENT_MESSAGE: instead');
  expect(await turnsOf(id)).toEqual(['1 STARTED', '1 STOPPED CANCELLED', '2 STARTED', '2 STOPPED END_TURN']);
});

it('lets a message wait although the profile cancels turns', async () => {
  const id = await createSession(test, { prompt: 'list\nsleep 600', agent: 'steered' });
  await untilReported(id);
  await runMutation(test, 'sendMessage', 'message { id }', { sessionId: id, body: 'say one', mode: 'QUEUE' });
  // The second message cancels the turn, as the profile says. Without its mode, the first one would have.
  expect(await turnsOf(id)).toEqual(['1 STARTED']);
  await send(id, 'say two');
  await waitUntilEnded(test, id);
  expect((await readMessages(test, id)).slice(-2)).toEqual(['AGENT_MESSAGE: one', 'AGENT_MESSAGE: two']);
  expect(await turnsOf(id)).toEqual(['1 STARTED', '1 STOPPED CANCELLED', '2 STARTED', '2 STOPPED END_TURN']);
});

const retry = (sessionId: string) => runMutation(test, 'retryTurn', 'session { status }', { sessionId });

it('sends the messages of a stopped turn again, with those that waited and without a note', async () => {
  const id = await startWorking('list\nask Which colour?');
  await waitUntilWaiting(test, id);
  await send(id, 'blue');
  await waitUntilEnded(test, id);
  await send(id, 'prompt\nsleep 600');
  await waitForSession(test, id, ({ statusDetail }) => statusDetail === 'WORKING');
  const gone = await runMutation(test, 'sendMessage', 'message { id }', { sessionId: id, body: 'say gone' });
  const withdrawn = await runMutation(test, 'withdrawMessage', 'message { delivery }', { messageId: gone.message.id });
  expect(withdrawn).toMatchObject({ message: { delivery: 'WITHDRAWN' }, userErrors: [] });
  await send(id, 'say waited');
  expect(await retry(id)).toMatchObject({ userErrors: [{ code: 'INVALID_STATE' }] });
  await interrupt(id);
  await waitUntilWaiting(test, id);
  expect(await retry(id)).toMatchObject({ session: { status: 'RUNNING' }, userErrors: [] });
  await waitForSession(test, id, ({ statusDetail }) => statusDetail === 'WORKING');
  await runMutation(test, 'sendMessage', 'message { id }', { sessionId: id, body: 'say done', mode: 'INTERRUPT' });
  await waitUntilEnded(test, id);
  const answers = (await readMessages(test, id)).filter((message) => message.startsWith('AGENT_MESSAGE')).slice(-2);
  expect(answers[0]).toMatch(/\[user\]\nprompt\nsleep 600[\s\S]*say waited$/);
  expect(answers[0]).not.toMatch(/stopped your previous turn|gone|blue/);
  expect(answers[1]).toBe('AGENT_MESSAGE: done');
  expect(await retry(id)).toMatchObject({ userErrors: [{ code: 'INVALID_STATE' }] });
});

it('retries a turn that failed', async () => {
  const id = await createSession(test, { prompt: 'refuse 400 No' });
  await waitForSession(test, id, ({ status }) => status === 'ERROR');
  expect(await retry(id)).toMatchObject({ session: { status: 'RESUMING' }, userErrors: [] });
  await waitForSession(test, id, ({ status }) => status === 'ERROR');
  const turns = await turnsOf(id);
  expect(turns).toEqual(['1 STARTED', '2 STARTED']);
  const { data } = await graphql(
    test,
    test.adminToken,
    `query($id: ID!) { session(id: $id) { messages(first: 1) { nodes { id } } } }`,
    { id },
  );
  expect(data.session.messages.nodes).toHaveLength(1);
});

it('retries a start that failed with the messages that wait, and not with those of a completed turn', async () => {
  const isFailed = ({ status }: { status: string }) => status === 'ERROR';
  const sent = async (id: string) => {
    const sql = 'select turn_seqs from run where session_id = $1';
    const [run] = await test.app.services.store.query<{ turn_seqs: number[] }>(sql, [id]);
    return run?.turn_seqs;
  };
  const id = await createSession(test, { prompt: 'first', agent: 'startable' });
  await waitForSession(test, id, isFailed);
  writeFileSync(switchFile, '');
  expect(await retry(id)).toMatchObject({ session: { status: 'RESUMING' }, userErrors: [] });
  await waitUntilEnded(test, id);
  const [first] = (await sent(id)) ?? [];
  // An agent that is still there takes the next message.
  while (agentsOf(id).length > 0) await setImmediate();
  rmSync(switchFile);
  await send(id, 'second');
  await waitForSession(test, id, isFailed);
  writeFileSync(switchFile, '');
  expect(await retry(id)).toMatchObject({ session: { status: 'RESUMING' }, userErrors: [] });
  await waitUntilEnded(test, id);
  rmSync(switchFile);
  expect(await turnsOf(id)).toEqual(['1 STARTED', '1 STOPPED END_TURN', '2 STARTED', '2 STOPPED END_TURN']);
  expect(await sent(id)).toHaveLength(1);
  expect(await sent(id)).not.toContain(first);
});

it('survives stops, messages and terminations at the same time', async () => {
  const ids = await Promise.all([1, 2, 3, 4].map(() => startWorking('sleep 600')));
  const acts = ids.flatMap((id) => [
    interrupt(id),
    send(id, 'say more'),
    interrupt(id),
    runMutation(test, 'terminateSession', 'session { id }', { sessionId: id }),
    interrupt(id),
    call(test, test.v1Key, 'POST', `/v1/sessions/${id}/message`, { message: 'say more' }),
  ]);
  for (const { error } of await Promise.all(acts)) expect([undefined, 'INVALID_STATE']).toContain(error);
  for (const id of ids) {
    await waitUntilEnded(test, id);
    while (agentsOf(id).length > 0) await setImmediate();
    const turns = await turnsOf(id);
    expect(turns.filter((turn: string) => turn.includes('1 STOPPED')).length).toBeLessThanOrEqual(1);
    expect(await interrupt(id)).toMatchObject({ session: { status: 'EXIT' }, userErrors: [] });
  }
});

it('ends the turn at the next start if the service is killed in the middle of a stop, and starts no agent', async () => {
  const agentsConfig = await writeProfiles({ stop_graces_ms: { ...graces, interrupt: 600_000 } });
  const env = { ...(await makeServerEnv()), AGENTS_CONFIG: agentsConfig };
  let server = await startServer(env);
  const target = () => ({ url: server.url, adminToken: bootstrapToken });
  const id = await createFirstSession(server, bootstrapToken, 'list\nhang');
  await waitForSession(target(), id, ({ statusDetail }) => statusDetail === 'WORKING');
  const document = mutationDocument('interruptSession', 'userErrors { message }');
  const { data } = await graphql(server, bootstrapToken, document, { input: { sessionId: id } });
  expect(data.interruptSession.userErrors).toEqual([]);
  await server.kill();
  server = await startServer(env);
  await waitForSession(target(), id, ({ statusDetail }) => statusDetail === 'WAITING_FOR_USER');
  const turns = (await readEvents(target(), id)).filter(({ kind }) => kind === 'TURN');
  expect(turns.map(({ phase, stopReason }) => stopReason ?? phase)).toEqual(['started', 'cancelled']);
  expect(await server.stop()).toBe(0);
});
