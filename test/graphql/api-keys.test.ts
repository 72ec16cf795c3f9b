import { describe, expect, it } from 'vitest';
import { graphql } from '../support/app.ts';
import { makeManager, runMutation } from '../support/people.ts';
import { globalIdOf, keyInput, makeKey, makeUser } from '../support/principals.ts';
import { makeOrganization } from '../support/sessions.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();

const keyFields = 'apiKey { id apiKeyId kind name display isActive expiresAt revokedAt }';
const unknownKey = `key-${'0'.repeat(32)}`;

/** A new key of the caller's choice: its id and token. */
async function newKey(
  input: Record<string, unknown>,
  token?: string,
): Promise<{ apiKeyId: string; token: string; id: string }> {
  const made = await runMutation(test, 'createApiKey', `token ${keyFields}`, keyInput(input), token);
  if (!made.apiKey) throw new Error(JSON.stringify(made));
  return { apiKeyId: made.apiKey.apiKeyId, id: made.apiKey.id, token: made.token };
}

const isLive = async (token: string) => (await graphql(test, token, '{ viewer { principalType } }')).status === 200;

async function nodeOf(token: string, id: string): Promise<any> {
  const document = `query($id: ID!) { node(id: $id) { ... on ApiKey { name isActive
    owner { ... on User { email } ... on ServiceUser { name } } organization { organizationId } role { roleId } } } }`;
  return (await graphql(test, token, document, { id })).data.node;
}

/** The names in a list of keys, or the code of the error that came instead. */
async function namesOf(token: string, list: string): Promise<any> {
  const { data, errors } = await graphql(test, token, `{ ${list} }`);
  if (errors) return errors[0].extensions.code;
  const within = (value: any): any => (value.nodes ? value.nodes : within(Object.values(value)[0]));
  return within(data).map((key: any) => key.name);
}

describe('revokeApiKey', () => {
  it('revokes a key: 401 on the next request, and it cannot be revoked again', async () => {
    const { token } = await makeUser(test);
    const key = await newKey({ kind: 'PERSONAL_ACCESS_TOKEN' }, token);
    expect(await isLive(key.token)).toBe(true);
    const revoked = await runMutation(test, 'revokeApiKey', keyFields, { apiKeyId: key.apiKeyId }, token);
    expect(revoked).toMatchObject({
      apiKey: { apiKeyId: key.apiKeyId, isActive: false, revokedAt: expect.any(String) },
      userErrors: [],
    });
    expect(await isLive(key.token)).toBe(false);
    const again = await runMutation(test, 'revokeApiKey', keyFields, { apiKeyId: key.id }, token);
    expect(again).toMatchObject({ apiKey: null, userErrors: [{ code: 'INVALID_STATE' }] });
  });

  it('revokes the caller’s own key', async () => {
    const { token } = await makeUser(test);
    const key = await newKey({ kind: 'PERSONAL_ACCESS_TOKEN' }, token);
    const revoked = await runMutation(test, 'revokeApiKey', keyFields, { apiKeyId: key.apiKeyId }, key.token);
    expect(revoked.apiKey.isActive).toBe(false);
    expect(await isLive(key.token)).toBe(false);
    expect(await isLive(token)).toBe(true);
  });

  it('gives the same error for others’ and unknown keys, by every kind of id', async () => {
    const { organizationId } = await makeOrganization(test, 'Theirs');
    const [mine, theirs] = [await makeUser(test), await makeUser(test, { organizationId })];
    const keys = [
      await newKey({ kind: 'PERSONAL_ACCESS_TOKEN' }, theirs.token),
      await newKey({ kind: 'PERSONAL', organizationId }, theirs.token),
      await newKey({ kind: 'SERVICE', organizationId }),
      await newKey({ kind: 'SERVICE', organizationId: null, roleId: 'account_member' }),
    ];
    const unknown = await runMutation(test, 'revokeApiKey', keyFields, { apiKeyId: unknownKey }, mine.token);
    expect(unknown.error).toBe('NOT_FOUND');
    for (const key of keys) {
      for (const apiKeyId of [key.id, key.apiKeyId, key.apiKeyId.slice(4)]) {
        expect(await runMutation(test, 'revokeApiKey', keyFields, { apiKeyId }, mine.token)).toEqual(unknown);
        expect(await runMutation(test, 'rotateApiKey', keyFields, { apiKeyId }, mine.token)).toEqual(unknown);
      }
      expect(await nodeOf(mine.token, key.id)).toBeNull();
      expect(await isLive(key.token)).toBe(true);
    }
  });
});

