import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createMeter } from '../../src/domain/execution/metering/meter.ts';
import { suspendForLimit } from '../../src/domain/execution/metering/suspend-for-limit.ts';
import { FencedError } from '../../src/domain/sessions/log.ts';
import { asAdministrator } from '../rest/rest-app.ts';
import { call, graphql, startApp, type TestApp } from '../support/app.ts';
import { writeProfiles } from '../support/profiles.ts';
import { scriptedCommand } from '../support/programs.ts';
import { sendMessage } from '../support/reports.ts';
import type { Script } from '../support/scripted-agent.ts';
import {
  readEvents,
  readMessages,
  waitForSession,
  waitUntilEnded,
  waitUntilWaiting,
} from '../support/session-waits.ts';
import { createSession, makeOrganization } from '../support/sessions.ts';
import { connect, follow } from '../support/sockets.ts';

const directory = mkdtempSync(join(tmpdir(), 'switchyard-metering-'));
const cost = (amount: number) => ({
  update: { sessionUpdate: 'usage_update', used: 10, size: 100, cost: { amount, currency: 'USD' } },
});
const answer = { result: { stopReason: 'end_turn', usage: { inputTokens: 700, outputTokens: 30, totalTokens: 730 } } };
// Costs 1.5 dollars in its first process; a later one loads the session and continues from there.
const script: Script = {
  initialize: [{ write: [{ result: { protocolVersion: 1, agentCapabilities: { loadSession: true } } }] }],
  'session/load': [{ write: [cost(1.5), { result: {} }] }],
  'session/prompt': [{ write: [cost(1), cost(1.5), answer] }],
};
// Reports a cost, and then waits to be stopped.
const spending: Script = {
  'session/prompt': [{ write: [cost(1.5)] }, { wait: 'cancel' }, { write: [{ result: { stopReason: 'cancelled' } }] }],
};
const question = {
  method: 'elicitation/create',
  params: { mode: 'form', sessionId: 's1', message: 'Which?', requestedSchema: { type: 'object', properties: {} } },
};
// Asks a question and reports the answer.
const asking: Script = {
  'session/prompt': [{ ask: question }, { write: [{ result: { stopReason: 'end_turn' } }] }],
};
// Asks a question without waiting for the answer: a tool runs meanwhile.
const busy: Script = {
  'session/prompt': [
    {
      write: [
        JSON.stringify({ jsonrpc: '2.0', id: 'q', ...question }),
        { update: { sessionUpdate: 'tool_call', toolCallId: 'make', title: 'make', status: 'in_progress' } },
      ],
    },
    { wait: 'cancel' },
    { write: [{ result: { stopReason: 'cancelled' } }] },
  ],
};
// Reports usage that does not fit an Int, and impossible usage.
const lavish: Script = {
  'session/prompt': [
    {
      write: [
        { update: { sessionUpdate: 'usage_update', used: 2 ** 31, size: 7, cost: { amount: -4, currency: 'USD' } } },
        { result: { stopReason: 'end_turn', usage: { inputTokens: 3e9, outputTokens: -30, totalTokens: 0.5 } } },
      ],
    },
  ],
};
/** Only dollars count, and a minute is tiny compared with an ACU, so tests can tell the sources apart. */
const metering = { minutesPerAcu: 100_000, acusPerUsd: 2, everyMs: 100 };

let test: TestApp;
beforeAll(async () => {
  const scripted = (id: string, steps: Script) => {
    const file = join(directory, `${id}.json`);
    writeFileSync(file, JSON.stringify(steps));
    return { id, command: scriptedCommand(file), sandbox: 'none', mcp: false, warm_ttl_ms: 0 };
  };
  const agentsConfig = await writeProfiles(
    {},
    scripted('scripted', script),
    scripted('spender', spending),
    scripted('asking', asking),
    scripted('busy', busy),
    scripted('lavish', lavish),
  );
  test = await startApp({ roles: ['api', 'worker'], agentsConfig, metering });
});
afterAll(async () => {
  await test.close();
  rmSync(directory, { recursive: true, force: true });
});

