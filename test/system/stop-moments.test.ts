import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findByEnvironment } from '../../src/agents/sandbox/process-identity.ts';
import { graphql, startApp, type TestApp } from '../support/app.ts';
import { scriptedProfile } from '../support/live.ts';
import { runMutation } from '../support/people.ts';
import { writeProfiles } from '../support/profiles.ts';
import { type S3Server, startS3Server } from '../support/s3-server.ts';
import {
  readEvents,
  readMessages,
  waitForSession,
  waitUntilEnded,
  waitUntilWaiting,
} from '../support/session-waits.ts';
import { createSession } from '../support/sessions.ts';

const hanging = (method: string) =>
  scriptedProfile(
    `hangs in ${method}`.replaceAll(/\W/g, '-'),
    { [method]: [{ sleepMs: 600_000 }] },
    { start_timeout_ms: 600_000, stop_graces_ms: { cancel: 0, stdin: 0, term: 0, interrupt: 0 } },
  );

let s3: S3Server;
let test: TestApp;
beforeAll(async () => {
  s3 = await startS3Server();
  const credentials = { accessKeyId: 'test-access-key', secretAccessKey: 'test-secret-key' };
  test = await startApp({
    roles: ['api', 'worker'],
    agentsConfig: await writeProfiles({}, hanging('initialize'), hanging('session/new')),
    s3: { bucket: 'files', region: 'eu-central-1', endpoint: s3.endpoint, credentials },
  });
});
afterAll(async () => {
  await test.close();
  s3.close();
});

const interrupt = (sessionId: string) => runMutation(test, 'interruptSession', 'session { status }', { sessionId });
const send = (sessionId: string, body: string) =>
  runMutation(test, 'sendMessage', 'message { seq }', { sessionId, body });
const agentsOf = (id: string) => findByEnvironment({ SWITCHYARD_RUN: id });
const turnsOf = async (id: string) =>
  (await readEvents(test, id)).flatMap(({ turn, phase }) => (phase === undefined ? [] : [`${turn} ${phase}`]));

it.each(['initialize', 'session/new'])('stops an agent that has not answered "%s"', async (method) => {
  const id = await createSession(test, { prompt: 'go', agent: `hangs in ${method}`.replaceAll(/\W/g, '-') });
  while (agentsOf(id).length === 0) await setImmediate();
  const [before] = agentsOf(id);
  await interrupt(id);
  await waitUntilWaiting(test, id);
  while (agentsOf(id).length > 0) await setImmediate();
  expect(await turnsOf(id)).toEqual([]);
  await send(id, 'go on');
  while (agentsOf(id).length === 0) await setImmediate();
  expect(agentsOf(id)).not.toContain(before);
  await runMutation(test, 'terminateSession', 'session { id }', { sessionId: id });
});

it('ends each turn once if it is stopped, twice, at the moment of its end', async () => {
  const id = await createSession(test, { prompt: 'say 0' });
  await waitUntilEnded(test, id);
  for (let n = 1; n <= 8; n++) {
    const sent = send(id, `say ${n}`);
    if (n % 2 === 0) await sent;
    const answers = await Promise.all([interrupt(id), interrupt(id), sent]);
    expect(answers.map(({ userErrors }) => userErrors)).toEqual([[], [], []]);
    await waitForSession(
      test,
      id,
      ({ status, statusDetail }) => status === 'EXIT' || statusDetail === 'WAITING_FOR_USER',
    );
  }
  await send(id, 'say done');
  await expect.poll(async () => (await readMessages(test, id)).at(-1)).toMatch(/AGENT_MESSAGE: (.*\n)*done$/);
  await waitUntilEnded(test, id);
  const turns = await turnsOf(id);
  expect(turns).toEqual(turns.filter((turn, n) => turns.indexOf(turn) === n));
  expect(turns.filter((turn) => turn.includes('started'))).toHaveLength(turns.length / 2);
});

it('ends a turn before the files that it left are stored', async () => {
  const put = s3.holdNext();
  const id = await createSession(test, { prompt: 'write .session/outputs/report.txt All of it.\nsleep 600' });
  const hasWritten = async () => (await readEvents(test, id)).some(({ toolStatus }) => toolStatus === 'completed');
  await expect.poll(hasWritten).toBe(true);
  await interrupt(id);
  await put.reached;
  await waitUntilWaiting(test, id);
  expect(await turnsOf(id)).toEqual(['1 started', '1 stopped']);
  put.release();
  const attachments = 'query($id: ID!) { session(id: $id) { attachments(first: 10) { nodes { name } } } }';
  const stored = async () => (await graphql(test, test.adminToken, attachments, { id })).data.session.attachments.nodes;
  await expect.poll(stored).toEqual([{ name: 'report.txt' }]);
  await send(id, 'say done');
  await waitUntilEnded(test, id);
  expect((await readMessages(test, id)).at(-1)).toBe('AGENT_MESSAGE: done');
});