describe('rotateApiKey', () => {
  it.each([
    ['PERSONAL_ACCESS_TOKEN', {}],
    ['PERSONAL', { organization: true }],
    ['SERVICE', { organization: true, roleId: 'org_member' }],
  ])(
    'creates a %s key with everything of the other one except its end',
    async (kind, { organization, roleId }: any) => {
      const user = await makeUser(test);
      const input = { kind, name: 'rotated', ...(organization ? { organizationId: test.organizationId } : {}), roleId };
      const old = kind === 'SERVICE' ? await newKey(input) : await newKey(input, user.token);
      const before = await nodeOf(test.adminToken, old.id);
      const newExpiresAt = new Date(Date.now() + 3_600_000).toISOString();
      const rotated = await runMutation(test, 'rotateApiKey', `token ${keyFields}`, {
        apiKeyId: old.apiKeyId,
        newExpiresAt,
      });
      expect(rotated.apiKey).toMatchObject({ kind, name: 'rotated', isActive: true, expiresAt: newExpiresAt });
      expect(await nodeOf(test.adminToken, rotated.apiKey.id)).toEqual(before);
      expect(await nodeOf(test.adminToken, old.id)).toEqual({ ...before, isActive: false });
      expect([await isLive(old.token), await isLive(rotated.token)]).toEqual([false, true]);
    },
  );

  it('keeps the current key on request, and refuses a key that has ended', async () => {
    const { token } = await makeUser(test);
    const old = await newKey({ kind: 'PERSONAL_ACCESS_TOKEN' }, token);
    const input = { apiKeyId: old.apiKeyId, revokeCurrent: false };
    const made = await runMutation(test, 'rotateApiKey', `token ${keyFields}`, input, token);
    expect([await isLive(old.token), await isLive(made.token)]).toEqual([true, true]);
    await runMutation(test, 'revokeApiKey', keyFields, { apiKeyId: old.apiKeyId }, token);
    expect(await runMutation(test, 'rotateApiKey', `token ${keyFields}`, input, token)).toMatchObject({
      token: null,
      apiKey: null,
      userErrors: [{ code: 'INVALID_STATE' }],
    });
    const past = { apiKeyId: made.apiKey.apiKeyId, newExpiresAt: '2001-01-01T00:00:00Z' };
    expect(await runMutation(test, 'rotateApiKey', `token ${keyFields}`, past, token)).toMatchObject({
      userErrors: [{ code: 'INVALID_INPUT', path: ['input', 'newExpiresAt'] }],
    });
    expect(await isLive(made.token)).toBe(true);
  });

  it('replaces a service key, but creates no copy of it', async () => {
    const key = await newKey({ kind: 'SERVICE', organizationId: test.organizationId, roleId: 'org_member' });
    const copy = await runMutation(
      test,
      'rotateApiKey',
      keyFields,
      { apiKeyId: key.apiKeyId, revokeCurrent: false },
      key.token,
    );
    expect(copy.error).toBe('FORBIDDEN');
    const next = await runMutation(test, 'rotateApiKey', `token ${keyFields}`, { apiKeyId: key.apiKeyId }, key.token);
    expect([await isLive(key.token), await isLive(next.token)]).toEqual([false, true]);
  });

  it('gives nobody the token of a user with more permissions', async () => {
    const manager = await makeManager(test, 'MANAGE_ACCOUNT_MEMBERSHIP', 'VIEW_ACCOUNT_MEMBERSHIP');
    const { token } = await makeUser(test, { roleId: 'org_admin' });
    const key = await newKey({ kind: 'PERSONAL_ACCESS_TOKEN' }, token);
    const rotated = await runMutation(
      test,
      'rotateApiKey',
      `token ${keyFields}`,
      { apiKeyId: key.apiKeyId },
      manager.token,
    );
    expect(rotated.error).toBe('FORBIDDEN');
    expect(await isLive(key.token)).toBe(true);
    // The revocation returns no token.
    const revoked = await runMutation(test, 'revokeApiKey', keyFields, { apiKeyId: key.apiKeyId }, manager.token);
    expect(revoked.apiKey.isActive).toBe(false);
  });
});