const ledgerOf = (id: string) =>
  test.app.services.store.query<any>(
    `select acus, active_ms as "activeMs", llm_calls as "llmCalls", input_tokens::int as "inputTokens",
            output_tokens::int as "outputTokens", cost_usd as "costUsd", source
       from usage where session_id = $1 order by used_at`,
    [id],
  );
const acusOf = async (id: string) =>
  (await call(test, test.adminToken, 'GET', `/v3/organizations/${test.organizationId}/sessions/${id}`)).body
    .acus_consumed;

it('records the usage that the agent reported, and shows the sum wherever ACUs are shown', async () => {
  const id = await createSession(test, { prompt: 'work', agent: 'scripted' });
  await waitUntilEnded(test, id);
  const [entry, ...others] = await ledgerOf(id);
  expect(others).toEqual([]);
  expect(entry).toMatchObject({ inputTokens: 700, outputTokens: 30, costUsd: 1.5, llmCalls: 0, source: 'response' });
  expect(entry.activeMs).toBeGreaterThan(0);
  expect(entry.acus).toBeCloseTo(3, 4);
  expect(await acusOf(id)).toBe(entry.acus);
  const path = `/v3/organizations/${test.organizationId}/consumption/daily/sessions/${id}`;
  expect((await call(test, test.adminToken, 'GET', path)).body.total_acus).toBe(entry.acus);
});

it('does not count the earlier cost of a resumed agent session again', async () => {
  const id = await createSession(test, { prompt: 'work', agent: 'scripted' });
  await waitUntilEnded(test, id);
  await call(test, test.v1Key, 'POST', `/v1/sessions/${id}/message`, { message: 'go on' });
  await waitUntilEnded(test, id);
  const entries = await ledgerOf(id);
  expect(entries.map(({ inputTokens }: any) => inputTokens)).toEqual([700, 700]);
  // 0.5 more: the second process reported 1 and then 1.5, after 1.5.
  const total = entries.reduce((sum: number, { costUsd }: any) => sum + costUsd, 0);
  expect(total).toBeCloseTo(2, 9);
});

it('counts active time while the agent works, and not while it waits for the user', async () => {
  const id = await createSession(test, { prompt: 'sleep 1\nask Which colour?\nsleep 1' });
  const activeMs = async () => (await ledgerOf(id)).reduce((sum: number, entry: any) => sum + entry.activeMs, 0);
  await waitForSession(test, id, ({ statusDetail }) => statusDetail === 'WORKING');
  let before = 0;
  while (before === 0) before = await activeMs();
  await waitUntilWaiting(test, id);
  // Usage that was being written when the question arrived appears soon; then nothing more, however long it waits.
  let [last, next] = [-1, await activeMs()];
  while (next !== last) {
    await new Promise((resolve) => setTimeout(resolve, 3 * metering.everyMs));
    [last, next] = [next, await activeMs()];
  }
  expect(next).toBeGreaterThan(before);
  expect(next).toBeLessThan(10_000);
  await call(test, test.v1Key, 'POST', `/v1/sessions/${id}/message`, { message: 'blue' });
  await waitUntilEnded(test, id);
  expect(await activeMs()).toBeGreaterThan(next + 900);
});

it('continues to count while an agent works beside its question, and stops it at the limit', async () => {
  const id = await createSession(test, { prompt: 'work', agent: 'busy', maxAcuLimit: 1 });
  await waitUntilWaiting(test, id);
  const activeMs = async () => (await ledgerOf(id)).reduce((sum: number, entry: any) => sum + entry.activeMs, 0);
  const atQuestion = await activeMs();
  await expect.poll(activeMs, { timeout: 60_000 }).toBeGreaterThan(atQuestion + 2_000);
  expect((await readEvents(test, id)).at(-1)).toMatchObject({ title: 'make', toolStatus: 'in_progress' });
  // The usage is set close to the limit directly: reaching it would take minutes.
  await test.app.services.store.execute('update session set acus_consumed = 1 where id = $1', [id]);
  await waitForSession(test, id, ({ statusDetail }) => statusDetail === 'USAGE_LIMIT_EXCEEDED');
});

