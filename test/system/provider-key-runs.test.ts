import { afterAll, beforeAll, expect, it } from 'vitest';
import { detectedProfile } from '../../src/agents/profiles.ts';
import type { Context } from '../../src/domain/context.ts';
import { type ChosenModels, chooseRoute } from '../../src/domain/execution/runs/run-route.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { callingAgentProfile } from '../support/calling-agent.ts';
import { type FakeLlm, startFakeLlm } from '../support/fake-llm/fake-llm.ts';
import { runMutation } from '../support/people.ts';
import { makeUser } from '../support/principals.ts';
import { writeProfiles } from '../support/profiles.ts';
import { readMessages, waitForSession, waitUntilEnded } from '../support/session-waits.ts';
import { createSession, makeOrganization } from '../support/sessions.ts';

let llm: FakeLlm;
let other: FakeLlm;
let test: TestApp;
beforeAll(async () => {
  llm = await startFakeLlm({ apiKey: 'sk-c4n4ry-0', models: ['text-embedding-1', 'large'] });
  other = await startFakeLlm({ apiKey: 'sk-c4n4ry-0' });
  test = await startApp({
    roles: ['api', 'worker'],
    agentsConfig: await writeProfiles({}, callingAgentProfile('caller')),
  });
});
afterAll(async () => {
  await test?.close();
  await llm?.close();
  await other?.close();
});

const fields = 'providerKey { providerKeyId version lastFailure { code message } lastUsedAt }';
const run = async (field: string, input: object, token?: string, selection = fields) => {
  const made = await runMutation(test, field, selection, { ...input }, token);
  if (made.error || made.userErrors.length > 0) throw new Error(JSON.stringify(made));
  return made.providerKey;
};
let keys = 0;
/** Stores a key, which the fake model accepts. */
const store = async (scope: object, token?: string, input: object = {}) => {
  keys += 1;
  const key = `sk-c4n4ry-${keys}`;
  llm.setKey(key);
  other.setKey(key);
  const words = { provider: 'COMPATIBLE', name: `Key ${keys}`, baseUrl: `${llm.url}/v1`, key, scope, ...input };
  return { key, name: words.name, id: (await run('createProviderKey', words, token)).providerKeyId as string };
};
const remove = (providerKeyId: string, token?: string) =>
  run('deleteProviderKey', { providerKeyId }, token, 'deletedProviderKeyId');
const readKey = async (providerKeyId: string) => {
  const uuid = providerKeyId.replace('provider-key-', '');
  return test.app.services.store.prisma.providerKey.findUniqueOrThrow({ where: { id: uuid } });
};
const start = (token: string, ...lines: string[]) =>
  createSession(test, { agent: 'caller', prompt: lines.join('\n') }, token);
const send = async (sessionId: string, body: string, token: string) => {
  const sent = await runMutation(test, 'sendMessage', 'message { seq }', { sessionId, body }, token);
  expect(sent).toMatchObject({ userErrors: [] });
};
const keysSince = (count: number, model = llm) => model.calls.slice(count).map(({ key }) => key);

async function makeTeam() {
  const { organizationId, token } = await makeOrganization(test, `Team ${keys}`);
  return {
    organizationId,
    token,
    user: await makeUser(test, { organizationId }),
    second: await makeUser(test, { organizationId }),
  };
}

