import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadProfiles } from '../../src/agents/profiles.ts';
import { graphql, startApp, type TestApp } from '../support/app.ts';
import { writeProfiles } from '../support/profiles.ts';
import { readCalls, readSession, sendMessage } from '../support/reports.ts';
import { readMessages, waitForSession, waitUntilEnded, waitUntilWaiting } from '../support/session-waits.ts';
import { createSession, makeOrganization } from '../support/sessions.ts';

let test: TestApp;
beforeAll(async () => {
  const agentsConfig = await writeProfiles({ mcp: true, sandbox: { driver: 'none' } });
  test = await startApp({ roles: ['api', 'worker'], agentsConfig, maxConcurrentSessions: 3 });
});
afterAll(() => test.close());

const run = async (token: string, query: string, input: object) => {
  const { data, errors } = await graphql(test, token, query, { input });
  const [payload] = Object.values<{ token: string; userErrors: unknown[] }>(data ?? {});
  if (!payload || errors || payload.userErrors.length > 0) throw new Error(JSON.stringify({ data, errors }));
  return payload;
};
const start = 'mcp start_session {"prompt": "say hi"}';
const ownersOf = async (ids: readonly string[]) =>
  (
    await test.app.services.store.query<{ owner: string | null }>(
      'select coalesce(user_id, service_user_id) as owner from session where id = any($1::text[]) order by created_at',
      [ids.map((id) => id.replace(/^.*-/, ''))],
    )
  ).map(({ owner }) => owner);

it('belongs to its parent’s owner, as does the action', async () => {
  const { organizationId, token } = await makeOrganization(test, 'Owned');
  const id = await createSession(test, { prompt: start, organizationId }, token);
  await waitUntilEnded(test, id);
  const { children } = await readSession(test, id);
  const childId = children.nodes[0].sessionId;
  const [owner, other] = await ownersOf([id, childId]);
  expect(owner).not.toBeNull();
  expect(other).toBe(owner);
  const auditEntries = await test.app.services.store.query<{ by: string }>(
    `select service_user_id as by from audit_entry where action = 'create_session' and session_id = $1`,
    [childId.replace(/^.*-/, '')],
  );
  expect(auditEntries).toEqual([{ by: owner }]);
});

it('is not started after its owner was deleted', async () => {
  const { organizationId, token, serviceUserId } = await makeOrganization(test, 'Gone');
  const id = await createSession(test, { prompt: 'mcp ask_user {"question": "Now?"}', organizationId }, token);
  await waitUntilWaiting(test, id);
  await run(
    test.adminToken,
    'mutation($input: DeleteServiceUserInput!) { deleteServiceUser(input: $input) { userErrors { message } } }',
    { serviceUserId },
  );
  await sendMessage(test, id, start);
  await waitUntilEnded(test, id);
  expect((await readCalls(test, id)).at(-1)).toMatchObject({
    toolStatus: 'failed',
    output: 'The user or service user that started this session was deleted or deactivated.',
  });
  expect((await readSession(test, id)).children.nodes).toEqual([]);
});

it('is started for a service key, which has no owner', async () => {
  const { organizationId } = await makeOrganization(test, 'Keyed');
  const { token } = await run(
    test.adminToken,
    'mutation($input: CreateApiKeyInput!) { createApiKey(input: $input) { token userErrors { message } } }',
    { kind: { service: { scope: { organizationId }, roleId: 'org_admin' } }, name: 'key' },
  );
  const id = await createSession(test, { prompt: start, organizationId }, token);
  await waitUntilEnded(test, id);
  const { children } = await readSession(test, id);
  expect(await ownersOf([id, children.nodes[0].sessionId])).toEqual([null, null]);
});

it('may use the ACUs of its parent that no other child was promised', async () => {
  const prompt = [
    'mcp start_session {"prompt": "say one", "max_acu_limit": 6}',
    'mcp start_session {"prompt": "say two", "max_acu_limit": 7}',
    'mcp start_session {"prompt": "say three"}',
    'mcp start_session {"prompt": "say four"}',
  ].join('\n');
  const id = await createSession(test, { prompt, maxAcuLimit: 11 });
  await waitUntilEnded(test, id);
  const calls = await readCalls(test, id);
  expect(calls.map(({ toolStatus }) => toolStatus)).toEqual(['completed', 'failed', 'completed', 'failed']);
  // The parent itself has already used a part of one of its 11 ACUs.
  expect(calls[1]?.output).toMatch(/at most [45], which is what is left/);
  const ids = calls.flatMap(({ output }) => /The session (\w+) has started/.exec(output)?.[1] ?? []);
  const limits = await Promise.all(ids.map(async (each) => (await readSession(test, each)).maxAcuLimit));
  expect(limits[0]).toBe(6);
  expect([4, 5]).toContain(limits[1]);
});

it('is started once by a call that an interrupted turn repeats, and once per call otherwise', async () => {
  const agentsConfig = await writeProfiles({ mcp: true, sandbox: { driver: 'none' }, retry_delays_ms: [0, 0] });
  const crashing = await startApp({ roles: ['api', 'worker'], agentsConfig, maxConcurrentSessions: 4 });
  try {
    const id = await createSession(crashing, {
      prompt: `${start}\n${start}\nmcp start_session {"prompt": "say ho"}\ncrash`,
    });
    await waitUntilEnded(crashing, id);
    const startedBy = async () =>
      (await readCalls(crashing, id)).map(({ output }) => /session (\w+) has/.exec(output)?.[1]);
    const ids = await startedBy();
    expect(ids).toHaveLength(9);
    expect(new Set(ids.slice(0, 3)).size).toBe(3);
    expect(ids.slice(3)).toEqual([...ids.slice(0, 3), ...ids.slice(0, 3)]);
    expect((await readSession(crashing, id)).children.nodes).toHaveLength(3);
    await sendMessage(crashing, id, start);
    await waitForSession(crashing, id, ({ status }) => status === 'EXIT');
    expect(ids).not.toContain((await startedBy()).at(-1));
    expect((await readSession(crashing, id)).children.nodes).toHaveLength(4);
  } finally {
    await crashing.close();
  }
});