describe('lists of keys', () => {
  it('contain the viewer’s own keys, those of an organization, or all', async () => {
    const organization = await makeOrganization(test, 'Lists');
    const { organizationId } = organization;
    const user = await makeUser(test, { organizationId });
    const inOrganization = (fields: string) => `organization(id: "${organizationId}") { ${fields} }`;
    await newKey({ kind: 'PERSONAL', organizationId, name: 'personal' }, user.token);
    await newKey({ kind: 'SERVICE', organizationId, name: 'service' });
    const serviceManager = await makeManager(
      test,
      'READ_ACCOUNT_META',
      'MANAGE_ACCOUNT_SERVICE_USERS',
      'MANAGE_ORG_SERVICE_USERS',
    );
    const userManager = await makeManager(
      test,
      'READ_ACCOUNT_META',
      'MANAGE_ACCOUNT_MEMBERSHIP',
      'MANAGE_ORG_SERVICE_USERS',
    );
    const list = inOrganization('apiKeys { nodes { name } }');
    const ofServices = await namesOf(organization.token, list);
    expect(ofServices).toContain('service');
    expect(ofServices).not.toContain('personal');
    expect(await namesOf(serviceManager.token, list)).toEqual(ofServices);
    expect((await namesOf(userManager.token, list)).sort()).toEqual(['personal', ...ofServices].sort());
    expect(await namesOf(user.token, list)).toBe('FORBIDDEN');

    expect(await namesOf(user.token, 'viewer { apiKeys { nodes { name } } }')).toEqual(['personal', 'key']);
    const all = 'enterprise { apiKeys(first: 100) { nodes { name } } }';
    expect(await namesOf(serviceManager.token, all)).not.toContain('personal');
    expect(await namesOf(userManager.token, all)).toContain('personal');
    expect((await namesOf(test.adminToken, all)).sort()).toEqual(expect.arrayContaining(['personal', 'service']));
    const reader = await makeManager(test, 'READ_ACCOUNT_META');
    expect(await namesOf(reader.token, all)).toBe('FORBIDDEN');
  });

  it('show a key of one organization only those of its user for that organization', async () => {
    const [one, two] = [await makeOrganization(test, 'One'), await makeOrganization(test, 'Two')];
    const user = await makeUser(test, { organizationId: one.organizationId });
    const role = {
      principal: { userId: user.userId },
      scope: { organizationId: two.organizationId },
      roleId: 'org_member',
    };
    expect((await runMutation(test, 'assignRole', '', role)).userErrors).toEqual([]);
    const inOne = await newKey({ kind: 'PERSONAL', organizationId: one.organizationId, name: 'one' }, user.token);
    const inTwo = await newKey({ kind: 'PERSONAL', organizationId: two.organizationId, name: 'two' }, user.token);
    expect(await namesOf(inOne.token, 'viewer { apiKeys { nodes { name } } }')).toEqual(['one']);
    expect(await nodeOf(inOne.token, inTwo.id)).toBeNull();
    const revoked = await runMutation(test, 'revokeApiKey', keyFields, { apiKeyId: inTwo.id }, inOne.token);
    expect(revoked.error).toBe('NOT_FOUND');
    expect(await isLive(inTwo.token)).toBe(true);
  });

  it('list active keys by default, and never show a token', async () => {
    const user = await makeUser(test);
    const gone = await newKey({ kind: 'PERSONAL_ACCESS_TOKEN', name: 'gone' }, user.token);
    await runMutation(test, 'revokeApiKey', keyFields, { apiKeyId: gone.apiKeyId }, user.token);
    const names = (status: string) => namesOf(user.token, `viewer { apiKeys${status} { nodes { name display } } }`);
    expect(await names('')).toEqual(['key']);
    expect(await names('(filter: {status: REVOKED})')).toEqual(['gone']);
    expect(await names('(filter: {status: EXPIRED})')).toEqual([]);
    expect(await names('(filter: {status: ALL})')).toEqual(['gone', 'key']);
    const { data } = await graphql(
      test,
      user.token,
      '{ viewer { apiKeys(filter: {status: ALL}) { nodes { display } } } }',
    );
    for (const { display } of data.viewer.apiKeys.nodes) expect(display).toMatch(/^cog_[a-z2-7]{4}…$/);
  });

  it('refuse a global id of another type like an unknown one', async () => {
    const { id } = await newKey({ kind: 'SERVICE', organizationId: test.organizationId });
    const bare = Buffer.from(id, 'base64').toString().split(':')[1] as string;
    for (const type of ['ServiceUser', 'User', 'Session']) {
      expect(
        (
          await graphql(test, test.adminToken, 'query($id: ID!) { node(id: $id) { id } }', {
            id: globalIdOf(type, bare),
          })
        ).data.node,
      ).toBeNull();
    }
  });
});

