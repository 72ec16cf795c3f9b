import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { graphql, startApp, type TestApp } from '../support/app.ts';
import { secretCanary } from '../support/leaks.ts';
import { writeProfiles } from '../support/profiles.ts';
import { scriptedCommand } from '../support/programs.ts';
import type { Script } from '../support/scripted-agent.ts';
import { waitUntilEnded } from '../support/session-waits.ts';

// Parts of the protocol that are no text: an agent may put any known value into them. When the app closes, it verifies that
// none of the values is in the database.
const secret = `hunter2-${secretCanary}-overlapping`;
const digits = '739182640551';
const scripted = (id: string, script: Script, settings: object = {}) => {
  const file = join(tmpdir(), `switchyard-script-${process.pid}-${id}.json`);
  writeFileSync(file, JSON.stringify(script));
  return {
    id,
    command: scriptedCommand(file),
    sandbox: { driver: 'none' },
    mcp: false,
    warm_ttl_ms: 0,
    retry_delays_ms: [],
    ...settings,
  };
};

let test: TestApp;
beforeAll(async () => {
  const unsolicited = JSON.stringify({ jsonrpc: '2.0', id: secret, result: {} });
  const call = {
    sessionUpdate: 'tool_call',
    toolCallId: 't',
    title: 'look',
    locations: [{ path: 'a', line: +digits }],
  };
  const far = { sessionUpdate: 'tool_call', toolCallId: 'u', title: 'far', locations: [{ path: 'b', line: 2 ** 31 }] };
  const plan = {
    sessionUpdate: 'plan',
    entries: [{ content: 'x'.repeat(1_000_000), status: 'pending', priority: 'low' }],
  };
  const error = { error: { code: -32_603, message: 'Internal error', data: `${'x'.repeat(480)}${secret}` } };
  const agentsConfig = await writeProfiles(
    {},
    scripted('teller', {
      'session/new': [{ write: [{ result: { sessionId: secret } }] }],
      'session/prompt': [
        { write: [unsolicited, ...[call, far, plan].map((update) => ({ update, sessionId: secret }))] },
        { write: [{ result: { stopReason: secret } }] },
      ],
    }),
    scripted('proto', { 'session/prompt': [{ write: [{ result: { stopReason: '__proto__' } }] }] }),
    scripted('nothing', { 'session/prompt': [{ write: [{ result: null }] }] }),
    scripted('failing', { 'session/prompt': [{ write: [error] }] }, { env: { LEVEL: 'hunter2' } }),
  );
  test = await startApp({ roles: ['api', 'worker'], agentsConfig, maxConcurrentSessions: 2 });
});
afterAll(() => test.close());

const start = async (agent: string) => {
  const sessionSecrets = [
    { key: 'LEAK', value: secret },
    { key: 'DIGITS', value: digits },
  ];
  const { data } = await graphql(
    test,
    test.adminToken,
    'mutation($input: CreateSessionInput!) { createSession(input: $input) { session { sessionId } userErrors { message } } }',
    { input: { organizationId: test.organizationId, prompt: 'tell', agent, sessionSecrets } },
  );
  const id = data.createSession.session.sessionId as string;
  await waitUntilEnded(test, id);
  const read = await graphql(
    test,
    test.adminToken,
    `query($id: ID!) { session(id: $id) { status messages(first: 50) { nodes { body } } events(first: 50) { nodes { kind
      ... on TurnEvent { stopReason } ... on ToolCallEvent { title locations { path line } }
      ... on PlanEvent { entries { content } } ... on ErrorEvent { body } } } } }`,
    { id },
  );
  expect(read.errors).toBeUndefined();
  return { id, session: read.data.session, all: JSON.stringify(read.data) };
};

it('stores no secret that an agent hides in ids, stop reasons, numbers and unexpected responses', async () => {
  const { id, session, all } = await start('teller');
  expect(session.status).toBe('EXIT');
  expect(all).not.toContain(secretCanary);
  expect(all).not.toContain(digits);
  const tools = session.events.nodes.filter(({ kind }: { kind: string }) => kind === 'TOOL_CALL');
  expect(tools.map((tool: { locations: object[] }) => tool.locations[0])).toEqual([
    { path: 'a', line: null },
    { path: 'b', line: null },
  ]);
  const plan = session.events.nodes.find(({ kind }: { kind: string }) => kind === 'PLAN');
  expect(plan.entries[0].content.length).toBe(2_000);
  const rows = await test.app.services.store.query('select agent_session_id as id from run where session_id = $1', [
    id.replace('devin-', ''),
  ]);
  expect(rows).toEqual([{ id: null }]);
});

it.each(['proto', 'nothing'])('ends the turn as usual after an unknown stop reason: %s', async (agent) => {
  const { session } = await start(agent);
  expect(session.status).toBe('EXIT');
  expect(session.messages.nodes).toHaveLength(1);
});

it('masks a secret before an explanation is truncated, and the longer of two nested secrets completely', async () => {
  const { session, all } = await start('failing');
  expect(session.status).toBe('ERROR');
  expect(all).toContain('xxxx');
  expect(all).not.toContain(secretCanary.slice(0, 6));
  expect(all).not.toMatch(/hunter2|overlapping/);
});