it('uses the key of each user, then of the organization; a user who leaves takes the key along', async () => {
  const { organizationId, token, user, second } = await makeTeam();
  const [shared, one, two] = [
    await store({ organizationId }, token),
    await store({ viewer: true }, user.token),
    await store({ viewer: true }, second.token),
  ];
  const before = llm.calls.length;
  const ids = await Promise.all(
    [user.token, second.token].map((each) => start(each, 'call - do: say a', 'call - do: say b')),
  );
  for (const id of ids) await waitUntilEnded({ ...test, adminToken: token }, id);
  expect(keysSince(before).toSorted()).toEqual([one.key, one.key, two.key, two.key].toSorted());
  expect(llm.calls.at(-1)?.conversation.model).toBe('large');
  const afterwards = llm.calls.length;
  const id = await start(second.token, 'call - do: hold leaving / do: say ok', 'call - do: say c');
  await llm.waitForHold('leaving');
  const left = await runMutation(test, 'deleteUser', 'deletedUserId', { userId: second.userId });
  expect(left).toMatchObject({ userErrors: [] });
  llm.release('leaving');
  await waitUntilEnded({ ...test, adminToken: token }, id);
  expect(keysSince(afterwards)).toEqual([two.key, shared.key]);
  expect((await readKey(two.id)).sealed).toBeNull();
});

it('takes a rotated key for the next call, and stops the session when the last key is deleted', async () => {
  const { organizationId, token } = await makeTeam();
  const stored = await store({ organizationId }, token);
  const before = llm.calls.length;
  const id = await start(
    token,
    'call - do: hold turn / do: say ok',
    'call - do: say b',
    'call - do: hold last / do: say ok',
    'call - do: say d',
  );
  await llm.waitForHold('turn');
  llm.setKey('sk-c4n4ry-rotated');
  await run('updateProviderKey', { providerKeyId: stored.id, key: 'sk-c4n4ry-rotated' }, token);
  llm.release('turn');
  await llm.waitForHold('last');
  await remove(stored.id, token);
  llm.release('last');
  await waitUntilEnded({ ...test, adminToken: token }, id);
  expect(keysSince(before)).toEqual([stored.key, 'sk-c4n4ry-rotated', 'sk-c4n4ry-rotated']);
  const last = (await readMessages({ ...test, adminToken: token }, id)).at(-1);
  expect(last).toContain(`The session cannot use the key "${stored.name}" of the organization any longer`);
});

it('does not send a session to another server of its own in the middle of a run', async () => {
  const { organizationId, token, user } = await makeTeam();
  const own = await store({ viewer: true }, user.token);
  const shared = await store({ organizationId }, token, { baseUrl: `${other.url}/v1` });
  const before = other.calls.length;
  const id = await start(user.token, 'call - do: hold moved / do: say ok', 'call - do: say b');
  await llm.waitForHold('moved');
  await remove(own.id, user.token);
  llm.release('moved');
  await waitUntilEnded({ ...test, adminToken: token }, id);
  expect(keysSince(before, other)).toEqual([]);
  await send(id, 'call - do: say c', user.token);
  await waitUntilEnded({ ...test, adminToken: token }, id);
  expect(new Set(keysSince(before, other))).toEqual(new Set([shared.key]));
});

it.each([
  [401, 'KEY_REFUSED', 'refuses the key "'],
  [402, 'ACCOUNT_EMPTY', 'has no credit left'],
] as const)(
  'ends the session after one call that the provider answers with %i, and tells the owner of the key',
  async (status, code, words) => {
    const { organizationId, token } = await makeTeam();
    const stored = await store({ organizationId }, token);
    llm.setKey(stored.key, status);
    const before = llm.calls.length;
    const id = await start(token, 'call - do: say a', 'call - do: say b');
    expect(await waitUntilEnded({ ...test, adminToken: token }, id)).toMatchObject({ status: 'ERROR' });
    expect(keysSince(before)).toEqual([stored.key]);
    const last = (await readMessages({ ...test, adminToken: token }, id)).at(-1);
    expect(last).toContain(words);
    expect(last).toContain(`the key "${stored.name}" of the organization`);
    expect((await readKey(stored.id)).lastFailure).toMatchObject({ code });
    llm.setKey(stored.key);
    await send(id, 'call - do: say c', token);
    expect(await waitUntilEnded({ ...test, adminToken: token }, id)).toMatchObject({ status: 'EXIT' });
    await expect.poll(async () => (await readKey(stored.id)).lastFailure).toBeNull();
  },
);

