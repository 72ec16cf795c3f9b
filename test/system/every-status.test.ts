import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadProfiles } from '../../src/agents/profiles.ts';
import { v1Statuses } from '../../src/api/rest/v1/status-enum.ts';
import { sessionStatuses } from '../../src/domain/sessions/status.ts';
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

// Actions of a client, an agent or the clock cause each status, which is read over versions 1 and 3.
const seen = { v1: new Set<string>(), v3: new Set<string>() };
const directory = mkdtempSync(join(tmpdir(), 'switchyard-gate-'));
const gate = join(directory, 'open');
/** ACUs pass fast here: one is 0.6 s of work, and usage is checked five times a second. */
const metering = { minutesPerAcu: 0.01, acusPerUsd: 0, everyMs: 200 };

let test: TestApp;
beforeAll(async () => {
  const { profiles } = await loadProfiles(null);
  const command = profiles.get('demo')?.command ?? [];
  const wait = ['sh', '-c', `while [ ! -e '${gate}' ]; do sleep 0.05; done; exec "$@"`, 'sh'];
  const agentsConfig = await writeProfiles(
    { retry_delays_ms: [] },
    { id: 'asking', command, permission: 'ask' },
    { id: 'gated', command: [...wait, ...command], sandbox: 'none' },
  );
  test = await startApp({ roles: ['api', 'worker'], agentsConfig, maxConcurrentSessions: 2, metering });
});
afterAll(async () => {
  await test.close();
  rmSync(directory, { recursive: true, force: true });
});

/** Returns `status_enum | status status_detail`, from versions 1 and 3. */
async function readStatus(id: string, app: TestApp = test): Promise<string> {
  const one = await call(app, app.v1Key, 'GET', `/v1/sessions/${id}`);
  const three = await call(app, app.adminToken, 'GET', `/v3/organizations/${app.organizationId}/sessions/${id}`);
  expect([one.status, three.status]).toEqual([200, 200]);
  const { status, status_detail: detail } = three.body;
  seen.v1.add(one.body.status_enum);
  seen.v3.add(status);
  return `${one.body.status_enum} | ${status} ${detail}`;
}

const send = (id: string, message: string) => call(test, test.v1Key, 'POST', `/v1/sessions/${id}/message`, { message });
const terminate = (id: string) => call(test, test.v1Key, 'DELETE', `/v1/sessions/${id}`);
const working = ({ statusDetail }: { statusDetail: string | null }) => statusDetail === 'WORKING';
const asleep = ({ status }: { status: string }) => status === 'SUSPENDED';
const act = async (mutation: string, input: Record<string, unknown>, headers: Record<string, string> = {}) => {
  const document = mutationDocument(mutation, 'userErrors { message }');
  const { data, errors } = await graphql(test, test.adminToken, document, { input }, headers);
  expect({ errors, ...data?.[mutation] }).toEqual({ errors: undefined, userErrors: [] });
};
const fromConsole = { 'switchyard-client': 'console' };
/** Fills the slots, so that no other session gets an agent until the returned function is called. */
const fillSlots = async () => {
  const ids = [await createSession(test, { prompt: 'sleep 60' }), await createSession(test, { prompt: 'sleep 60' })];
  for (const id of ids) await waitForSession(test, id, working);
  return async () => {
    for (const id of ids) await terminate(id);
  };
};

it('shows a session that waits for a worker, one whose agent starts, and one at work', async () => {
  const claimed = await createSession(test, { prompt: 'sleep 60', agent: 'gated' });
  await waitForSession(test, claimed, ({ status }) => status === 'CLAIMED');
  expect(await readStatus(claimed)).toBe('working | claimed null');
  const busy = await createSession(test, { prompt: 'sleep 60' });
  await waitForSession(test, busy, working);
  const waiting = await createSession(test, { prompt: 'say hello' });
  expect(await readStatus(waiting)).toBe('working | new null');
  writeFileSync(gate, '');
  await waitForSession(test, claimed, working);
  expect(await readStatus(claimed)).toBe('working | running working');
  for (const id of [claimed, busy]) await terminate(id);
  expect(await readStatus(claimed)).toBe('finished | exit null');
  await waitUntilEnded(test, waiting);
  expect(await readStatus(waiting)).toBe('finished | exit finished');
});

it('shows a session that waits for its user, and one that waits for an approval', async () => {
  const question = await createSession(test, { prompt: 'ask Which colour?' });
  await waitUntilWaiting(test, question);
  expect(await readStatus(question)).toBe('blocked | running waiting_for_user');
  const approval = await createSession(test, { prompt: 'tool Deploy', agent: 'asking' });
  await waitUntilWaiting(test, approval);
  expect(await readStatus(approval)).toBe('blocked | running waiting_for_approval');
  for (const id of [question, approval]) await terminate(id);
});

it('shows a session whose agent failed', async () => {
  const id = await createSession(test, { prompt: 'crash' });
  await waitUntilEnded(test, id);
  expect(await readStatus(id)).toBe('blocked | error null');
});

