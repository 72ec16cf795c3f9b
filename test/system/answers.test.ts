import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { findByEnvironment, signalProcess } from '../../src/agents/sandbox/process-identity.ts';
import { suspendIdleSessions } from '../../src/domain/sessions/idle-sessions.ts';
import { call, startApp, type TestApp } from '../support/app.ts';
import { writeProfiles } from '../support/profiles.ts';
import { scriptedCommand } from '../support/programs.ts';
import {
  answerQuestion,
  askingAtOnce,
  askingInTurn,
  readAnswers,
  readPendingQuestion,
  waitForQuestion,
} from '../support/questions.ts';
import { sendMessage } from '../support/reports.ts';
import type { Script } from '../support/scripted-agent.ts';
import {
  readEvents,
  readMessages,
  waitForSession,
  waitUntilEnded,
  waitUntilWaiting,
} from '../support/session-waits.ts';
import { createSession } from '../support/sessions.ts';
import { testDatabase } from '../support/test-store.ts';

const directory = mkdtempSync(join(tmpdir(), 'switchyard-answers-'));
let test: TestApp;
beforeAll(async () => {
  const scripted = (id: string, script: Script) => {
    const file = join(directory, `${id}.json`);
    writeFileSync(file, JSON.stringify(script));
    return { id, command: scriptedCommand(file), sandbox: 'none', mcp: false, permission: 'ask' };
  };
  const agentsConfig = await writeProfiles(
    { permission: 'ask', retry_delays_ms: [0, 0] },
    scripted('in-turn', askingInTurn('ls', 'make')),
    scripted('at-once', askingAtOnce('ls', 'make')),
  );
  test = await startApp({ roles: ['api', 'worker'], agentsConfig });
});
afterAll(async () => {
  await test.close();
  rmSync(directory, { recursive: true, force: true });
});

/** Starts a session that ends with its test, because each waiting session occupies a slot of the worker. */
async function start(input: { readonly prompt: string; readonly agent?: string }): Promise<string> {
  const id = await createSession(test, input);
  onTestFinished(async () => {
    await call(test, test.v1Key, 'DELETE', `/v1/sessions/${id}`);
  });
  return id;
}

const allow = { optionId: '1' };
const reject = { optionId: '2' };
const outcomes = async (id: string) => (await readMessages(test, id)).filter((each) => each.includes('outcome'));
const byRest = {
  v1: (id: string, message: string) => call(test, test.v1Key, 'POST', `/v1/sessions/${id}/message`, { message }),
  v3: (id: string, message: string) =>
    call(test, test.adminToken, 'POST', `/v3/organizations/${test.organizationId}/sessions/${id}/messages`, {
      message,
    }),
};
const agentsOf = (id: string) => findByEnvironment({ SWITCHYARD_RUN: id });
const signalAgents = (id: string, signal: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL') => {
  for (const pid of agentsOf(id)) signalProcess(pid, signal);
};

it('answers the given question, and logs the chosen option', async () => {
  const id = await start({ prompt: 'go', agent: 'in-turn' });
  const first = await waitForQuestion(test, id, 'May I run ls?');
  expect(first).toMatchObject({
    reason: 'PERMISSION',
    relatedToolCallId: 'ls',
    options: [
      { optionId: '1', name: 'Allow', kind: 'ALLOW_ONCE' },
      { optionId: '2', name: 'Reject', kind: 'REJECT_ONCE' },
    ],
  });
  const { questionId } = first;
  expect(await answerQuestion(test, id, questionId, reject)).toEqual({
    session: expect.objectContaining({ pendingQuestion: null }),
    message: {
      id: expect.any(String),
      type: 'USER_MESSAGE',
      body: 'Reject',
      answer: { questionId, optionId: '2', question: { body: 'May I run ls?' } },
    },
    userErrors: [],
  });
  const second = await waitForQuestion(test, id, 'May I run make?');
  expect((await answerQuestion(test, id, second.questionId, allow)).userErrors).toEqual([]);
  await waitUntilEnded(test, id);
  expect(await outcomes(id)).toEqual([expect.stringContaining('"no"'), expect.stringContaining('"yes"')]);
  expect(await readAnswers(test, id)).toEqual({
    messages: [
      { type: 'USER_MESSAGE', body: 'Reject', answer: { questionId, optionId: '2' } },
      { type: 'USER_MESSAGE', body: 'Allow', answer: { questionId: second.questionId, optionId: '1' } },
    ],
    permissions: [
      { title: 'ls', decision: 'DENIED', questionId, option: first.options[1] },
      { title: 'make', decision: 'ALLOWED', questionId: second.questionId, option: second.options[0] },
    ],
  });
  expect(await readPendingQuestion(test, id)).toBe(null);
});

