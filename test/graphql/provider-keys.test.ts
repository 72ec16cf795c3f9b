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
  const bad = await startProvider({ status: 401, body: JSON.stringify({ error: { message: `Wrong: ${key}` } }) });
  const moved = await run('updateProviderKey', { providerKeyId: stored.id, baseUrl: bad.url, key }, token);
  expect(moved.providerKey.baseUrl).toBe(bad.url);
  const failed = await check({ providerKeyId: stored.id }, token);
  const message =
    'The test of the key "Team" of the organization failed. The provider refuses the key (status 401). Enter a current key of the provider.';
  expect(failed.test).toMatchObject({ isOk: false, code: 'KEY_REFUSED', message, modelCount: null });
  expect(failed.providerKey.lastFailure).toEqual({ code: 'KEY_REFUSED', message, at: expect.any(String) });
  const unsaved = { provider: 'COMPATIBLE', key, baseUrl: bad.url };
  expect((await check(unsaved, token)).test).toMatchObject({
    code: 'KEY_REFUSED',
    message:
      'The test of the key failed. The provider refuses the key (status 401). Enter a current key of the provider.',
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
