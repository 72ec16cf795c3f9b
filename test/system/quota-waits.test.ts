import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { call, graphql, startApp, type TestApp } from '../support/app.ts';
import { type Clock, stopClock } from '../support/clock.ts';
import { type FakeLlm, startFakeLlm } from '../support/fake-llm/fake-llm.ts';
import { endTurn, messageChunk, scriptedProfile } from '../support/live.ts';
import { gatewayTo, modelAgentProfile } from '../support/model-agent.ts';
import { runMutation } from '../support/people.ts';
import { writeProfiles } from '../support/profiles.ts';
import { waitForSession, waitUntilEnded } from '../support/session-waits.ts';
import { createSession } from '../support/sessions.ts';
import { testDatabase } from '../support/test-store.ts';

const apiKey = 'provider-key-c4n4ry';
const folder = mkdtempSync(join(tmpdir(), 'switchyard-quota-'));
/** Output of the agents when their provider answers 429, without a gateway (docs/agents.md#limits-of-providers). */
const claudeText =
  'API Error: Request rejected (429) · This request would exceed your organization’s rate limit of 50 requests per minute.';
const claude = {
  error: { code: -32_603, message: `Internal error: ${claudeText}`, data: { errorKind: 'rate_limit' } },
};
const gemini = {
  error: {
    code: 429,
    message:
      'You exceeded your current quota, please check your plan and billing details. Please retry in 3600s.\nSuggested retry after 3600s.',
  },
};

/** A tool call, which the agent reports before each limit that it invents. */
const work = {
  update: { sessionUpdate: 'tool_call', toolCallId: 'tool', title: 'Work', kind: 'other', status: 'completed' },
};
const soon = { error: { code: 429, message: 'You exceeded your current quota. Please retry in 1s.' } };

const codexPlan = {
  error: {
    code: -32_603,
    message: 'Internal error',
    data: {
      message: 'You’ve hit your usage limit. Upgrade to Pro (https://chatgpt.com/explore/pro), or try again later.',
      codexErrorInfo: 'usageLimitExceeded',
    },
  },
};
const codexText = 'exceeded retry limit, last status: 429 Too Many Requests';

let llm: FakeLlm;
let test: TestApp;
/** The process with the worker: on the embedded database the same. */
let worker: TestApp;
let clock: Clock;
let settings: object;
beforeAll(async () => {
  llm = await startFakeLlm({ apiKey });
  const keyFile = join(folder, 'key');
  writeFileSync(keyFile, apiKey);
  const provider = { url: llm.url, keyFile };
  const agentsConfig = await writeProfiles(
    { memory_mb: 1 },
    modelAgentProfile('retrying', 'retry', provider),
    modelAgentProfile('ending', 'end', provider),
    modelAgentProfile('exiting', 'exit', provider),
    scriptedProfile('claude-text', { 'session/prompt': [{ write: [messageChunk(claudeText), claude] }] }),
    scriptedProfile('gemini-text', { 'session/prompt': [{ write: [gemini] }] }),
    scriptedProfile('working', { 'session/prompt': [{ write: [work, soon] }] }),
    scriptedProfile('codex-plan', { 'session/prompt': [{ write: [codexPlan] }] }),
    scriptedProfile('codex-text', { 'session/prompt': [{ write: [messageChunk(`${codexText}\n\n`)] }, endTurn] }),
    scriptedProfile('quoting', { 'session/prompt': [{ write: [messageChunk(`It says: ${codexText}`)] }, endTurn] }),
    scriptedProfile('inventing', { 'session/prompt': [{ write: [gemini] }] }, gatewayTo(provider)),
  );
  // One slot: a session that waits must not hold it.
  // All processes restore from one storage.
  const attachmentsDir = join(folder, 'files');
  settings = { agentsConfig, attachmentsDir, maxConcurrentSessions: 1, affinityMs: 0 };
  const roles = testDatabase === 'postgres' ? (['api'] as const) : (['api', 'worker'] as const);
  test = await startApp({ roles: [...roles], ...settings });
  worker = testDatabase === 'postgres' ? await test.another({ roles: ['worker'], ...settings }) : test;
  clock = stopClock(test, worker);
});
afterEach(() => llm.setLimit(null));
afterAll(async () => {
  if (worker !== test) await worker.close();
  await test.close();
  await llm.close();
  rmSync(folder, { recursive: true });
});

