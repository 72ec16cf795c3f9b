import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadProfiles } from '../../src/agents/profiles.ts';
import { call, graphql, startApp, type TestApp } from '../support/app.ts';
import { writeProfiles } from '../support/profiles.ts';
import { sendMessage } from '../support/reports.ts';
import { readEvents, readMessages, waitForSession, waitUntilEnded } from '../support/session-waits.ts';
import { createSession } from '../support/sessions.ts';

let test: TestApp;
beforeAll(async () => {
  const { profiles } = await loadProfiles(null);
  const retries = { retry_delays_ms: [0, 0], sandbox: 'none' };
  const other = (id: string, settings: object) => ({
    id,
    command: profiles.get('demo')?.command,
    ...retries,
    ...settings,
  });
  const agentsConfig = await writeProfiles(
    retries,
    other('modelled', { config: { model: 'best-of-all' } }),
    other('thinking', { config: { thinking: true } }),
    other('planner', { mode: 'plan' }),
  );
  test = await startApp({ roles: ['api', 'worker'], agentsConfig });
});
afterAll(() => test.close());

const errorsOf = async (id: string): Promise<{ body: string; failure: string }[]> => {
  const { data } = await graphql(
    test,
    test.adminToken,
    'query($id: ID!) { session(id: $id) { events(first: 100, kinds: [ERROR]) { nodes { ... on ErrorEvent { body failure } } } } }',
    { id },
  );
  return data.session.events.nodes;
};
const startedTurns = async (id: string) =>
  (await readEvents(test, id)).filter(({ kind, phase }) => kind === 'TURN' && phase === 'started').length;

it.each([
  ['refuse 400 Bad Request', 'the message: Bad Request.'],
  ['refuse 404 The model is gone', 'the message: The model is gone.'],
  ['refuse 422 Unprocessable', 'the message: Unprocessable.'],
  ['refuse -32602 Invalid params', 'the message: Invalid params.'],
  ['refuse -32603 No such model: best-of-all', 'the message: No such model: best-of-all.'],
])('a permanent refusal ends the session at once and is not retried: %s', async (prompt, reason) => {
  const id = await createSession(test, { prompt: `say before\n${prompt}` });
  expect(await waitUntilEnded(test, id)).toMatchObject({ status: 'ERROR', statusDetail: null });
  const [error, ...others] = await errorsOf(id);
  expect(others).toEqual([]);
  expect(error?.failure).toBe('AGENT_REQUEST_REFUSED');
  expect(error?.body).toContain(`The agent refused ${reason} The same would be refused again.`);
  expect(await startedTurns(id)).toBe(1);
  const messages = await readMessages(test, id);
  expect(messages.slice(1)).toEqual([
    'AGENT_MESSAGE: before',
    `AGENT_MESSAGE: The session stopped with an error: ${error?.body}`,
  ]);
  const { status, body } = await call(test, test.v1Key, 'GET', `/v1/sessions/${id}`);
  expect({ status, enum: body.status_enum }).toEqual({ status: 200, enum: 'blocked' });
});

it('continues with a message after a refusal', async () => {
  const id = await createSession(test, { prompt: 'refuse 400 Bad Request' });
  await waitUntilEnded(test, id);
  await sendMessage(test, id, 'say better');
  await waitForSession(test, id, ({ status }) => status === 'EXIT');
  expect((await readMessages(test, id)).at(-1)).toBe('AGENT_MESSAGE: better');
});

it.each(['refuse 503 Overloaded', 'refuse -32603 HTTP 503: overloaded'])(
  'a temporary refusal is retried as often as the profile allows: %s',
  async (prompt) => {
    const id = await createSession(test, { prompt });
    await waitForSession(test, id, ({ status }) => status === 'ERROR');
    expect((await errorsOf(id)).map(({ failure }) => failure)).toEqual(['AGENT_FAILED']);
    expect(await startedTurns(id)).toBe(3);
  },
);

it.each([
  ['modelled', 'the option "model": "best-of-all" of its profile’s "config"'],
  ['thinking', 'the option "thinking": true of its profile’s "config"'],
  ['planner', 'the mode "plan" of its profile'],
])('names a setting that the agent does not support, and sends no turn: %s', async (agent, what) => {
  const id = await createSession(test, { prompt: 'say hello', agent });
  expect(await waitUntilEnded(test, id)).toMatchObject({ status: 'ERROR' });
  const [error, ...others] = await errorsOf(id);
  expect(others).toEqual([]);
  expect(error?.failure).toBe('AGENT_SETTINGS_REFUSED');
  expect(error?.body).toMatch(/Correct its profile, then send a message to continue\.$/);
  expect(error?.body).toContain(`The agent did not take ${what}.`);
  expect(await startedTurns(id)).toBe(0);
  expect((await readMessages(test, id)).slice(1)).toEqual([
    `AGENT_MESSAGE: The session stopped with an error: ${error?.body}`,
  ]);
});