const prices = { inputUsdPerMillion: 1_000, outputUsdPerMillion: 1_000 };
const usageOf = (id: string) =>
  test.app.services.store.prisma.providerKeyUsage.findMany({
    where: { providerKeyId: id.replace('provider-key-', '') },
  });

it('counts the usage and the cost of each key and user', async () => {
  const { organizationId, token, user, second } = await makeTeam();
  const shared = await store({ organizationId }, token, { prices });
  const before = llm.calls.length;
  const ids = await Promise.all(
    [user.token, second.token].map((each) => start(each, 'call - do: say a', 'call - do: say b')),
  );
  for (const id of ids) await waitUntilEnded({ ...test, adminToken: token }, id);
  const calls = llm.calls.slice(before);
  const sum = (name: 'input' | 'output') => calls.reduce((total, call) => total + call[name], 0);
  const rows = await usageOf(shared.id);
  expect(rows.map(({ userId }) => userId).toSorted()).toEqual(
    [user, second].map((each) => each.userId.replace('user-', '')).toSorted(),
  );
  expect(rows.map((row) => Number(row.calls))).toEqual([2, 2]);
  expect(rows.reduce((total, row) => total + Number(row.inputTokens), 0)).toBe(sum('input'));
  expect(rows.reduce((total, row) => total + row.costUsd, 0)).toBeCloseTo((sum('input') + sum('output')) / 1_000);
  expect((await readKey(shared.id)).lastUsedAt).not.toBeNull();
});

it('suspends a session in mid turn when the budget of its key is reached, and continues it when the budget is raised', async () => {
  const { organizationId, token } = await makeTeam();
  const stored = await store({ organizationId }, token, { prices, monthlyBudgetUsd: 1.5 });
  const before = llm.calls.length;
  const many = Array.from({ length: 40 }, (_, n) => `call - do: say ${n}`);
  const id = await start(token, ...many);
  const suspended = await waitForSession({ ...test, adminToken: token }, id, ({ status }) => status === 'SUSPENDED');
  expect(suspended.statusDetail).toBe('OUT_OF_CREDITS');
  const count = llm.calls.length - before;
  expect(count).toBeGreaterThanOrEqual(1);
  expect(count).toBeLessThan(10);
  const last = (await readMessages({ ...test, adminToken: token }, id)).at(-1);
  expect(last).toMatch(
    /The key "Key \d+" of the organization has \$\d\.\d+ left of its budget of \$1\.50 for this month/,
  );
  // A message alone does not help: nothing is sent to the provider.
  await send(id, 'call - do: say more', token);
  await waitForSession({ ...test, adminToken: token }, id, ({ status }) => status === 'SUSPENDED');
  expect(llm.calls.length - before).toBe(count);
  // A session that cannot be continued keeps no other from it.
  const broken = { sessionId: '0'.repeat(32), budgetKeyId: stored.id.replace('provider-key-', '') };
  await test.app.services.store.prisma.run.create({ data: broken });
  await run('updateProviderKey', { providerKeyId: stored.id, monthlyBudgetUsd: 1_000 }, token);
  expect(await waitUntilEnded({ ...test, adminToken: token }, id)).toMatchObject({ status: 'EXIT' });
  expect(llm.calls.length - before).toBeGreaterThan(40);
});

it('makes no call with a key whose budget is reached, however often an agent tries', async () => {
  const { organizationId, token } = await makeTeam();
  const stored = await store({ organizationId }, token, { prices, monthlyBudgetUsd: 2 });
  const first = await start(
    token,
    'call - do: hold flood / do: say ok',
    ...Array.from({ length: 50 }, () => 'call - do: say x'),
  );
  await llm.waitForHold('flood');
  const now = test.app.services.now();
  const used = { providerKeyId: stored.id.replace('provider-key-', ''), organizationId: 'x', userId: '', costUsd: 5 };
  await test.app.services.store.prisma.providerKeyUsage.create({ data: { ...used, day: now } });
  const before = llm.calls.length;
  llm.release('flood');
  await waitForSession({ ...test, adminToken: token }, first, ({ status }) => status === 'SUSPENDED');
  // The call that was in progress.
  expect(keysSince(before)).toHaveLength(1);
});