it('stores nothing that an agent says because the limit cancels its question', async () => {
  const id = await createSession(test, { prompt: 'work', agent: 'asking', maxAcuLimit: 1 });
  await waitUntilWaiting(test, id);
  await test.app.services.store.execute('update session set acus_consumed = 1 where id = $1', [id]);
  await waitForSession(test, id, ({ statusDetail }) => statusDetail === 'USAGE_LIMIT_EXCEEDED');
  expect(await readMessages(test, id)).toEqual([
    'INITIAL_USER_MESSAGE: work',
    'AGENT_MESSAGE: Which?',
    expect.stringContaining('limit'),
  ]);
});

it('ignores impossible usage, and shows numbers that exceed an Int', async () => {
  const id = await createSession(test, { prompt: 'work', agent: 'lavish' });
  await waitUntilEnded(test, id);
  const { data, errors } = await graphql(
    test,
    test.adminToken,
    `query($id: ID!) { session(id: $id) { events(first: 100, kinds: [USAGE]) { nodes { ... on UsageEvent {
       source inputTokens outputTokens totalTokens costUsd contextUsed contextSize tokens { input cached output total } } } } } }`,
    { id },
  );
  expect(errors).toBeUndefined();
  const nothing = { inputTokens: null, outputTokens: null, totalTokens: null, costUsd: null, contextUsed: null };
  const tokens = { input: null, cached: null, output: null, total: null };
  expect(data.session.events.nodes).toEqual([
    { source: 'UPDATE', ...nothing, contextSize: 7, tokens },
    { source: 'RESPONSE', ...nothing, contextSize: null, tokens: { ...tokens, input: 3e9 } },
  ]);
  // The ledger accepts at most a thousand million tokens per entry.
  expect(await ledgerOf(id)).toMatchObject([{ inputTokens: 1e9, outputTokens: 0, costUsd: 0, source: 'response' }]);
});

it('ignores usage from a worker that lost its session, and lets it stop nothing', async () => {
  const context = await asAdministrator(test);
  const id = await createSession(test, { prompt: 'say hello' });
  await waitUntilEnded(test, id);
  const before = await acusOf(id);
  const stale = { sessionId: id, generation: 0, agentSessionId: null, isTurnOpen: false } as never;
  const lost = new Promise<unknown>((resolve) => {
    const findBudget = async () => null;
    const hooks = {
      model: null,
      isWaiting: () => false,
      findBudget,
      onReached: () => resolve('reached'),
      onLost: resolve,
    };
    const meter = createMeter(context, stale, hooks);
    meter.turnStarted();
  });
  expect(await lost).toBeInstanceOf(FencedError);
  const reached = { statusDetail: 'usage_limit_exceeded', message: 'Never said.', limit: 1, used: 1 } as const;
  await expect(suspendForLimit(context, stale, reached)).rejects.toBeInstanceOf(FencedError);
  expect(await acusOf(id)).toBe(before);
});

it('stops a session for its cost in the middle of its turn', async () => {
  const id = await createSession(test, { prompt: 'work', agent: 'spender', maxAcuLimit: 3 });
  await waitForSession(test, id, ({ status }) => status === 'SUSPENDED');
  const [entry, ...others] = await ledgerOf(id);
  expect(others).toEqual([]);
  expect(entry).toMatchObject({ costUsd: 1.5, inputTokens: 0, source: null });
});