it.each([
  ['by the API', {}, ''],
  ['in the console', fromConsole, '_frontend'],
])('shows a session that is suspended and resumed %s', async (_where, headers, end) => {
  const id = await createSession(test, { prompt: 'hang' });
  await waitForSession(test, id, working);
  await send(id, 'hang');
  await act('suspendSession', { sessionId: id }, headers);
  expect(await readStatus(id)).toBe(`suspend_requested${end} | suspended user_request`);
  const giveBack = await fillSlots();
  await act('resumeSession', { sessionId: id }, headers);
  expect(await readStatus(id)).toBe(`resume_requested${end} | resuming null`);
  await giveBack();
  await waitForSession(test, id, working);
  expect(await readStatus(id)).toBe('resumed | running working');
  await terminate(id);
});

it('shows a session that reached its limit, and continues it when the limit is raised', async () => {
  const id = await createSession(test, { prompt: 'say begun\nsleep 3\nsay done', maxAcuLimit: 1 });
  await waitForSession(test, id, ({ status }) => status === 'RUNNING' || status === 'SUSPENDED');
  const startedAt = performance.now();
  await waitForSession(test, id, asleep);
  expect(performance.now() - startedAt).toBeLessThan(10_000);
  expect(await readStatus(id)).toBe('blocked | suspended usage_limit_exceeded');
  const limits = async () => (await readEvents(test, id)).filter(({ kind }) => kind === 'LIMIT').length;
  expect(await limits()).toBe(1);
  expect((await readMessages(test, id)).at(-1)).toMatch(/^AGENT_MESSAGE: .*reached its ACU limit: 1 ACU/);
  // Without a higher limit, a message resumes the session only briefly, and is not lost.
  await send(id, 'say and more');
  while ((await limits()) < 2) await new Promise((resolve) => setImmediate(resolve));
  await act('updateSession', { sessionId: id, maxAcuLimit: 1_000 });
  expect(await readStatus(id)).toBe('blocked | suspended usage_limit_exceeded');
  await send(id, 'say at last');
  await waitUntilEnded(test, id);
  expect(await readStatus(id)).toBe('finished | exit finished');
  const messages = await readMessages(test, id);
  expect(messages.filter((each) => /AGENT_MESSAGE: (done|and more|at last)/.test(each))).toEqual([
    'AGENT_MESSAGE: done',
    'AGENT_MESSAGE: and more',
    'AGENT_MESSAGE: at last',
  ]);
});

it.each([
  ['a limit for a session', 'updateOrganization', 'maxSessionAcuLimit', 1, 'total_session_limit_exceeded'],
  ['a limit for a month', 'updateOrganization', 'maxCycleAcuLimit', 1, 'org_usage_limit_exceeded'],
  ['nothing to use', 'updateOrganization', 'maxCycleAcuLimit', 0, 'no_quota_allocation'],
  ['an enterprise with a limit for a month', 'updateEnterprise', 'maxCycleAcuLimit', 1, 'out_of_quota'],
])('shows a session that is stopped by %s', async (_what, mutation, name, limit, detail) => {
  const id = await createSession(test, { prompt: 'sleep 60' });
  await waitForSession(test, id, working);
  const target = mutation === 'updateOrganization' ? { organizationId: test.organizationId } : {};
  await act(mutation, { ...target, [name]: limit });
  await waitForSession(test, id, asleep);
  expect(await readStatus(id)).toBe(`blocked | suspended ${detail}`);
  // New sessions cannot start either, so their agents send nothing.
  if (name === 'maxCycleAcuLimit') {
    const other = await createSession(test, { prompt: 'say hello' });
    await waitForSession(test, other, asleep);
    expect(await readStatus(other)).toBe(`blocked | suspended ${detail}`);
    expect(await readMessages(test, other)).toHaveLength(2);
    expect((await readEvents(test, other)).filter(({ kind }) => kind === 'TURN')).toEqual([]);
  }
  if (name === 'maxSessionAcuLimit') {
    // A session created under the limit stops with the same detail, and continues once the limit is raised.
    const other = await createSession(test, { prompt: 'sleep 2\nsay done' });
    await waitForSession(test, other, asleep);
    expect(await readStatus(other)).toBe(`blocked | suspended ${detail}`);
    await act(mutation, { ...target, [name]: 1_000 });
    await send(other, 'say and more');
    await waitUntilEnded(test, other);
    expect(await readStatus(other)).toBe('finished | exit finished');
  }
  await act(mutation, { ...target, [name]: null });
  await terminate(id);
  expect(await readStatus(id)).toBe('finished | exit null');
});

it('shows an unanswered session, which is suspended and expires', async () => {
  const times = { idleSuspendMs: 1_000, sessionExpiryMs: 4_000 };
  const other = await startApp({ roles: ['api', 'worker', 'scheduler'], ...times });
  try {
    const id = await createSession(other, { prompt: 'ask Is anybody there?' });
    await waitUntilWaiting(other, id);
    await waitForSession(other, id, asleep);
    expect(await readStatus(id, other)).toBe('blocked | suspended inactivity');
    await waitUntilEnded(other, id);
    expect(await readStatus(id, other)).toBe('expired | exit null');
    const { body } = await call(other, other.v1Key, 'POST', `/v1/sessions/${id}/message`, { message: 'yes' });
    expect(body.detail).toBe('The session has expired and takes no further messages.');
  } finally {
    await other.close();
  }
});

it('has shown every status of versions 1 and 3', () => {
  expect([...seen.v1].sort()).toEqual([...v1Statuses].sort());
  expect([...seen.v3].sort()).toEqual([...sessionStatuses].sort());
});
