import { expect, it } from 'vitest';
import { readSecrets } from '../../src/domain/library/secrets/secrets.ts';
import { graphql } from '../support/app.ts';
import { type List, readAll } from '../support/pages.ts';
import { runMutation } from '../support/people.ts';
import { makeUser } from '../support/principals.ts';
import { makeOrganization } from '../support/sessions.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();

const fields = `secret { id secretId key environmentVariable type note isSensitive createdAt updatedAt organization { organizationId }
  createdBy { ... on ServiceUser { serviceUserId } } }`;
const value = 'c4n4ry-first';
const words = { key: 'API_TOKEN', type: 'KEY_VALUE', value, note: 'Of the shop' };
const run = (field: string, input: Record<string, unknown>, token?: string) =>
  runMutation(test, field, fields, input, token);
const make = async (token: string, input: Record<string, unknown> = {}) =>
  (await run('createSecret', { ...words, ...input }, token)).secret;
const bare = (organizationId: string) => organizationId.replace('org-', '');
const valuesOf = (organizationId: string) => readSecrets(test.app.services, bare(organizationId), null, 'key-value');

it('is created, changed and deleted, and its value is never returned', async () => {
  const { organizationId, token, serviceUserId } = await makeOrganization(test, 'Secrets');
  const made = await make(token);
  const { value: _value, ...shown } = words;
  expect(made).toEqual({
    ...shown,
    id: expect.any(String),
    secretId: expect.stringMatching(/^sec_[0-9a-f]{32}$/),
    environmentVariable: 'API_TOKEN',
    isSensitive: true,
    createdAt: expect.any(String),
    updatedAt: made.createdAt,
    organization: { organizationId },
    createdBy: { serviceUserId },
  });
  const updated = await run('updateSecret', { secretId: made.id, note: null, isSensitive: false }, token);
  expect(updated.secret).toMatchObject({ key: 'API_TOKEN', note: null, isSensitive: false });
  const unchanged = { type: 'key-value', isSensitive: false } as const;
  expect(await valuesOf(organizationId)).toEqual([{ key: 'API_TOKEN', value, ...unchanged }]);
  const renamed = await run('updateSecret', { secretId: made.secretId, key: 'TOKEN', value: 'c4n4ry-second' }, token);
  expect(renamed.secret.key).toBe('TOKEN');
  expect(JSON.stringify(renamed)).not.toContain('c4n4ry');
  expect(await valuesOf(organizationId)).toEqual([{ key: 'TOKEN', value: 'c4n4ry-second', ...unchanged }]);
  const same = await run('updateSecret', { secretId: made.id, key: 'TOKEN' }, token);
  expect(same.secret.updatedAt).toBe(renamed.secret.updatedAt);
  const entries = await test.app.services.store.query(
    `select action, data from audit_entry where organization_id = $1 and action like '%secret' order by created_at, id`,
    [bare(organizationId)],
  );
  expect(entries).toEqual([
    { action: 'create_secret', data: { name: 'API_TOKEN' } },
    { action: 'update_secret', data: { name: 'API_TOKEN', changed: 'note isSensitive' } },
    { action: 'update_secret', data: { name: 'TOKEN', changed: 'key value' } },
  ]);
  const gone = await runMutation(test, 'deleteSecret', 'deletedSecretId', { secretId: made.id }, token);
  expect(gone).toEqual({ deletedSecretId: made.id, userErrors: [], clientMutationId: null });
  expect(await valuesOf(organizationId)).toEqual([]);
  expect(await run('updateSecret', { secretId: made.id, note: 'x' }, token)).toMatchObject({ error: 'NOT_FOUND' });
});

it('is refused with the path of the problem, when it is created and when it is changed', async () => {
  const { organizationId, token } = await makeOrganization(test, 'Refused secrets');
  const first = await make(token, { key: 'TAKEN' });
  const second = await make(token, { key: 'FREE' });
  expect(await make(token, { key: 'my-key.v2' })).toMatchObject({ environmentVariable: 'my_key_v2' });
  const seed = await make(token, { key: 'seed', type: 'TOTP', value: 'JBSWY3DPEHPK3PXPc4n4ry'.slice(0, 16) });
  expect(seed).toMatchObject({ environmentVariable: null });
  const at = (name: string, code = 'INVALID_INPUT') => [{ code, path: ['input', name] }];
  const refusedOf = async (field: string, input: Record<string, unknown>) =>
    (await run(field, input, token)).userErrors;
  const create = (input: object) => refusedOf('createSecret', { ...words, key: 'NEW', ...input });
  expect(await create({ key: 'TAKEN' })).toMatchObject(at('key', 'NOT_UNIQUE'));
  expect(await create({ key: 'PATH' })).toMatchObject(at('key'));
  expect(await create({ value: '' })).toMatchObject(at('value'));
  expect(await create({ type: 'TOTP', value: 'not a seed!' })).toMatchObject(at('value'));
  const change = (secretId: string, input: object) => refusedOf('updateSecret', { secretId, ...input });
  expect(await change(second.id, { key: 'TAKEN' })).toMatchObject(at('key', 'NOT_UNIQUE'));
  expect(await change(second.id, { key: 'LD_PRELOAD' })).toMatchObject(at('key'));
  expect(await change(second.id, { key: null })).toMatchObject(at('key'));
  expect(await change(seed.id, { value: 'not a seed!' })).toMatchObject(at('value'));
  expect(await change(first.id, { value: 'c4n4ry'.repeat(20_000) })).toMatchObject(at('value'));
  expect((await valuesOf(organizationId)).map((secret) => secret.key)).toEqual(['TAKEN', 'FREE', 'my-key.v2']);
});

it('is visible to callers that may use sessions, and changed by those that manage secrets', async () => {
  const { organizationId, token } = await makeOrganization(test, 'Kept secrets');
  const { id } = await make(token);
  const member = await makeUser(test, { organizationId });
  const list = 'query($id: ID!) { organization(id: $id) { secrets { nodes { key note } totalCount } } }';
  const { data } = await graphql(test, member.token, list, { id: organizationId });
  expect(data.organization.secrets).toEqual({ nodes: [{ key: 'API_TOKEN', note: 'Of the shop' }], totalCount: 1 });
  for (const [field, input] of [
    ['updateSecret', { secretId: id, note: 'x' }],
    ['createSecret', { ...words, key: 'OTHER', organizationId }],
  ] as const) {
    const missing = { error: 'FORBIDDEN', message: 'Missing permission MANAGE_ORG_SECRETS.' };
    expect(await run(field, input, member.token)).toEqual(missing);
  }
  const stranger = await makeOrganization(test, 'Strangers to secrets');
  expect(await run('updateSecret', { secretId: id, note: 'x' }, stranger.token)).toMatchObject({ error: 'NOT_FOUND' });
  const node = await graphql(test, stranger.token, 'query($id: ID!) { node(id: $id) { id } }', { id });
  expect(node.data.node).toBeNull();
});

it('is paged both ways, each once', async () => {
  const { organizationId, token } = await makeOrganization(test, 'Paged secrets');
  const ids: string[] = [];
  for (let n = 0; n < 7; n++) ids.unshift((await make(token, { key: `KEY_${n}` })).id);
  const list: List = {
    token,
    declared: '$id: ID!',
    variables: { id: organizationId },
    field: 'organization(id: $id) { list: secrets(PAGE) SELECTION }',
    at: (data) => data.organization.list,
  };
  expect(await readAll(test, list, 'forwards', { size: 3 })).toEqual(ids);
  expect(await readAll(test, list, 'backwards', { size: 3 })).toEqual(ids);
});
