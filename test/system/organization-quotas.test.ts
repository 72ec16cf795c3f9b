import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { call, graphql, startApp, type TestApp } from '../support/app.ts';
import { makeManager, runMutation } from '../support/people.ts';
import { writeProfiles } from '../support/profiles.ts';
import { scriptedCommand } from '../support/programs.ts';
import { sendMessage } from '../support/reports.ts';
import type { Script } from '../support/scripted-agent.ts';
import { waitForSession, waitUntilEnded } from '../support/session-waits.ts';
import { createSession, makeOrganization } from '../support/sessions.ts';
import { upload } from '../support/uploads.ts';

const start = async (overrides: Parameters<typeof startApp>[0] = {}) => {
  const test = await startApp(overrides);
  onTestFinished(() => test.close());
  return test;
};
const quotas = { maxQueuedSessions: null, maxStorageMb: null, maxTokensPerDay: null };
const fields = 'maxQueuedSessions maxStorageMb maxTokensPerDay';
const setQuotas = (test: TestApp, change: object, token?: string) =>
  runMutation(
    test,
    'updateOrganization',
    `organization { ${fields} }`,
    { organizationId: test.organizationId, ...change },
    token,
  );
const storedBytes = async (test: TestApp, organizationId = test.organizationId) => {
  const document = 'query($id: ID!) { organization(id: $id) { storedBytes } }';
  return (await graphql(test, test.adminToken, document, { id: organizationId })).data.organization.storedBytes;
};
const newSession = (test: TestApp, input: object = {}, token?: string) =>
  runMutation(
    test,
    'createSession',
    'session { sessionId }',
    { organizationId: test.organizationId, prompt: 'wait', ...input },
    token,
  );
const megabyte = 1_048_576;
const file = (bytes: number) => ({ name: 'a.txt', content: 'x'.repeat(bytes) });
const send = (test: TestApp, bytes: number, organizationId = test.organizationId, token = test.adminToken) =>
  upload(test, token, `/v3/organizations/${organizationId}/attachments`, file(bytes));

it('refuses a session beyond the limit of the queue, with the error of each API', async () => {
  const test = await start({ organizationQuotas: { ...quotas, maxQueuedSessions: 2 } });
  const message =
    'The organization has 2 sessions in the queue, which is its limit. Try again when one of them has started.';
  const first = await createSession(test);
  await createSession(test);
  expect((await newSession(test)).userErrors).toEqual([{ code: 'LIMIT_EXCEEDED', message, path: null }]);
  const organization = `/v3/organizations/${test.organizationId}`;
  expect(await call(test, test.adminToken, 'POST', `${organization}/sessions`, { prompt: 'x' })).toMatchObject({
    status: 400,
    body: { detail: message },
  });
  expect(await call(test, test.v1Key, 'POST', '/v1/sessions', { prompt: 'x' })).toMatchObject({
    status: 400,
    body: { detail: message },
  });
  const other = await makeOrganization(test, 'Other');
  await createSession(test, {}, other.token);
  await createSession(test, {}, other.token);
  // A session that leaves the queue makes room.
  expect(await call(test, test.adminToken, 'DELETE', `${organization}/sessions/devin-${first}`)).toMatchObject({
    status: 200,
  });
  await createSession(test);
  expect((await newSession(test)).userErrors).toHaveLength(1);
  await setQuotas(test, { maxQueuedSessions: 0 });
  await createSession(test);
});

it('admits one of many sessions that are created at the same time for the last room', async () => {
  const test = await start();
  await setQuotas(test, { maxQueuedSessions: 3 });
  const results = await Promise.all(Array.from({ length: 12 }, () => newSession(test)));
  expect(results.filter(({ session }) => session !== null)).toHaveLength(3);
  expect(new Set(results.flatMap(({ userErrors }) => userErrors.map(({ code }: any) => code)))).toEqual(
    new Set(['LIMIT_EXCEEDED']),
  );
  const [row] = await test.app.services.store.query<{ n: number }>(
    'select count(*)::int as n from run where queued_at is not null',
    [],
  );
  expect(row?.n).toBe(3);
});

