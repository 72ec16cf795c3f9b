import { expect, it } from 'vitest';
import { resolveStoredKey } from '../../src/domain/library/provider-keys/resolve.ts';
import { graphql } from '../support/app.ts';
import { runMutation } from '../support/people.ts';
import { makeUser } from '../support/principals.ts';
import { startProvider } from '../support/provider.ts';
import { makeOrganization } from '../support/sessions.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();

const fields = `providerKey { id providerKeyId provider name baseUrl hasKey scope monthlyBudgetUsd spentThisMonthUsd isEnabled version
  prices { inputUsdPerMillion cachedUsdPerMillion outputUsdPerMillion } lastUsedAt lastFailure { code message at }
  organization { organizationId } user { userId } }`;
const key = 'sk-c4n4ry-first';
const words = { provider: 'OPENAI', name: 'Team', key };
const run = (field: string, input: Record<string, unknown>, token?: string) =>
  runMutation(test, field, fields, input, token);
const create = (token: string, scope: object, input: Record<string, unknown> = {}) =>
  run('createProviderKey', { ...words, scope, ...input }, token);
const make = async (...args: Parameters<typeof create>) => (await create(...args)).providerKey;
const remove = (providerKeyId: string, token: string, more: object = {}) =>
  runMutation(test, 'deleteProviderKey', 'deletedProviderKeyId', { providerKeyId, ...more }, token);
const check = (input: Record<string, unknown>, token: string) =>
  runMutation(test, 'testProviderKey', `test { isOk code message modelCount tookMs } ${fields}`, input, token);
const bare = (id: string) => id.replace(/^(org|user)-/, '');
const keyFor = async (organizationId: string, userId: string | null) => {
  const user = { organizationId: bare(organizationId), userId: userId && bare(userId) };
  const stored = await resolveStoredKey(test.app.services, { ...user, providers: ['openai', 'compatible'] });
  return stored?.key ?? null;
};
const at = (name: string, code = 'INVALID_INPUT') => [{ code, path: ['input', ...name.split('.')] }];

it('is created, changed and deleted for each kind of owner, and the key is never returned', async () => {
  const { organizationId, token } = await makeOrganization(test, 'Keys');
  const { userId, token: userToken } = await makeUser(test, { organizationId });
  const prices = { inputUsdPerMillion: 1, cachedUsdPerMillion: 0.5, outputUsdPerMillion: 2 };
  const made = await make(token, { organizationId }, { monthlyBudgetUsd: 20, prices });
  expect(made).toEqual({
    id: expect.any(String),
    providerKeyId: expect.stringMatching(/^provider-key-[0-9a-f]{32}$/),
    provider: 'OPENAI',
    name: 'Team',
    baseUrl: null,
    hasKey: true,
    scope: 'ORGANIZATION',
    monthlyBudgetUsd: 20,
    spentThisMonthUsd: 0,
    isEnabled: true,
    version: 1,
    prices,
    lastUsedAt: null,
    lastFailure: null,
    organization: { organizationId },
    user: null,
  });
  expect(await keyFor(organizationId, userId)).toBe(key);
  const own = await make(userToken, { viewer: true }, { key: 'sk-c4n4ry-own' });
  expect(own).toMatchObject({ scope: 'USER', organization: null, user: { userId } });
  expect(await keyFor(organizationId, userId)).toBe('sk-c4n4ry-own');
  expect(await make(test.adminToken, { enterprise: true })).toMatchObject({ scope: 'ENTERPRISE', user: null });

  const changed = await run(
    'updateProviderKey',
    { providerKeyId: made.id, name: 'New', prices: null, expectedVersion: 1 },
    token,
  );
  expect(changed.providerKey).toMatchObject({ name: 'New', prices: null, monthlyBudgetUsd: 20, version: 2 });
  expect(await keyFor(organizationId, null)).toBe(key);
  const replaced = await run('updateProviderKey', { providerKeyId: made.providerKeyId, key: 'sk-c4n4ry-next' }, token);
  expect(replaced.providerKey.version).toBe(3);
  expect(await keyFor(organizationId, null)).toBe('sk-c4n4ry-next');
  expect((await run('updateProviderKey', { providerKeyId: made.id, name: 'New' }, token)).providerKey.version).toBe(3);
  expect(
    (await run('updateProviderKey', { providerKeyId: made.id, name: 'X', expectedVersion: 1 }, token)).userErrors,
  ).toMatchObject(at('expectedVersion', 'CONFLICT'));

  const list = '{ viewer { providerKeys { totalCount nodes { name scope } } } }';
  expect((await graphql(test, userToken, list)).data.viewer.providerKeys).toEqual({
    totalCount: 1,
    nodes: [{ name: 'Team', scope: 'USER' }],
  });
  expect((await graphql(test, token, list)).data.viewer.providerKeys.totalCount).toBe(0);
  expect(await remove(made.id, token)).toMatchObject({ deletedProviderKeyId: made.id, userErrors: [] });
  expect(await remove(made.id, token)).toMatchObject({ error: 'NOT_FOUND' });
  const rows = await test.app.services.store.query(`select sealed from provider_key where organization_id = $1`, [
    bare(organizationId),
  ]);
  expect(rows).toEqual([{ sealed: null }]);
});