describe('updateServiceUser and deleteServiceUser', () => {
  it('need the permission to manage it, and all of its permissions', async () => {
    const organization = await makeOrganization(test, 'Managed');
    const { organizationId } = organization;
    const manager = await makeManager(test, 'MANAGE_ACCOUNT_SERVICE_USERS');
    const made = await runMutation(test, 'createServiceUser', 'serviceUser { id serviceUserId }', {
      name: 'Robot',
      roleId: 'org_admin',
      scope: { organizationId },
    });
    const { serviceUserId, id } = made.serviceUser;
    const token = await makeKey(test, { kind: 'SERVICE_USER', serviceUserId });
    const stranger = await makeOrganization(test, 'Strange');

    const rename = (name: string, by: string) =>
      runMutation(test, 'updateServiceUser', 'serviceUser { name }', { serviceUserId, name }, by);
    const remove = (targetId: string, by: string) =>
      runMutation(test, 'deleteServiceUser', 'deletedServiceUserId', { serviceUserId: targetId }, by);
    expect((await rename('Taken', manager.token)).error).toBe('FORBIDDEN');
    expect((await remove(serviceUserId, manager.token)).error).toBe('FORBIDDEN');
    const unknown = await remove(`service-user-${'0'.repeat(32)}`, stranger.token);
    expect(unknown.error).toBe('NOT_FOUND');
    expect(await remove(serviceUserId, stranger.token)).toEqual(unknown);
    expect(await isLive(token)).toBe(true);

    expect((await rename('Renamed', organization.token)).serviceUser.name).toBe('Renamed');
    expect((await rename('', organization.token)).userErrors).toMatchObject([{ path: ['input', 'name'] }]);
    expect((await remove(serviceUserId, organization.token)).deletedServiceUserId).toBe(id);
    expect(await isLive(token)).toBe(false);
    expect((await remove(serviceUserId, organization.token)).error).toBe('NOT_FOUND');
    const listed = (inactive: boolean) =>
      namesOf(
        organization.token,
        `organization(id: "${organizationId}") { serviceUsers(filter: {includeInactive: ${inactive}}) { nodes { name } } }`,
      );
    expect(await listed(false)).not.toContain('Renamed');
    expect(await listed(true)).toContain('Renamed');
  });
});

// The last: it ends keys that the others use.
describe('revokeAllApiKeys', () => {
  it('needs an administrator, counts the revoked keys, and keeps those of service users', async () => {
    const organization = await makeOrganization(test, 'All');
    const user = await makeUser(test, { organizationId: organization.organizationId });
    const service = await newKey({ kind: 'SERVICE', organizationId: organization.organizationId });
    const partly = await makeManager(test, 'MANAGE_ENTERPRISE_SETTINGS', 'MANAGE_ACCOUNT_MEMBERSHIP');
    for (const token of [user.token, service.token, organization.token, partly.token]) {
      expect((await runMutation(test, 'revokeAllApiKeys', 'revokedCount', {}, token)).error).toBe('FORBIDDEN');
    }
    const [live] = await test.app.services.store.query<{ n: number }>(
      `select count(*)::int as n from api_key where revoked_at is null and kind <> 'SERVICE_USER' and enterprise_id = $1`,
      [test.app.installation.enterpriseId],
    );
    const { revokedCount } = await runMutation(test, 'revokeAllApiKeys', 'revokedCount', {});
    expect(revokedCount).toBe(live?.n);
    expect([await isLive(user.token), await isLive(service.token)]).toEqual([false, false]);
    expect([await isLive(organization.token), await isLive(test.adminToken)]).toEqual([true, true]);
    expect((await runMutation(test, 'revokeAllApiKeys', 'revokedCount', {})).revokedCount).toBe(0);
  });
});
