import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findByEnvironment } from '../../src/agents/sandbox/process-identity.ts';
import { suspendIdleSessions } from '../../src/domain/sessions/idle-sessions.ts';
import { resumeSession, suspendSession } from '../../src/domain/sessions/suspend-session.ts';
import { asAdministrator } from '../rest/rest-app.ts';
import { call, startApp, type TestApp } from '../support/app.ts';
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
  const agentsConfig = await writeProfiles({});
  test = await startApp({ roles: ['api', 'worker'], agentsConfig, maxConcurrentSessions: 3 });
});
afterAll(() => test.close());

const agentsOf = (id: string) => findByEnvironment({ SWITCHYARD_RUN: id });
const waitForNoAgent = async (id: string) => {
  while (agentsOf(id).length > 0) await new Promise((resolve) => setImmediate(resolve));
};
const ask = (method: string, id: string, rest: string, body?: object) =>
  call(test, test.adminToken, method, `/v3/organizations/${test.organizationId}/sessions/${id}${rest}`, body);
const v1StatusOf = async (id: string) => (await call(test, test.v1Key, 'GET', `/v1/sessions/${id}`)).body.status_enum;
const statusesOf = async (id: string) =>
  (await readEvents(test, id)).filter((event) => event.kind === 'STATUS').map((event) => event.status);

it('stops the agent of a session that is archived at work, and starts a new turn with the next message', async () => {
  const id = await createSession(test, { prompt: 'say working\nsleep 60' });
  await waitForSession(test, id, ({ statusDetail }) => statusDetail === 'WORKING');
  expect(agentsOf(id)).not.toHaveLength(0);
  expect((await ask('POST', id, '/archive')).body).toMatchObject({
    status: 'suspended',
    status_detail: 'user_request',
    is_archived: true,
  });
  expect(await v1StatusOf(id)).toBe('suspend_requested');
  await waitForNoAgent(id);
  // No output of the agent came after the suspension.
  expect((await statusesOf(id)).slice(-2)).toEqual(['SUSPENDED', 'SUSPENDED']);
  expect((await readEvents(test, id)).at(-1)).toMatchObject({ kind: 'STATUS', status: 'SUSPENDED' });

  expect((await ask('POST', id, '/unarchive')).body).toMatchObject({ status: 'suspended', is_archived: false });
  await ask('POST', id, '/messages', { message: 'say awake' });
  await waitUntilEnded(test, id);
  const events = await readEvents(test, id);
  expect(events.filter((event) => event.kind === 'TURN').map(({ turn, phase }) => `${turn} ${phase}`)).toEqual([
    '1 started',
    '1 stopped',
    '2 started',
    '2 stopped',
  ]);
  expect((await readMessages(test, id)).slice(-2)).toEqual(['USER_MESSAGE: say awake', 'AGENT_MESSAGE: awake']);
});

it('suspends a session once, and records its previous state', async () => {
  const context = await asAdministrator(test);
  const id = await createSession(test, { prompt: 'ask Which colour?' });
  await waitUntilWaiting(test, id);
  expect(await suspendSession({ ...context, isConsole: true }, { sessionId: id })).toMatchObject({
    status: 'suspended',
  });
  expect(await v1StatusOf(id)).toBe('suspend_requested_frontend');
  const before = await readEvents(test, id);
  await suspendSession(context, { sessionId: id });
  expect(await readEvents(test, id)).toEqual(before);
  await waitForNoAgent(id);
});

/** Suspends every session that waits for its user, as the service does after `IDLE_SUSPEND_MINUTES`. */
const suspendIdle = () => suspendIdleSessions(test.app.services, -60_000, () => false);

it('resumes the turn of a session that was suspended without an answer, and delivers the answer', async () => {
  const context = await asAdministrator(test);
  const id = await createSession(test, { prompt: 'ask Which colour?' });
  await waitUntilWaiting(test, id);
  await suspendIdle();
  await waitForSession(test, id, ({ statusDetail }) => statusDetail === 'INACTIVITY');
  await waitForNoAgent(id);

  await resumeSession(context, { sessionId: id });
  await waitUntilWaiting(test, id);
  await ask('POST', id, '/messages', { message: 'blue' });
  await waitUntilEnded(test, id);
  expect(await readMessages(test, id)).toEqual([
    'INITIAL_USER_MESSAGE: ask Which colour?',
    'AGENT_MESSAGE: Which colour?',
    'USER_MESSAGE: blue',
    'AGENT_MESSAGE: You answered: blue',
  ]);
});