const models = {
  body: JSON.stringify({ data: [{ id: 'small' }, { id: 'large' }, { id: 'bad\nname' }, { id: `of ${key}` }, 7] }),
};

it('is tested by one call, stored or not, with a message that names the key and the remedy', async () => {
  const { organizationId, token } = await makeOrganization(test, 'Tests');
  const good = await startProvider(models);
  const baseUrl = `${good.url}/v1/`;
  const stored = await make(token, { organizationId }, { provider: 'COMPATIBLE', baseUrl });
  expect(stored.baseUrl).toBe(`${good.url}/v1`);
  const passed = await check({ providerKeyId: stored.id }, token);
  expect(passed.test).toEqual({
    isOk: true,
    code: null,
    message: 'The provider accepts the key "Team" of the organization and offers 2 models.',
    modelCount: 2,
    tookMs: expect.any(Number),
  });
  expect(good.seen.map(({ method, url, headers }) => [method, url, headers.authorization])).toEqual([
    ['GET', '/v1/models', `Bearer ${key}`],
  ]);
  const many = Array.from({ length: 1_001 }, (_, n) => ({ id: `model-${n}` }));
  const rich = await startProvider({ body: JSON.stringify({ data: many }) });
  expect((await check({ provider: 'COMPATIBLE', key, baseUrl: rich.url }, token)).test).toMatchObject({
    message: 'The provider accepts the key and offers at least 1,000 models.',
    modelCount: 1_000,
  });
  const bad = await startProvider({ status: 401, body: JSON.stringify({ error: { message: `Wrong: ${key}` } }) });
  const moved = await run('updateProviderKey', { providerKeyId: stored.id, baseUrl: bad.url, key }, token);
  expect(moved.providerKey.baseUrl).toBe(bad.url);
  const failed = await check({ providerKeyId: stored.id }, token);
  const message =
    'The test of the key "Team" of the organization failed. The provider refuses the key (status 401). Enter a valid key of the provider.';
  expect(failed.test).toMatchObject({ isOk: false, code: 'KEY_REFUSED', message, modelCount: null });
  expect(failed.providerKey.lastFailure).toEqual({ code: 'KEY_REFUSED', message, at: expect.any(String) });
  const unsaved = { provider: 'COMPATIBLE', key, baseUrl: bad.url };
  expect((await check(unsaved, token)).test).toMatchObject({
    code: 'KEY_REFUSED',
    message:
      'The test of the key failed. The provider refuses the key (status 401). Enter a valid key of the provider.',
  });
  expect((await check({ ...unsaved, key: null, baseUrl: good.url }, token)).test.isOk).toBe(true);
  expect(good.seen[1]?.headers.authorization).toBeUndefined();
  expect((await check({ provider: 'COMPATIBLE' }, token)).userErrors).toMatchObject(at('baseUrl'));
  expect((await check({ provider: 'OPENAI' }, token)).userErrors).toMatchObject(at('key'));
  expect((await check({}, token)).userErrors).toMatchObject(at('provider'));
  // A stored key goes to its own server only.
  expect((await check({ providerKeyId: stored.id, baseUrl: good.url }, token)).userErrors).toMatchObject(
    at('providerKeyId'),
  );
  expect(good.seen).toHaveLength(2);
});