it.each(['in-turn', 'at-once'])('refuses a late answer to the first of two questions (%s)', async (agent) => {
  const id = await start({ prompt: 'go', agent });
  const first = await waitForQuestion(test, id, 'May I run ls?');
  await answerQuestion(test, id, first.questionId, reject);
  const second = await waitForQuestion(test, id, 'May I run make?');
  const before = await readEvents(test, id);
  expect(await answerQuestion(test, id, first.questionId, allow)).toEqual({
    session: null,
    message: null,
    userErrors: [{ code: 'INVALID_STATE', message: expect.any(String), path: ['input', 'questionId'] }],
  });
  expect(await readEvents(test, id)).toEqual(before);
  expect((await readPendingQuestion(test, id))?.questionId).toBe(second.questionId);
  await answerQuestion(test, id, second.questionId, reject);
  await waitUntilEnded(test, id);
  expect((await readAnswers(test, id)).permissions.map(({ decision }) => decision)).toEqual(['DENIED', 'DENIED']);
});

it.each(['v1', 'v3'] as const)(
  'does not take a second message for the answer to the next question (%s)',
  async (api) => {
    const id = await start({ prompt: 'go', agent: 'in-turn' });
    const first = await waitForQuestion(test, id, 'May I run ls?');
    // The agent asks the next question when both messages have arrived.
    signalAgents(id, 'SIGSTOP');
    for (const message of ['Allow', 'Allow']) expect((await byRest[api](id, message)).status).toBe(200);
    signalAgents(id, 'SIGCONT');
    const second = await waitForQuestion(test, id, 'May I run make?');
    const { messages, permissions } = await readAnswers(test, id);
    expect(messages.map(({ answer }) => answer)).toEqual([{ questionId: first.questionId, optionId: null }, null]);
    expect(permissions.map(({ title, decision }) => `${title} ${decision}`)).toEqual(['ls ALLOWED']);
    // The later message answers the second question; the other one of the two belongs to the next turn.
    expect((await byRest[api](id, 'Reject')).status).toBe(200);
    await waitForQuestion(test, id, 'May I run ls?');
    const after = await readAnswers(test, id);
    expect(after.messages[2].answer).toEqual({ questionId: second.questionId, optionId: null });
    expect(after.permissions.map(({ title, decision }) => `${title} ${decision}`)).toEqual([
      'ls ALLOWED',
      'make DENIED',
    ]);
    await byRest[api](id, 'no');
  },
);