it('is refused with the problem of the input', async () => {
  const prompt = [
    'mcp start_session {"prompt": ""}',
    'mcp start_session {"prompt": "say hi", "agent": "nobody"}',
    'mcp start_session {"prompt": "say hi", "playbook_id": "playbook-0123"}',
    'mcp start_session {}',
    'mcp no_such_tool {}',
  ].join('\n');
  const id = await createSession(test, { prompt });
  await waitUntilEnded(test, id);
  const outputs = (await readCalls(test, id)).map(({ output }) => output);
  expect(outputs[0]).toMatch(/"prompt"/);
  expect(outputs[1]).toMatch(/"agent" must be one of/);
  expect(outputs[2]).toMatch(/"playbookId" refers to "playbook-0123", which does not exist/);
  expect(outputs[3]).toBe('"prompt" must be a string.');
  expect(outputs[4]).toBe('There is no tool "no_such_tool".');
});

it('accepts a file by the path that the agent sees', async () => {
  const id = await createSession(test, { prompt: 'write a b.txt\nwrite c.txt hello' });
  await waitUntilEnded(test, id);
  const path = join(test.dataDir, 'sessions', id, 'ws', 'c.txt');
  await sendMessage(test, id, `mcp upload_attachment ${JSON.stringify({ path, name: 'greeting.txt' })}`);
  await waitUntilEnded(test, id);
  const { attachments } = await readSession(test, id);
  expect(attachments.nodes.map(({ name }: { name: string }) => name)).toEqual(['greeting.txt']);
});

it('gives no tools to an agent without MCP support, and reads its result from its text', async () => {
  const agentsConfig = await writeProfiles({ mcp: false });
  const deaf = await startApp({ roles: ['api', 'worker'], agentsConfig });
  try {
    const schema = { type: 'object', required: ['answer'] };
    const id = await createSession(deaf, {
      prompt: 'tools\njson {"answer": "by text"}',
      structuredOutputSchema: schema,
    });
    await waitUntilEnded(deaf, id);
    expect((await readMessages(deaf, id))[1]).toBe('AGENT_MESSAGE: (none)');
    expect((await readSession(deaf, id)).structuredOutput).toEqual({ answer: 'by text' });
  } finally {
    await deaf.close();
  }
});

it('is not started with an agent that is less isolated than its parent', async () => {
  const { profiles } = await loadProfiles(null);
  const command = profiles.get('demo')?.command;
  const wall = ['env', 'WALL=1'];
  const profile = (id: string, sandbox: object | null) => ({ id, command, mcp: true, ...(sandbox && { sandbox }) });
  const agentsConfig = await writeProfiles(
    { mcp: true, sandbox: { driver: 'none' } },
    profile('usual', null),
    profile('usual-too', null),
    profile('sandboxed', { driver: 'bwrap' }),
    profile('shown', { driver: 'bwrap', read_only: ['/srv'] }),
    profile('walled', { command: wall }),
    profile('walled-off', { command: wall, network: 'gateway' }),
    profile('otherwise', { command: ['env'], network: 'gateway' }),
    { ...profile('asking', { driver: 'none' }), permission: 'ask' },
    { ...profile('asking-too', { driver: 'none' }), permission: 'ask' },
    { ...profile('denying', { driver: 'none' }), permission: 'deny' },
  );
  const walled = await startApp({ roles: ['api', 'worker'], agentsConfig, maxConcurrentSessions: 4, sandbox: 'none' });
  try {
    const apart = ['demo', 'usual', 'usual-too', 'sandboxed', 'shown', 'walled', 'walled-off', 'otherwise'];
    const names = [...apart, 'asking', 'asking-too', 'denying'];
    // The parents that may start each child.
    const allowed = {
      'demo': ['demo', 'walled-off'],
      'usual': ['usual', 'usual-too', 'sandboxed'],
      'walled': ['walled', 'walled-off'],
      'walled-off': ['walled-off'],
      'asking': ['asking', 'asking-too', 'denying'],
      'denying': ['denying'],
    };
    const start = (agent: string) => {
      const tried = agent === 'demo' ? allowed.demo : names;
      const prompt = tried.map((name) => `mcp start_session {"prompt": "say hi", "agent": "${name}"}`).join('\n');
      return createSession(walled, { prompt, agent });
    };
    // At the same time, so that none waits for another's children.
    const ids = await Promise.all(Object.keys(allowed).map(start));
    for (const [n, [agent, expected]] of Object.entries(allowed).entries()) {
      const id = ids[n] as string;
      await waitUntilEnded(walled, id);
      const calls = await readCalls(walled, id);
      const tried = agent === 'demo' ? allowed.demo : names;
      expect(calls.length).toBe(tried.length);
      const started = tried.filter((_, each) => calls[each]?.toolStatus === 'completed');
      expect({ agent, started }).toEqual({ agent, started: expected });
      for (const { output } of calls.filter(({ toolStatus }) => toolStatus === 'failed')) {
        expect(output).toMatch(/^"agent" must be this session's own, "[a-z-]+", or one that is kept as strictly, but/);
      }
    }
  } finally {
    await walled.close();
  }
}, 240_000);