it('refuses keys and addresses that could reach elsewhere, and never repeats a key', async () => {
  const { organizationId, token } = await makeOrganization(test, 'Refused keys');
  const scope = { organizationId };
  const refused = async (input: Record<string, unknown>) => (await create(token, scope, input)).userErrors;
  for (const bad of [
    'sk-c4n4ry\r\nX-Evil: 1',
    'sk-c4n4ry\n',
    ' sk-c4n4ry',
    'sk-c4n4ry ',
    'sk-c4n4rÿ',
    'c4n4ry\u0000',
    '',
  ]) {
    const errors = await refused({ key: bad });
    expect([bad, errors]).toMatchObject([bad, at('key')]);
    expect(JSON.stringify(errors)).not.toContain('c4n4r');
  }
  expect(await refused({ key: 'c'.repeat(4_097) })).toMatchObject(at('key'));
  expect(await refused({ key: null })).toMatchObject(at('key'));
  expect(await refused({ provider: 'COMPATIBLE' })).toMatchObject(at('baseUrl'));
  for (const baseUrl of [
    'ftp://llm.example/v1',
    'https://user:c4n4ry@llm.example/v1',
    'https://c4n4ry@llm.example/v1',
    'https://llm.example/v1?key=c4n4ry',
    'https://llm.example/v1#c4n4ry',
    'http://169.254.169.254/latest',
    'http://[fd00:ec2::254]/v1',
    'http://[::ffff:169.254.169.254]/v1',
    'http://0.0.0.0/v1',
  ]) {
    const errors = await refused({ baseUrl });
    expect([baseUrl, errors]).toMatchObject([baseUrl, at('baseUrl')]);
    expect(JSON.stringify(errors)).not.toContain('c4n4ry');
  }
  expect(await refused({ name: 'two\nlines' })).toMatchObject(at('name'));
  expect(await refused({ monthlyBudgetUsd: -1 })).toMatchObject(at('monthlyBudgetUsd'));
  const server = { provider: 'COMPATIBLE', baseUrl: 'https://llm.example/v1' };
  expect(await refused({ ...server, monthlyBudgetUsd: 5 })).toMatchObject(at('prices'));
  const prices = { inputUsdPerMillion: 1, outputUsdPerMillion: -1 };
  expect(await refused({ prices })).toMatchObject(at('prices.outputUsdPerMillion'));
  // A value of another type is refused before the mutation.
  for (const key of [{ secret: 'c4n4ry' }, ['c4n4ry', 'c4n4ry'], 123_456_789]) {
    const answer = await create(token, scope, { key });
    expect(answer.error).toBeDefined();
    expect(JSON.stringify(answer)).not.toMatch(/c4n4ry|123456789/);
  }
  const stored = await make(token, scope);
  const change = async (input: object) =>
    (await run('updateProviderKey', { providerKeyId: stored.id, ...input }, token)).userErrors;
  expect(await change({ baseUrl: 'https://thief.example/v1' })).toMatchObject(at('key'));
  expect(await change({ provider: 'OPENROUTER' })).toMatchObject(at('key'));
  expect(await change({ key: null })).toMatchObject(at('key'));
  expect((await create(token, scope, { name: 'TEAM' })).userErrors).toMatchObject(at('name', 'NOT_UNIQUE'));
  expect(await keyFor(organizationId, null)).toBe(key);
  const { services } = test.app;
  await services.store.execute(
    `insert into provider_key (id, enterprise_id, organization_id, provider, name, created_at, updated_at)
     select 'full' || n, enterprise_id, organization_id, 'compatible', 'Full ' || n, now(), now()
       from provider_key, generate_series(1, 49) n where organization_id = $1`,
    [bare(organizationId)],
  );
  expect((await create(token, scope, { name: 'One more' })).userErrors).toMatchObject(at('name', 'LIMIT_EXCEEDED'));
});