it('stops a session exactly at its limit, and continues after a message once the limit is raised', async () => {
  const id = await createSession(test, { prompt: 'say one', maxAcuLimit: 5 });
  await waitUntilEnded(test, id);
  const write = (acus: number) =>
    test.app.services.store.execute('update session set acus_consumed = $2 where id = $1', [id, acus]);
  const raise = `mutation($input: UpdateSessionInput!) { updateSession(input: $input) { userErrors { message } } }`;
  const readAgentMessages = async () => (await readMessages(test, id)).filter((message) => message.startsWith('AGENT'));
  await write(4.999);
  await sendMessage(test, id, 'say two');
  await expect.poll(readAgentMessages, { timeout: 60_000 }).toEqual(['AGENT_MESSAGE: one', 'AGENT_MESSAGE: two']);
  await waitUntilEnded(test, id);
  await write(5);
  await sendMessage(test, id, 'say three');
  await waitForSession(test, id, ({ statusDetail }) => statusDetail === 'USAGE_LIMIT_EXCEEDED');
  expect((await readAgentMessages()).at(-1)).toMatch(/reached its ACU limit: 5 ACUs/);
  await graphql(test, test.adminToken, raise, { input: { sessionId: id, maxAcuLimit: 6 } });
  await sendMessage(test, id, 'say four');
  await waitUntilEnded(test, id);
  expect((await readAgentMessages()).slice(3)).toEqual(['AGENT_MESSAGE: three', 'AGENT_MESSAGE: four']);
});

it('lets users who may change a session change its limit within the organization’s', async () => {
  const { organizationId, token } = await makeOrganization(test, 'Limited');
  const stranger = await makeOrganization(test, 'Another');
  const id = await createSession(test, { prompt: 'hang', maxAcuLimit: 5 }, token);
  const update = async (maxAcuLimit: unknown, by = token) => {
    const document = `mutation($input: UpdateSessionInput!) {
      updateSession(input: $input) { session { maxAcuLimit } userErrors { code path message } } }`;
    const { data, errors } = await graphql(test, by, document, { input: { sessionId: id, maxAcuLimit } });
    return errors?.[0].extensions.code ?? data.updateSession.userErrors[0]?.message ?? data.updateSession.session;
  };
  expect(await update(7)).toEqual({ maxAcuLimit: 7 });
  expect(await update(0)).toBe('"maxAcuLimit" must be greater than 0, but was 0.');
  expect(await update(8, stranger.token)).toBe('NOT_FOUND');
  expect(await update(null)).toEqual({ maxAcuLimit: null });
  await call(test, test.adminToken, 'PATCH', `/v3/enterprise/organizations/${organizationId}`, {
    max_session_acu_limit: 10,
  });
  expect(await update(11)).toMatch(/must be at most 10, which is the organization’s limit for a session/);
  // The organization's limit applies in addition, and is not copied.
  expect(await update(null)).toEqual({ maxAcuLimit: null });
  await call(test, token, 'DELETE', `/v3/organizations/${organizationId}/sessions/${id}`);
});

it("shows and sets the enterprise's limit only with the billing permission", async () => {
  const { token } = await makeOrganization(test, 'Without billing');
  const set = async (maxCycleAcuLimit: unknown, by = test.adminToken) => {
    const document = `mutation($input: UpdateEnterpriseInput!) {
      updateEnterprise(input: $input) { maxCycleAcuLimit enterprise { maxCycleAcuLimit } userErrors { path message } } }`;
    const { data, errors } = await graphql(test, by, document, { input: { maxCycleAcuLimit } });
    return errors?.[0].extensions.code ?? data.updateEnterprise;
  };
  expect(await set(5_000)).toEqual({
    maxCycleAcuLimit: 5_000,
    enterprise: { maxCycleAcuLimit: 5_000 },
    userErrors: [],
  });
  expect((await set(-1)).userErrors).toEqual([
    { path: ['input', 'maxCycleAcuLimit'], message: '"maxCycleAcuLimit" must not be negative.' },
  ]);
  expect(await set(1, token)).toBe('FORBIDDEN');
  expect(await set(null)).toMatchObject({ maxCycleAcuLimit: null });
});

it('reports the usage to subscribers of the session', async () => {
  const id = await createSession(test, { prompt: 'work', agent: 'scripted' });
  const document = 'subscription($id: ID!) { sessionUpdated(sessionId: $id) { status acusConsumed } }';
  const following = follow(connect(test.url, test.adminToken), document, { id });
  for (;;) {
    const [payload] = await following.take(1);
    const { status, acusConsumed } = payload.data.sessionUpdated;
    if (status !== 'EXIT') continue;
    expect(acusConsumed).toBeCloseTo(3, 4);
    break;
  }
  following.stop();
});