const fields = `status statusDetail waitsUntil queueReason queuePosition queuedMessages { body }
  events(first: 100) { nodes { seq kind ... on SessionMessage { type body } ... on NoticeEvent { body failure } ... on ErrorEvent { body failure }
    ... on TurnEvent { turn phase stopReason } ... on ToolCallEvent { toolStatus } } }`;
async function read(id: string): Promise<any> {
  const { data, errors } = await graphql(test, test.adminToken, `query($id: ID!) { session(id: $id) { ${fields} } }`, {
    id,
  });
  if (errors) throw new Error(JSON.stringify(errors));
  return { ...data.session, events: data.session.events.nodes };
}
const textsOf = async (id: string) =>
  (await read(id)).events.flatMap(({ type, body }: any) => (type === 'AGENT_MESSAGE' ? [body] : []));
const noticesOf = async (id: string) =>
  (await read(id)).events.flatMap(({ kind, body }: any) => (kind === 'NOTICE' ? [body] : []));
const promptsOf = (id: string): string[] =>
  readFileSync(join(worker.dataDir, 'sessions', id, 'ws', 'prompts.txt'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
const untilWaiting = (id: string) =>
  waitForSession(test, id, ({ statusDetail }) => statusDetail === 'WAITING_FOR_QUOTA');
/** Resolves once the session waits for the second time. A subscription might miss what is between. */
async function untilWaitingAgain(id: string): Promise<void> {
  const waits = async () =>
    (await noticesOf(id)).filter((text: string) => text.includes('has reached its limit')).length;
  while ((await waits()) < 2) await setImmediate();
}
const poll = () => test.app.services.notifier.notify('runs');
/** Runs another session, whose worker has then polled the queue. */
async function runAnother(): Promise<void> {
  const { status } = await waitUntilEnded(test, await createSession(test, { prompt: 'say hello' }));
  expect(status).toBe('EXIT');
}
const limitBy = (seconds: number | null) => llm.setLimit({ seconds: () => seconds });
async function startWaiting(agent: string, seconds: number | null = 20): Promise<string> {
  limitBy(seconds);
  const id = await createSession(test, { prompt: 'Work on it', agent });
  await untilWaiting(id);
  return id;
}

it.for(['retrying', 'ending', 'exiting'])('waits until the reset and continues by itself, once: %s', async (agent) => {
  const before = test.app.services.now().getTime();
  const id = await startWaiting(agent);
  const waiting = await read(id);
  const waitMs = Date.parse(waiting.waitsUntil) - before;
  expect(waitMs).toBeGreaterThanOrEqual(5_000);
  expect(waitMs).toBeLessThanOrEqual(20_000);
  expect(waiting).toMatchObject({ status: 'RUNNING', queueReason: null, queuePosition: null });
  const at = `${waiting.waitsUntil.slice(0, 19).replace('T', ' ')} UTC`;
  expect(await noticesOf(id)).toEqual([`The model’s provider has reached its limit. The session continues at ${at}.`]);
  // REST shows that it works.
  const { body } = await call(test, test.v1Key, 'GET', `/v1/sessions/${id}`);
  expect(body.status_enum).toBe('working');
  const path = `/v3/organizations/org-${test.organizationId}/sessions/devin-${id}`;
  expect((await call(test, test.adminToken, 'GET', path)).body).toMatchObject({
    status: 'running',
    status_detail: 'working',
  });
  llm.setLimit(null);
  clock.advance(waitMs - 1);
  await runAnother();
  expect(await read(id)).toEqual(waiting);
  clock.advance(1);
  poll();
  expect(await waitUntilEnded(test, id)).toMatchObject({ status: 'EXIT' });
  expect(await textsOf(id)).toEqual(['Before the limit.', 'After the limit.']);
  expect(promptsOf(id)).toHaveLength(2);
  expect(promptsOf(id)[1]).toContain('Work on it');
  const { events, waitsUntil } = await read(id);
  expect(waitsUntil).toBeNull();
  expect(events.flatMap(({ toolStatus }: any) => toolStatus ?? [])).toEqual(['IN_PROGRESS', 'COMPLETED']);
  expect(events.flatMap(({ phase, stopReason }: any) => (phase ? [stopReason ?? phase] : []))).toEqual([
    'STARTED',
    'STARTED',
    'END_TURN',
  ]);
});

it.for([
  ['claude-text', 60_000, [claudeText]],
  ['gemini-text', 3_600_000, []],
  ['codex-plan', 60_000, []],
  ['codex-text', 60_000, [`${codexText}\n\n`]],
] as const)('waits by the error of an agent without a gateway: %s', async ([agent, waitMs, texts]) => {
  const id = await createSession(test, { agent });
  await untilWaiting(id);
  const { waitsUntil } = await read(id);
  const fromNow = Date.parse(waitsUntil) - test.app.services.now().getTime();
  expect(fromNow).toBeGreaterThan(waitMs - 30_000);
  expect(fromNow).toBeLessThanOrEqual(waitMs);
  expect(await textsOf(id)).toEqual(texts);
  await runMutation(test, 'terminateSession', 'session { id }', { sessionId: id });
});

it('does not wait because a message quotes the words of an agent', async () => {
  const id = await createSession(test, { agent: 'quoting' });
  expect(await waitUntilEnded(test, id)).toMatchObject({ status: 'EXIT' });
});

it('does not wait for a limit that the gateway has not seen', async () => {
  const id = await createSession(test, { agent: 'inventing' });
  expect(await waitUntilEnded(test, id)).toMatchObject({ status: 'ERROR' });
  const { events } = await read(id);
  expect(events.find(({ kind }: any) => kind === 'ERROR')).toMatchObject({ failure: 'AGENT_FAILED' });
});

const act = (field: string, sessionId: string, more: object = {}) =>
  runMutation(test, field, 'session { status statusDetail waitsUntil }', { sessionId, ...more });
const send = (sessionId: string, body: string) =>
  runMutation(test, 'sendMessage', 'session { statusDetail waitsUntil }', { sessionId, body });
const runOf = async (id: string) => {
  const [run] = await test.app.services.store.query<any>(
    `select crash_count as "crashes", quota_waits as "waits", quota_since as "since" from run where session_id = $1`,
    [id],
  );
  return run;
};

it('continues at once with a message, which is the next turn', async () => {
  const id = await startWaiting('ending', 3_600);
  expect(await runOf(id)).toMatchObject({ crashes: 0, waits: 1 });
  llm.setLimit(null);
  expect(await send(id, 'And this')).toMatchObject({ session: { statusDetail: 'WORKING', waitsUntil: null } });
  await waitUntilEnded(test, id);
  const prompts = promptsOf(id);
  expect(prompts).toHaveLength(3);
  expect(prompts.map((prompt) => [prompt.includes('Work on it'), prompt.includes('And this')])).toEqual([
    [true, false],
    [true, false],
    [false, true],
  ]);
  expect(await textsOf(id)).toEqual(['Before the limit.', 'After the limit.', 'After the limit.']);
  expect(await runOf(id)).toEqual({ crashes: 0, waits: 0, since: null });
});

it('continues at once with retryTurn, and waits again if the limit is still reached', async () => {
  const id = await startWaiting('ending', 3_600);
  expect(await act('retryTurn', id)).toMatchObject({ session: { statusDetail: 'WORKING', waitsUntil: null } });
  await untilWaitingAgain(id);
  llm.setLimit(null);
  await act('retryTurn', id);
  await waitUntilEnded(test, id);
  expect((await act('retryTurn', id)).userErrors).toMatchObject([{ code: 'INVALID_STATE' }]);
  expect(promptsOf(id)).toHaveLength(3);
  expect((await textsOf(id)).filter((text: string) => text === 'Before the limit.')).toHaveLength(1);
  expect((await noticesOf(id)).filter((text: string) => text.startsWith('The session continues without'))).toHaveLength(
    2,
  );
});

it('interrupts the turn that waits for a message that says so', async () => {
  const id = await startWaiting('ending', 3_600);
  await runMutation(test, 'sendMessage', 'session { id }', { sessionId: id, body: 'This instead', mode: 'INTERRUPT' });
  llm.setLimit(null);
  await waitUntilEnded(test, id);
  expect(promptsOf(id).at(-1)).toContain('This instead');
  expect(promptsOf(id).filter((prompt) => prompt.includes('This instead'))).toHaveLength(1);
});

it('is stopped in the wait, and holds the messages that waited', async () => {
  const id = await startWaiting('ending', 3_600);
  await send(id, 'Held');
  await untilWaiting(id);
  expect(await act('interruptSession', id)).toMatchObject({
    session: { status: 'RUNNING', statusDetail: 'WAITING_FOR_USER', waitsUntil: null },
  });
  llm.setLimit(null);
  clock.advance(3_600_000);
  await runAnother();
  expect(await read(id)).toMatchObject({
    statusDetail: 'WAITING_FOR_USER',
    queueReason: null,
    queuedMessages: [{ body: 'Held' }],
  });
  await send(id, 'Go on');
  await waitUntilEnded(test, id);
  expect(promptsOf(id).at(-1)).toMatch(/Held[\s\S]*Go on/);
});

it.for([
  ['terminateSession', 'EXIT'],
  ['suspendSession', 'SUSPENDED'],
  ['archiveSession', 'SUSPENDED'],
] as const)('leaves the wait with %s', async ([field, status]) => {
  const id = await startWaiting('ending', 3_600);
  expect(await act(field, id)).toMatchObject({ session: { status, waitsUntil: null } });
  llm.setLimit(null);
  clock.advance(3_600_000);
  await runAnother();
  expect(await read(id)).toMatchObject({ status });
  expect(promptsOf(id)).toHaveLength(1);
});

it('suspends a session for an ACU limit that was set in its wait', async () => {
  const id = await startWaiting('ending', 3_600);
  llm.setLimit(null);
  const limitTo = (maxCycleAcuLimit: number | null) =>
    runMutation(test, 'updateOrganization', 'organization { id }', {
      organizationId: test.organizationId,
      maxCycleAcuLimit,
    });
  await limitTo(0);
  clock.advance(3_600_000);
  poll();
  expect(await waitForSession(test, id, ({ status }) => status === 'SUSPENDED')).toMatchObject({
    statusDetail: 'NO_QUOTA_ALLOCATION',
  });
  await limitTo(null);
});

it('fails after 24 hours', async () => {
  const id = await startWaiting('ending', null);
  clock.advance(60_000);
  poll();
  await untilWaitingAgain(id);
  expect(Date.parse((await read(id)).waitsUntil) - test.app.services.now().getTime()).toBe(120_000);
  clock.advance(24 * 3_600_000);
  poll();
  expect(await waitUntilEnded(test, id)).toMatchObject({ status: 'ERROR' });
  const error = (await read(id)).events.find(({ kind }: any) => kind === 'ERROR');
  expect(error).toMatchObject({ failure: 'PROVIDER_LIMIT', body: expect.stringContaining('for 24 hours') });
  llm.setLimit(null);
  await send(id, 'Again');
  expect(await waitUntilEnded(test, id)).toMatchObject({ status: 'EXIT' });
});

it('waits longer each time if the agent only calls a tool in between, and starts over after a minute of work', async () => {
  const id = await createSession(test, { agent: 'working' });
  const now = () => test.app.services.now().getTime();
  const nextWait = async (count: number) => {
    while ((await noticesOf(id)).filter((text: string) => text.includes('has reached its limit')).length < count)
      await setImmediate();
    return Date.parse((await read(id)).waitsUntil) - now();
  };
  expect(await nextWait(1)).toBe(5_000);
  clock.advance(5_000);
  poll();
  expect(await nextWait(2)).toBe(60_000);
  const [first, second] = await noticesOf(id);
  expect(first).toMatch(/ UTC\.$/);
  expect(second).toMatch(/ UTC\. It waits longer than the provider asks, because its last wait did not help\.$/);
  // As if the agent had worked for a minute after the wait.
  clock.advance(120_000);
  poll();
  expect(await nextWait(3)).toBe(5_000);
  await runMutation(test, 'terminateSession', 'session { id }', { sessionId: id });
});

// The last test: it replaces the worker.
it.skipIf(testDatabase !== 'postgres')(
  'continues once after its worker has gone, with two others',
  { timeout: 90_000 },
  async () => {
    const id = await startWaiting('ending', 3_600);
    await worker.close();
    const others = await Promise.all([1, 2].map(() => test.another({ roles: ['worker'], ...settings })));
    try {
      clock.join(...others);
      llm.setLimit(null);
      clock.advance(3_600_000);
      // Its workspace may have to wait for a restore, by the clock that stands still.
      const polled = async () => {
        clock.advance(15_000);
        poll();
        return (await read(id)).status;
      };
      await expect.poll(polled, { interval: 200, timeout: 60_000 }).toBe('EXIT');
      const { events } = await read(id);
      expect(events.flatMap(({ phase }: any) => (phase === 'STARTED' ? [phase] : []))).toHaveLength(2);
    } finally {
      await Promise.all(others.map((other) => other.close()));
      worker = test;
    }
  },
);
