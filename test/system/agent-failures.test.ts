import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { call, graphql, startApp, type TestApp } from '../support/app.ts';
import { writeProfiles } from '../support/profiles.ts';
import { scriptedCommand } from '../support/programs.ts';
import { readCalls } from '../support/reports.ts';
import type { Script } from '../support/scripted-agent.ts';
import { readMessages, waitUntilEnded } from '../support/session-waits.ts';
import { createSession } from '../support/sessions.ts';

function scripted(id: string, script: Script, settings: object = {}) {
  const file = join(tmpdir(), `switchyard-failures-${process.pid}-${id}.json`);
  writeFileSync(file, JSON.stringify(script));
  return { id, command: scriptedCommand(file), sandbox: { driver: 'none' }, mcp: false, ...settings };
}

let test: TestApp;
beforeAll(async () => {
  const busy = { error: { code: 503, message: 'The server is busy' } };
  const unready = `console.error('${'x'.repeat(3_000)} no display'); process.exit(3)`;
  const agentsConfig = await writeProfiles(
    { memory_mb: 100, retry_delays_ms: [10] },
    { extends: 'demo', id: 'unready', retry_delays_ms: [], command: [process.execPath, '-e', unready] },
    scripted('busy', { 'session/prompt': [{ write: [busy] }] }, { retry_delays_ms: [10, 10] }),
  );
  test = await startApp({ roles: ['api', 'worker'], agentsConfig, maxConcurrentSessions: 4 });
});
afterAll(() => test.close());

const eventQuery = `query($id: ID!) { session(id: $id) { events(first: 100) { nodes {
  kind ... on ErrorEvent { body failure agentOutput } ... on NoticeEvent { body failure agentOutput } } } } }`;
const readNotices = async (
  id: string,
): Promise<{ kind: string; body: string; failure: string | null; agentOutput: string }[]> => {
  const { data } = await graphql(test, test.adminToken, eventQuery, { id });
  return data.session.events.nodes.filter(({ kind }: { kind: string }) => kind === 'ERROR' || kind === 'NOTICE');
};

it('shows the last output of a crashed agent, without secrets', async () => {
  const value = 'c4n4ry-of-the-crash';
  const prompt = 'spell CRASH_KEY\ncrash';
  const sessionSecrets = [{ key: 'CRASH_KEY', value }];
  const id = await createSession(test, { prompt, sessionSecrets });
  await waitUntilEnded(test, id);
  const [notice, error] = await readNotices(id);
  expect(notice).toMatchObject({ kind: 'NOTICE', failure: 'AGENT_FAILED' });
  expect(error).toMatchObject({ kind: 'ERROR', body: 'The agent process ended unexpectedly (exit code 1).' });
  for (const each of [notice, error]) {
    expect(each?.agentOutput).toContain('********\nThe demo agent was told to crash.');
    expect(JSON.stringify(each)).not.toContain(value);
  }
});

it('shows the last two thousand characters of the output of an agent that did not start', async () => {
  const id = await createSession(test, { agent: 'unready' });
  await waitUntilEnded(test, id);
  const error = (await readNotices(id)).at(-1);
  expect(error).toMatchObject({ kind: 'ERROR', failure: 'AGENT_FAILED' });
  expect(error?.agentOutput).toMatch(/^x+ no display$/);
  expect(error?.agentOutput.length).toBeGreaterThan(1_900);
  expect(error?.agentOutput.length).toBeLessThanOrEqual(2_000);
});

it('masks a secret before it truncates the error of an output', async () => {
  const value = `c4n4ry-${'9876543210'.repeat(8)}`;
  const structuredOutputSchema = { type: 'object', properties: {}, additionalProperties: false };
  const name = `${'x'.repeat(220)}$FIELD`;
  const prompt = `mcp set_structured_output {"output": {"${name}": 1}}`;
  const sessionSecrets = [{ key: 'FIELD', value }];
  const id = await createSession(test, { prompt, sessionSecrets, structuredOutputSchema });
  await waitUntilEnded(test, id);
  const { body } = await call(test, test.v1Key, 'GET', `/v1/sessions/${id}`);
  const [firstCall] = await readCalls(test, id);
  expect(firstCall?.output).toContain('xxx********');
  expect(JSON.stringify([firstCall, body])).not.toContain('c4n4ry');
});

it('does not report a refused request as an interruption', async () => {
  const id = await createSession(test, { agent: 'busy' });
  await waitUntilEnded(test, id);
  const refused = 'The agent refused the message: The server is busy.';
  const again = `${refused} Trying again in 0.01 s.`;
  expect((await readNotices(id)).map(({ body }) => body)).toEqual([again, again, refused]);
  const message = `AGENT_MESSAGE: The session stopped with an error: ${refused} Send a message to try again.`;
  expect((await readMessages(test, id)).at(-1)).toBe(message);
});