it('counts the storage of an organization, and refuses files and sessions beyond its limit', async () => {
  const test = await start();
  const { store } = test.app.services;
  await send(test, 400_000);
  const other = await makeOrganization(test, 'Other');
  await send(test, 10, other.organizationId, other.token);
  expect(await storedBytes(test)).toBe(400_000);
  expect(await storedBytes(test, other.organizationId)).toBe(10);
  expect(await setQuotas(test, { maxStorageMb: 1 })).toMatchObject({
    organization: { maxStorageMb: 1 },
    userErrors: [],
  });
  // Two of them fit, whichever they are.
  const sent = await Promise.all([1, 2, 3, 4, 5].map(() => send(test, 300_000)));
  const counts = sent.map(({ status }) => status).sort();
  expect(counts).toEqual([200, 200, 413, 413, 413]);
  const refused = sent.find(({ status }) => status === 413);
  expect(refused?.body).toMatchObject({
    detail:
      'The attachments and checkpoints of the organization need more than its storage of 1 MiB. Have this limit raised, or end sessions so that their files are deleted.',
  });
  expect(await storedBytes(test)).toBe(1_000_000);
  await createSession(test);
  expect((await send(test, megabyte - 1_000_000)).status).toBe(200);
  expect((await newSession(test)).userErrors).toMatchObject([{ code: 'LIMIT_EXCEEDED' }]);
  await createSession(test, {}, other.token);
  // Segments of checkpoints count too, and what is deleted does not.
  await store.execute(
    `insert into checkpoint_segment (id, session_id, organization_id, bytes, state, created_at)
     select 'segment', id, organization_id, 5000000000, 'STORED', now() from session limit 1`,
  );
  const [{ id } = { id: '' }] = await store.query<{ id: string }>(
    `select organization_id as id from checkpoint_segment`,
    [],
  );
  const before = id === test.organizationId.replace('org-', '') ? megabyte : 10;
  expect(await storedBytes(test, `org-${id}`)).toBe(5_000_000_000 + before);
  await store.execute(`delete from checkpoint_segment`);
  await store.execute(`delete from attachment where size_bytes = 300000`);
  expect(await storedBytes(test)).toBe(megabyte - 600_000);
  await createSession(test);
});

it('lets administrators set the quotas, refuses others and impossible values, and records the changes', async () => {
  const test = await start();
  const values = { maxQueuedSessions: 1_000_000, maxStorageMb: 1_000_000_000, maxTokensPerDay: 1e15 };
  expect(await setQuotas(test, values)).toMatchObject({ organization: values, userErrors: [] });
  for (const [name, value] of [
    ['maxQueuedSessions', -1],
    ['maxQueuedSessions', 1_000_001],
    ['maxStorageMb', -1],
    ['maxStorageMb', 1_000_000_001],
    ['maxTokensPerDay', -1],
    ['maxTokensPerDay', 1.5],
    ['maxTokensPerDay', 1e15 + 1],
    ['maxTokensPerDay', 1e300],
  ] as const) {
    const refused = await setQuotas(test, { [name]: value });
    expect(refused.userErrors[0], name).toMatchObject({ code: 'INVALID_INPUT', path: ['input', name] });
  }
  const { token } = await makeOrganization(test, 'Other');
  const manager = await makeManager(test, 'VIEW_ACCOUNT_METRICS');
  for (const each of [token, manager.token])
    expect(await setQuotas(test, { maxStorageMb: 5 }, each)).toMatchObject({ error: 'FORBIDDEN' });
  const billing = await makeManager(test, 'MANAGE_BILLING');
  expect(await setQuotas(test, { maxStorageMb: 5 }, billing.token)).toMatchObject({ userErrors: [] });
  expect(await setQuotas(test, { maxStorageMb: null, maxTokensPerDay: null, maxQueuedSessions: null })).toMatchObject({
    organization: quotas,
  });
  const [entry] = await test.app.services.store.query<{ data: object }>(
    `select data from audit_entry where action = 'update_org' order by created_at desc, id desc limit 1`,
    [],
  );
  expect(entry?.data).toMatchObject({ maxStorageMb: null, maxStorageMbBefore: 5, maxTokensPerDayBefore: 1e15 });
});

it('suspends the sessions of an organization that has used its tokens of the day, and continues with a higher limit', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'switchyard-quotas-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const path = join(directory, 'script.json');
  const usage = { inputTokens: 700, outputTokens: 30, totalTokens: 730 };
  const script: Script = { 'session/prompt': [{ write: [{ result: { stopReason: 'end_turn', usage } }] }] };
  writeFileSync(path, JSON.stringify(script));
  const agent = { id: 'scripted', command: scriptedCommand(path), sandbox: 'none', mcp: false, warm_ttl_ms: 0 };
  const test = await start({ roles: ['api', 'worker'], agentsConfig: await writeProfiles({}, agent) });
  const input = { prompt: 'work', agent: 'scripted' };
  await waitUntilEnded(test, await createSession(test, input));
  await setQuotas(test, { maxTokensPerDay: 730 });
  const id = await createSession(test, input);
  await waitForSession(test, id, ({ statusDetail }) => statusDetail === 'ORG_USAGE_LIMIT_EXCEEDED');
  const document = `query($id: ID!) { session(id: $id) { status events(last: 20) { nodes {
    ... on LimitEvent { body limit tokenLimit tokensUsed acuLimit } } } } }`;
  const { session } = (await graphql(test, test.adminToken, document, { id: `devin-${id}` })).data;
  expect(session.status).toBe('SUSPENDED');
  expect(session.events.nodes.filter((node: any) => node.limit)).toEqual([
    {
      body: 'The organization has used its limit of 730 tokens in a day. To continue the session, have that limit raised, or wait for the next day (UTC), and send a message.',
      limit: 'ORG_USAGE_LIMIT_EXCEEDED',
      tokenLimit: 730,
      tokensUsed: 730,
      acuLimit: null,
    },
  ]);
  const other = await makeOrganization(test, 'Other');
  await waitUntilEnded(test, await createSession(test, input, other.token));
  await setQuotas(test, { maxTokensPerDay: 731 });
  await sendMessage(test, id, 'go on');
  await waitUntilEnded(test, id);
});