it('does not repeat a question answered during suspension, but repeats one answered before', async () => {
  const id = await createSession(test, { prompt: 'ask Really?\nask Sure?' });
  await waitUntilWaiting(test, id);
  await suspendIdle();
  await waitForNoAgent(id);
  await ask('POST', id, '/messages', { message: 'Yes' });
  while (!(await readMessages(test, id)).includes('AGENT_MESSAGE: Sure?')) await setTimeout(50);
  const beforeAnswers = ['INITIAL_USER_MESSAGE: ask Really?\nask Sure?', 'AGENT_MESSAGE: Really?', 'USER_MESSAGE: Yes'];
  const answered = ['AGENT_MESSAGE: You answered: Yes', 'AGENT_MESSAGE: Sure?'];
  expect(await readMessages(test, id)).toEqual([...beforeAnswers, ...answered]);

  await suspendIdle();
  await waitForNoAgent(id);
  await ask('POST', id, '/messages', { message: 'No' });
  // The demo agent restarts its turn without memory: the answered question is asked again, and "No" does not answer it.
  while ((await readMessages(test, id)).at(-1) !== beforeAnswers[1]) await setTimeout(50);
  await ask('POST', id, '/messages', { message: 'Yes' });
  await waitUntilEnded(test, id);
  expect((await readMessages(test, id)).slice(beforeAnswers.length + answered.length)).toEqual([
    'USER_MESSAGE: No',
    'AGENT_MESSAGE: Really?',
    'USER_MESSAGE: Yes',
    'AGENT_MESSAGE: You answered: Yes',
    'AGENT_MESSAGE: You answered: No',
    // The first answer was delivered again with the turn's messages, which the demo agent treats as commands.
    'AGENT_MESSAGE: I do not know the command "Yes".',
  ]);
});

it('resumes a session without work to wait for its user, and starts no agent', async () => {
  const context = await asAdministrator(test);
  const id = await createSession(test, { prompt: 'say hello' });
  await waitUntilEnded(test, id);
  await expect(suspendSession(context, { sessionId: id })).rejects.toMatchObject({ code: 'INVALID_STATE' });
  await expect(resumeSession(context, { sessionId: id })).rejects.toMatchObject({ code: 'INVALID_STATE' });
  await test.app.services.store.execute(
    `update session set status = 'suspended', status_detail = 'user_request', ended_by = null where id = $1`,
    [id],
  );
  expect(await resumeSession(context, { sessionId: id })).toMatchObject({
    status: 'running',
    statusDetail: 'waiting_for_user',
  });
  await ask('POST', id, '/messages', { message: 'say again' });
  await waitUntilEnded(test, id);
  expect((await readMessages(test, id)).at(-1)).toBe('AGENT_MESSAGE: again');
});

it('runs a session that was suspended before a worker claimed it, once it is resumed', async () => {
  const context = await asAdministrator(test);
  // More sessions than slots: the last ones wait.
  const busy = await Promise.all(Array.from({ length: 3 }, () => createSession(test, { prompt: 'sleep 60' })));
  for (const id of busy) await waitForSession(test, id, ({ statusDetail }) => statusDetail === 'WORKING');
  const id = await createSession(test, { prompt: 'say at last' });
  expect((await ask('POST', id, '/archive')).body).toMatchObject({ status: 'suspended' });
  await expect(resumeSession(context, { sessionId: id })).rejects.toMatchObject({ code: 'INVALID_STATE' });
  for (const each of busy) await ask('DELETE', each, '');
  for (const each of busy) await waitForNoAgent(each);
  expect(await statusesOf(id)).toEqual(['NEW', 'SUSPENDED', 'SUSPENDED']);
  await ask('POST', id, '/unarchive');
  expect(await resumeSession(context, { sessionId: id })).toMatchObject({ status: 'resuming' });
  await waitUntilEnded(test, id);
  expect((await readMessages(test, id)).at(-1)).toBe('AGENT_MESSAGE: at last');
});