it('shows and lends a key to nobody but its owner', async () => {
  const one = await makeOrganization(test, 'Owner');
  const other = await makeOrganization(test, 'Stranger');
  const user = await makeUser(test, { organizationId: one.organizationId });
  const colleague = await makeUser(test, { organizationId: one.organizationId });
  const server = await startProvider(models);
  const access = { provider: 'COMPATIBLE', baseUrl: server.url };
  const shared = await make(one.token, { organizationId: one.organizationId }, access);
  const own = await make(user.token, { viewer: true }, access);
  const never = 'provider-key-0123456789abcdef0123456789abcdef';
  const attempts = async (id: string, token: string) => [
    await run('updateProviderKey', { providerKeyId: id, name: 'Mine' }, token),
    await run('enableProviderKey', { providerKeyId: id }, token),
    await remove(id, token),
    await check({ providerKeyId: id }, token),
    (await graphql(test, token, 'query($id: ID!) { node(id: $id) { id } providerKey(id: $id) { id } }', { id })).data,
  ];
  const unknown = await attempts(never, colleague.token);
  expect(unknown.slice(0, 4).map(({ error }) => error)).toEqual(Array(4).fill('NOT_FOUND'));
  const strangers: [string, string][] = [
    [shared.id, colleague.token],
    [shared.id, other.token],
    [own.id, colleague.token],
    [own.id, one.token],
    [own.id, other.token],
    [own.id, test.adminToken],
  ];
  for (const [id, token] of strangers) expect(await attempts(id, token)).toEqual(unknown);
  expect(server.seen).toEqual([]);
  expect(await create(user.token, { organizationId: one.organizationId })).toMatchObject({ error: 'FORBIDDEN' });
  expect(await create(user.token, { enterprise: true })).toMatchObject({ error: 'FORBIDDEN' });
  expect(await create(user.token, { organizationId: other.organizationId })).toMatchObject({ error: 'NOT_FOUND' });
  expect((await create(one.token, { viewer: true })).userErrors).toMatchObject(at('scope.viewer'));
  const lists =
    '{ organizations(first: 1) { nodes { providerKeys { nodes { id } } } } viewer { providerKeys { nodes { id } } } }';
  const seen = await graphql(test, colleague.token, lists);
  expect(seen.data.viewer.providerKeys.nodes).toEqual([]);
  expect(seen.data.organizations.nodes).toEqual([{ providerKeys: null }]);
  expect(await keyFor(one.organizationId, colleague.userId)).toBe(key);
  // A key of one organization has no access to what works in all organizations of its user.
  const { token: bound } = await runMutation(test, 'createApiKey', 'token', {
    name: 'Bound',
    kind: { personal: { userId: user.userId, organizationId: one.organizationId } },
  });
  expect((await create(bound, { viewer: true }, { name: 'Wider' })).userErrors).toMatchObject(at('scope.viewer'));
  expect(await remove(own.id, bound)).toMatchObject({ error: 'NOT_FOUND' });
  // Only who could create a key may send one to a server.
  expect(await check({ ...access, key }, bound)).toMatchObject({ error: 'FORBIDDEN' });
  expect(server.seen).toEqual([]);
  expect((await check({ ...access, key }, user.token)).test).toMatchObject({ isOk: true });
  const log = '{ enterprise { auditLog(first: 100) { nodes { data } } } }';
  const entries = JSON.stringify((await graphql(test, test.adminToken, log)).data);
  expect(entries).not.toContain(`127.0.0.1:${new URL(server.url).port}","name":"Team","owner":"user`);
});

it('erases the keys of a deleted user and of a deleted organization, and stops using those of a former member', async () => {
  const { organizationId } = await makeOrganization(test, 'Leaving');
  const [leaver, member] = [await makeUser(test, { organizationId }), await makeUser(test, { organizationId })];
  await make(leaver.token, { viewer: true });
  await make(member.token, { viewer: true });
  await make(test.adminToken, { organizationId }, { key: 'sk-c4n4ry-shared' });
  expect(await keyFor(organizationId, leaver.userId)).toBe(key);
  await runMutation(test, 'deleteUser', 'deletedUserId', { userId: leaver.userId });
  expect(await keyFor(organizationId, leaver.userId)).toBe('sk-c4n4ry-shared');
  const input = { principal: { userId: member.userId }, scope: { organizationId } };
  await runMutation(test, 'unassignRole', 'user { userId }', input);
  expect(await keyFor(organizationId, member.userId)).toBe('sk-c4n4ry-shared');
  const sealed = (column: string, id: string) =>
    test.app.services.store.query(
      `select sealed is null as erased, deleted_at is null as alive from provider_key where ${column} = $1`,
      [bare(id)],
    );
  expect(await sealed('owner_user_id', leaver.userId)).toEqual([{ erased: true, alive: false }]);
  expect(await sealed('owner_user_id', member.userId)).toEqual([{ erased: false, alive: true }]);
  await runMutation(test, 'deleteOrganization', 'deletedOrganizationId', { organizationId });
  expect(await keyFor(organizationId, member.userId)).toBeNull();
  expect(await sealed('organization_id', organizationId)).toEqual([{ erased: true, alive: false }]);
});