describe.skipIf(testDatabase === 'pglite')('a message that was sent before the question', () => {
  const ways = {
    v1: { token: () => test.v1Key, path: (id: string) => `/v1/sessions/${id}/message` },
    v3: {
      token: () => test.adminToken,
      path: (id: string) => `/v3/organizations/${test.organizationId}/sessions/${id}/messages`,
    },
  };

  // The message waits for another request with the same idempotency key, after it was checked against the first question.
  it.each(['v1', 'v3'] as const)('is not its answer (%s)', async (api) => {
    const other = await test.another();
    const holder = new pg.Client({ connectionString: test.databaseUrl as string });
    await holder.connect();
    onTestFinished(async () => {
      await holder.end();
      await other.close();
    });
    const id = await start({ prompt: 'go', agent: 'at-once' });
    const first = await waitForQuestion(test, id, 'May I run ls?');
    const { token, path } = ways[api];
    const send = (to: TestApp, key: string) =>
      call(to, token(), 'POST', path(id), { message: 'Allow' }, { 'idempotency-key': key });

    // Another transaction holds the key's row, as such a message writes it.
    const warm = await start({ prompt: 'sleep 600' });
    await call(test, token(), 'POST', path(warm), { message: 'Allow' }, { 'idempotency-key': `${api}-key` });
    await holder.query('begin');
    const insertedKey = await holder.query(
      `update idempotency_key set created_at = now() where operation = 'sendMessage' and key = $1 returning key`,
      [`${api}-key`],
    );
    expect(insertedKey.rowCount).toBe(1);
    await holder.query('delete from idempotency_key where key = $1', [`${api}-key`]);
    const late = send(other, `${api}-key`);
    await expect
      .poll(async () => {
        const { rows } = await holder.query(
          `select count(*)::int as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        );
        return rows[0].count;
      })
      .toBe(1);
    await answerQuestion(test, id, first.questionId, reject);
    const second = await waitForQuestion(test, id, 'May I run make?');
    await holder.query('commit');
    expect((await late).status).toBe(200);

    const { messages, permissions } = await readAnswers(test, id);
    expect(messages.map(({ body, answer }) => [body, answer?.questionId ?? null])).toEqual([
      ['Reject', first.questionId],
      ['Allow', null],
    ]);
    expect((await readPendingQuestion(test, id))?.questionId).toBe(second.questionId);
    await answerQuestion(test, id, second.questionId, reject);
    await expect.poll(async () => (await readAnswers(test, id)).permissions.length).toBeGreaterThan(1);
    expect(permissions.map(({ decision }) => decision)).toEqual(['DENIED']);
    expect((await readAnswers(test, id)).permissions.map(({ decision }) => decision)).toEqual(['DENIED', 'DENIED']);
  });
});

it('accepts one of two concurrent answers', async () => {
  const id = await start({ prompt: 'go', agent: 'in-turn' });
  const { questionId } = await waitForQuestion(test, id, 'May I run ls?');
  const both = await Promise.all([allow, reject].map((answer) => answerQuestion(test, id, questionId, answer)));
  const [taken, ...others] = both.filter(({ userErrors }) => userErrors.length === 0);
  expect(others).toEqual([]);
  const refused = both.find((each) => each !== taken);
  expect(refused.userErrors).toMatchObject([{ code: 'INVALID_STATE' }]);
  await waitForQuestion(test, id, 'May I run make?');
  const { messages, permissions } = await readAnswers(test, id);
  expect(messages.map(({ body }) => body)).toEqual([taken.message.body]);
  expect(permissions[0].option.name).toBe(taken.message.body);
});

describe('a message over GraphQL during an open permission request', () => {
  it.each(['yes', 'Allow once', '1', 'say use yarn'])('starts the next turn and is no answer: %s', async (text) => {
    const id = await start({ prompt: 'tool Deploy\nsay deployed' });
    const { questionId } = await waitForQuestion(test, id, 'May I run Deploy?');
    await sendMessage(test, id, text);
    await waitUntilEnded(test, id);
    const { messages, permissions } = await readAnswers(test, id);
    expect(messages).toEqual([{ type: 'USER_MESSAGE', body: text, answer: null }]);
    expect(permissions).toEqual([{ title: 'Deploy', decision: 'CANCELLED', questionId, option: null }]);
    const turns = (await readEvents(test, id)).filter(({ phase }) => phase === 'stopped');
    expect(turns.map(({ stopReason }) => stopReason)).toEqual(['cancelled', 'end_turn']);
    const spoken = await readMessages(test, id);
    expect(spoken).not.toContain('AGENT_MESSAGE: deployed');
    if (text === 'say use yarn') expect(spoken.at(-1)).toBe('AGENT_MESSAGE: use yarn');
    expect((await answerQuestion(test, id, questionId, allow)).userErrors).toMatchObject([{ code: 'INVALID_STATE' }]);
  });

  it('ends a turn without a worker, which is not resumed', async () => {
    const id = await start({ prompt: 'tool Deploy\nsay deployed' });
    await waitForQuestion(test, id, 'May I run Deploy?');
    await suspend(id);
    await sendMessage(test, id, 'say use yarn');
    await waitUntilEnded(test, id);
    const turns = (await readEvents(test, id)).filter(({ kind }) => kind === 'TURN');
    expect(turns.map(({ turn, phase, stopReason }) => [turn, phase, stopReason].join(' '))).toEqual([
      '1 started ',
      '1 stopped cancelled',
      '2 started ',
      '2 stopped end_turn',
    ]);
    expect((await readMessages(test, id)).at(-1)).toBe('AGENT_MESSAGE: use yarn');
  });
});

/** Suspends a session like the service does after a long wait for the user: the question stays open. */
async function suspend(id: string): Promise<void> {
  const { services } = test.app;
  await services.store.execute(`update session set updated_at = now() - interval '2 hours' where id = $1`, [id]);
  await services.store.execute(`update log_entry set created_at = now() - interval '2 hours' where session_id = $1`, [
    id,
  ]);
  expect(await suspendIdleSessions(services, 60 * 60_000, () => false)).toBe(1);
  await waitForSession(test, id, ({ status }) => status === 'SUSPENDED');
  await expect.poll(() => agentsOf(id)).toEqual([]);
}

it('delivers an answer to the agent that repeats the question after a suspension, and to no other question', async () => {
  const id = await start({ prompt: 'tool Deploy\ntool Restart' });
  const { questionId } = await waitForQuestion(test, id, 'May I run Deploy?');
  await suspend(id);
  expect((await readPendingQuestion(test, id))?.questionId).toBe(questionId);
  expect(await answerQuestion(test, id, questionId, allow)).toMatchObject({
    session: { status: 'RESUMING', pendingQuestion: null },
    userErrors: [],
  });
  const next = await waitForQuestion(test, id, 'May I run Restart?');
  expect((await readAnswers(test, id)).permissions).toMatchObject([
    { title: 'Deploy', decision: 'ALLOWED', questionId },
  ]);
  await answerQuestion(test, id, next.questionId, { optionId: '3' });
  await waitUntilEnded(test, id);
  expect((await readMessages(test, id)).filter((each) => each.includes('May I run Deploy?'))).toHaveLength(1);
});

it('asks again for a permission that the agent did not use before it crashed', async () => {
  const id = await start({ prompt: 'tool Deploy\nsleep 600' });
  const first = await waitForQuestion(test, id, 'May I run Deploy?');
  await answerQuestion(test, id, first.questionId, allow);
  await expect.poll(async () => (await readAnswers(test, id)).permissions).toHaveLength(1);
  signalAgents(id, 'SIGKILL');
  const again = await waitForQuestion(test, id, 'May I run Deploy?');
  expect(again.questionId).not.toBe(first.questionId);
  expect((await answerQuestion(test, id, first.questionId, allow)).userErrors).toMatchObject([
    { code: 'INVALID_STATE' },
  ]);
});

it('answers a question with a text, and a question that ends its turn with an option or a text', async () => {
  const form = await start({ prompt: 'ask Which colour?' });
  const question = await waitForQuestion(test, form, 'Which colour?');
  expect(question).toMatchObject({ reason: 'QUESTION', options: [] });
  await answerQuestion(test, form, question.questionId, { text: 'blue' });
  await waitUntilEnded(test, form);
  expect((await readMessages(test, form)).at(-1)).toBe('AGENT_MESSAGE: You answered: blue');

  const tool = 'mcp ask_user {"question": "Which?", "options": ["say one", "say two"]}';
  const id = await start({ prompt: tool });
  const { questionId, options } = await waitForQuestion(test, id, 'Which?');
  expect(options).toEqual([
    { optionId: '1', name: 'say one', kind: null },
    { optionId: '2', name: 'say two', kind: null },
  ]);
  await waitUntilWaiting(test, id);
  expect((await readPendingQuestion(test, id))?.questionId).toBe(questionId);
  await answerQuestion(test, id, questionId, { optionId: '2' });
  await waitUntilEnded(test, id);
  expect((await readMessages(test, id)).at(-1)).toBe('AGENT_MESSAGE: two');
  expect(await readPendingQuestion(test, id)).toBe(null);
});