it('spends no more than the budget on the calls that a hostile agent makes at the same time and leaves', async () => {
  const { organizationId, token } = await makeTeam();
  const stored = await store({ organizationId }, token, { prices, monthlyBudgetUsd: 10 });
  const before = llm.calls.length;
  // Each costs more than $2. The gateway makes 16 at the same time.
  const text = `do: say ${'x'.repeat(4_000)}`;
  const id = await start(token, `leave 8 - ${text}`, `calls 8 - ${text}`);
  await waitForSession({ ...test, adminToken: token }, id, ({ status }) => status === 'SUSPENDED');
  await expect.poll(() => test.app.services.store.query('select 1 from provider_key_reservation', [])).toEqual([]);
  const calls = llm.calls.slice(before);
  const costUsd = calls.reduce((total, { input, output }) => total + (input + output) / 1_000, 0);
  const [row] = await usageOf(stored.id);
  expect(Number(row?.calls)).toBe(calls.length);
  expect(row?.costUsd).toBeCloseTo(costUsd);
  expect(costUsd).toBeGreaterThan(5);
  expect(costUsd).toBeLessThanOrEqual(10);
});

it('refuses a model without a known price if the key has a budget', async () => {
  const { organizationId, token } = await makeTeam();
  const stored = await store({ organizationId }, token);
  // A budget that was saved before it needed prices.
  await test.app.services.store.prisma.providerKey.update({
    where: { id: stored.id.replace('provider-key-', '') },
    data: { monthlyBudgetUsd: 5 },
  });
  const before = llm.calls.length;
  const id = await start(token, 'call - do: say a');
  await waitUntilEnded({ ...test, adminToken: token }, id);
  expect(keysSince(before)).toEqual([]);
  const last = (await readMessages({ ...test, adminToken: token }, id)).at(-1);
  expect(last).toContain(`the key "${stored.name}" of the organization has a budget. Enter the prices of the key`);
});

it('keeps the key out of the database in plain text', async () => {
  const tables = await test.app.services.store.query<{ name: string }>(
    `select table_name as name from information_schema.tables where table_schema = current_schema() and table_type = 'BASE TABLE'`,
    [],
  );
  for (const { name } of tables) {
    const found = await test.app.services.store.query(
      `select 1 from "${name}" t where t::text like '%sk-c4n4ry-%' limit 1`,
      [],
    );
    expect(found, name).toEqual([]);
  }
});

it('starts a detected agent only with a key, and with the model that was chosen', async () => {
  const { organizationId, token } = await makeTeam();
  const { services } = test.app;
  const owner = { organizationId: organizationId.replace('org-', ''), userId: null };
  const context = { ...services, isPrivateProviderAllowed: true } as Context;
  const profile = await detectedProfile('opencode', () => undefined);
  const choose = (chosen: Partial<ChosenModels> = {}) =>
    chooseRoute(context, profile, owner, { session: null, organization: null, ...chosen });
  await services.store.execute('update provider_key set is_enabled = false where organization_id is null', []);
  const missing = await choose().catch((error: unknown) => error);
  expect(missing).toMatchObject({
    reason: 'provider',
    failure: { code: 'KEY_MISSING', message: expect.stringContaining('opencode has no key of a model provider.') },
  });
  const { key } = await store({ organizationId }, token);
  expect(await choose()).toMatchObject({ model: 'large', route: { provider: 'compatible' } });
  expect(await choose({ organization: 'of-the-organization' })).toMatchObject({ model: 'of-the-organization' });
  const chosen = await choose({ organization: 'x', session: 'compatible/of-the-session' });
  expect(chosen.model).toBe('of-the-session');
  expect(JSON.stringify([chosen.profile.env, chosen.profile.provider?.gateway])).not.toContain(key);
});
