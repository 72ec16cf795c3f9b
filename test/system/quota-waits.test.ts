import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { call, graphql, startApp, type TestApp } from '../support/app.ts';
import { type Clock, stopClock } from '../support/clock.ts';
import { type FakeLlm, startFakeLlm } from '../support/fake-llm/fake-llm.ts';
import { messageChunk, scriptedProfile } from '../support/live.ts';
import { modelAgentProfile } from '../support/model-agent.ts';
import { runMutation } from '../support/people.ts';
import { writeProfiles } from '../support/profiles.ts';
import { waitForSession, waitUntilEnded } from '../support/session-waits.ts';
import { createSession } from '../support/sessions.ts';
import { testDatabase } from '../support/test-store.ts';

const apiKey = 'provider-key-c4n4ry';
const folder = mkdtempSync(join(tmpdir(), 'switchyard-quota-'));
/** What the agents print when their provider answers 429, without a gateway (docs/agents.md#limits-of-providers). */
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
  );
  // One slot: a session that waits must not hold it.
  settings = { agentsConfig, maxConcurrentSessions: 1, affinityMs: 0 };
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
  expect(waitMs).toBeGreaterThan(15_000);
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
] as const)('waits by the error of an agent without a gateway: %s', async ([agent, waitMs, texts]) => {
  const id = await createSession(test, { agent });
  await untilWaiting(id);
  expect(Date.parse((await read(id)).waitsUntil)).toBe(test.app.services.now().getTime() + waitMs);
  expect(await textsOf(id)).toEqual(texts);
  await runMutation(test, 'terminateSession', 'session { id }', { sessionId: id });
});
