import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApiKey } from '../../src/domain/identity/keys/api-keys.ts';
import { createRole } from '../../src/domain/identity/people/change-roles.ts';
import { assignRole } from '../../src/domain/identity/people/role-assignments.ts';
import { createUser } from '../../src/domain/identity/people/users.ts';
import {
  asAdministrator,
  call,
  makeManager,
  makeOrganization,
  makeServiceUser,
  makeUser,
  startApp,
  type TestApp,
} from '../rest/rest-app.ts';
import { graphql } from '../support/app.ts';
import { mutate } from '../support/mutations.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());

const keysOf = (serviceUserId: string) => `/v3beta1/enterprise/service-users/${serviceUserId}/api-keys`;
const unknownId = 'service-user-00000000000000000000000000000000';

/** The only key of a service user that was just created. */
async function onlyKeyOf(serviceUserId: string): Promise<string> {
  const { body } = await call(app, app.adminToken, 'GET', keysOf(serviceUserId));
  expect(body.items).toHaveLength(1);
  return body.items[0].api_key_id;
}

async function isLive(token: string): Promise<boolean> {
  return (await call(app, token, 'GET', '/v3/self')).status === 200;
}

describe('A key has no more permissions than its creator', () => {
  test('a manager of service users cannot create or rotate a token with more permissions', async () => {
    const manager = await makeManager(app, 'ManageAccountServiceUsers', 'ReadAccountMeta');
    const above = await makeServiceUser(app, { roleId: 'account_admin' });
    const key = await onlyKeyOf(above.serviceUserId);

    const made = await call(app, manager, 'POST', keysOf(above.serviceUserId), { name: 'mine now' });
    const rotated = await call(app, manager, 'POST', `${keysOf(above.serviceUserId)}/${key}/rotate`, {});
    const deleted = await call(app, manager, 'DELETE', `/v3/enterprise/members/service-users/${above.serviceUserId}`);

    expect([made.status, rotated.status, deleted.status]).toEqual([403, 403, 403]);
    expect(await onlyKeyOf(above.serviceUserId)).toBe(key);
    expect(await isLive(above.token)).toBe(true);
  });

  test('a manager of service users can create and rotate a token without more permissions', async () => {
    const manager = await makeManager(app, 'ManageAccountServiceUsers', 'ReadAccountMeta');
    const below = await makeServiceUser(app, { roleId: 'account_member' });
    const key = await onlyKeyOf(below.serviceUserId);

    const made = await call(app, manager, 'POST', keysOf(below.serviceUserId), { name: 'another' });
    const rotated = await call(app, manager, 'POST', `${keysOf(below.serviceUserId)}/${key}/rotate`, {});

    expect([made.status, rotated.status]).toEqual([200, 200]);
    expect([await isLive(made.body.token), await isLive(rotated.body.token)]).toEqual([true, true]);
    expect(await isLive(below.token)).toBe(false);
  });

  test('a new service user cannot get a role that its creator lacks', async () => {
    const manager = await makeManager(app, 'ManageAccountServiceUsers');
    const input = { name: 'Too much', role_id: 'account_admin', ttl_seconds: 60 };
    const before = await call(app, app.adminToken, 'GET', '/v3/enterprise/members/service-users');
    const made = await call(app, manager, 'POST', '/v3beta1/enterprise/service-users', input);
    const after = await call(app, app.adminToken, 'GET', '/v3/enterprise/members/service-users');
    expect(made.status).toBe(403);
    expect(made.body.token).toBeUndefined();
    expect(after.body.items.length).toBe(before.body.items.length);
  });

  test('a manager of members cannot create a key for a user with more permissions', async () => {
    const manager = await makeManager(app, 'ManageAccountMembership', 'ViewAccountMembership');
    const user = await makeUser(app, app.organizationId, 'org_admin');
    for (const input of [
      { kind: { personalAccessToken: { userId: user.userId } }, name: 'theirs' },
      { kind: { personal: { userId: user.userId, organizationId: app.organizationId } }, name: 'theirs' },
    ]) {
      const { payload, errors } = await mutate(app, manager, 'createApiKey', input);
      expect(payload).toBeNull();
      expect(['FORBIDDEN', 'NOT_FOUND']).toContain(errors?.[0].extensions.code);
    }
  });

  test('a personal key of one organization cannot create a token for all of its user’s organizations', async () => {
    const user = await makeUser(app, app.organizationId, 'org_admin');
    const input = { kind: { personalAccessToken: {} }, name: 'everywhere' };
    const refused = await mutate(app, user.v1Key, 'createApiKey', input);
    const taken = await mutate(app, user.v3Token, 'createApiKey', input);
    expect(refused.errors?.[0].extensions.code).toBe('FORBIDDEN');
    expect(taken.payload.token).toMatch(/^cog_/);
  });

  test('a personal key of one organization cannot create one for another organization of its user', async () => {
    const another = await makeOrganization(app);
    const context = await asAdministrator(app);
    const email = 'of-two@example.com';
    const { id: userId } = await createUser(context, {
      email,
      organizationId: app.organizationId,
      roleId: 'org_member',
    });
    await call(app, app.adminToken, 'POST', `/v3/enterprise/organizations/${another}/members/users/${userId}`, {
      role_id: 'org_admin',
    });
    const here = { kind: 'PERSONAL' as const, name: 'here', organizationId: app.organizationId, userId };
    const { token } = await createApiKey(context, here);
    const refused = await mutate(app, token, 'createApiKey', {
      kind: { personal: { organizationId: another } },
      name: 'there',
    });
    const unknown = await mutate(app, token, 'createApiKey', {
      kind: { personal: { organizationId: 'org-00000000000000000000000000000000' } },
      name: 'there',
    });
    expect(refused.errors?.[0].extensions.code).toBe('NOT_FOUND');
    expect(refused.errors?.[0].message).toBe(unknown.errors?.[0].message);
  });

  describe('a personal key of a manager of members who administers two organizations only,', () => {
    async function makeKeys() {
      const context = await asAdministrator(app);
      const name = `Members ${Math.random()}`;
      const role = await createRole(context, { name, scope: 'enterprise', permissions: ['ManageAccountMembership'] });
      const another = await makeOrganization(app);
      const { userId, v1Key } = await makeUser(app, app.organizationId, 'org_admin');
      await assignRole(context, { principal: { userId }, organizationId: null, roleId: role.id });
      const key = (kind: 'PERSONAL' | 'PERSONAL_ACCESS_TOKEN', organizationId: string | null) =>
        createApiKey(context, { kind, name: kind, organizationId, userId });
      const alone = await key('PERSONAL', app.organizationId);
      const makesAlone = await mutate(app, v1Key, 'createApiKey', { kind: { personalAccessToken: {} }, name: 'alone' });
      await assignRole(context, { principal: { userId }, organizationId: another, roleId: 'org_admin' });
      return {
        v1Key,
        makesAlone,
        alone,
        there: await key('PERSONAL', another),
        all: await key('PERSONAL_ACCESS_TOKEN', null),
      };
    }

    test('cannot create or rotate a key of the other organization', async () => {
      const { v1Key, makesAlone, alone, there, all } = await makeKeys();
      expect(makesAlone.payload.token).toMatch(/^cog_/);
      const made = await mutate(app, v1Key, 'createApiKey', { kind: { personalAccessToken: {} }, name: 'everywhere' });
      expect(made.errors?.[0].extensions.code).toBe('FORBIDDEN');
      for (const { apiKey, token } of [there, all]) {
        const rotated = await rotate(v1Key, apiKey.id);
        expect(rotated).toEqual({ token: undefined, code: 'FORBIDDEN' });
        expect((await graphql(app, token, '{ __typename }')).errors).toBeUndefined();
      }
      expect((await rotate(v1Key, alone.apiKey.id)).token).toMatch(/^apk_user_/);
    });

    test('keeps full access if its user is an account_admin', async () => {
      const context = await asAdministrator(app);
      const { v1Key, there, all } = await makeKeys();
      const userId = there.apiKey.userId ?? '';
      await assignRole(context, { principal: { userId }, organizationId: null, roleId: 'account_admin' });
      const made = await mutate(app, v1Key, 'createApiKey', { kind: { personalAccessToken: {} }, name: 'everywhere' });
      expect(made.payload.token).toMatch(/^cog_/);
      for (const { apiKey } of [there, all]) {
        expect((await rotate(v1Key, apiKey.id)).token).toMatch(/^(apk_user|cog)_/);
      }
    });

    async function rotate(token: string, apiKeyId: string) {
      const { data, errors } = await graphql(
        app,
        token,
        'mutation($id: ID!) { rotateApiKey(input: {apiKeyId: $id}) { token } }',
        { id: apiKeyId },
      );
      return { token: data?.rotateApiKey?.token, code: errors?.[0].extensions.code };
    }
  });

  test('only a holder of its role on the enterprise can create a service key of the enterprise', async () => {
    const input = { kind: { service: { scope: { enterprise: true }, roleId: 'account_admin' } }, name: 'all' };
    const manager = await makeManager(app, 'ManageAccountServiceUsers');
    const ofManager = await mutate(app, manager, 'createApiKey', input);
    // An account_admin's personal key belongs to a single organization.
    const ofPersonal = await mutate(app, app.v1Key, 'createApiKey', input);
    const ofAdministrator = await mutate(app, app.adminToken, 'createApiKey', input);
    expect(ofManager.errors?.[0].extensions.code).toBe('FORBIDDEN');
    expect(ofPersonal.errors?.[0].extensions.code).toBe('FORBIDDEN');
    expect(ofAdministrator.payload.token).toMatch(/^apk_(?!user_)/);
  });

  test('an expiring key cannot create or rotate a key that outlives it', async () => {
    const { serviceUserId } = await makeServiceUser(app, { roleId: 'account_admin' });
    const inAnHour = Math.floor(Date.now() / 1_000) + 3_600;
    const mortal = await call(app, app.adminToken, 'POST', keysOf(serviceUserId), { name: 'm', expires_at: inAnHour });
    const { token, api_key_id: own } = mortal.body;

    const rotate = (keyId: string, expires?: number) =>
      call(app, token, 'POST', `${keysOf(serviceUserId)}/${keyId}/rotate`, { new_key_expires_at: expires });
    const endless = await call(app, app.adminToken, 'POST', keysOf(serviceUserId), { name: 'e' });
    for (const expires of [undefined, inAnHour + 1]) {
      const made = await call(app, token, 'POST', keysOf(serviceUserId), { name: 'n', expires_at: expires });
      const rotated = await rotate(endless.body.api_key_id, expires);
      expect([made.status, rotated.status]).toEqual([422, 422]);
    }
    expect((await rotate(own, inAnHour + 1)).status).toBe(422);
    const input = { name: 'n', role_id: 'account_member', ttl_seconds: 7_200 };
    expect((await call(app, token, 'POST', '/v3beta1/enterprise/service-users', input)).status).toBe(422);
    // By default, the new key keeps the lifetime of the old one, and never outlives the caller.
    const rotation = await rotate(own);
    expect(rotation.status).toBe(200);
    expect(await isLive(token)).toBe(false);
    const { body } = await call(app, app.adminToken, 'GET', keysOf(serviceUserId));
    const renewed = body.items.find((each: { api_key_id: string }) => each.api_key_id === rotation.body.api_key_id);
    expect(renewed.expires_at).toBe(inAnHour);
  });

  test('a service user without management permissions cannot create keys for itself', async () => {
    const { serviceUserId, token } = await makeServiceUser(app, { roleId: 'account_member' });
    const key = await onlyKeyOf(serviceUserId);
    const made = await call(app, token, 'POST', keysOf(serviceUserId), { name: 'spare' });
    const rotation = await call(app, token, 'POST', `${keysOf(serviceUserId)}/${key}/rotate`, {
      revoke_current: false,
    });
    expect([made.status, rotation.status]).toEqual([403, 403]);
    expect(await onlyKeyOf(serviceUserId)).toBe(key);
  });
});

describe('The enterprise’s paths require management of the enterprise’s service users', () => {
  test('an organization’s administrator is refused on all of them, for its own and unknown service users alike', async () => {
    const organizationId = await makeOrganization(app);
    const { token } = await makeServiceUser(app, { organizationId, roleId: 'org_admin' });
    const { serviceUserId } = await makeServiceUser(app, { organizationId, roleId: 'org_member' });
    const key = await onlyKeyOf(serviceUserId);
    for (const id of [serviceUserId, unknownId]) {
      for (const [method, path, body] of [
        ['GET', `/v3/enterprise/members/service-users`],
        ['GET', `/v3/enterprise/members/service-users/${id}`],
        ['POST', `/v3/enterprise/members/service-users/${id}`, { role_id: 'account_member' }],
        ['PATCH', `/v3/enterprise/members/service-users/${id}`, { role_id: 'account_member' }],
        ['DELETE', `/v3/enterprise/members/service-users/${id}`],
        ['GET', `/v3/enterprise/organizations/${organizationId}/members/service-users`],
        [
          'POST',
          `/v3/enterprise/organizations/${organizationId}/members/service-users/${id}`,
          { role_id: 'org_member' },
        ],
        ['DELETE', `/v3/enterprise/organizations/${organizationId}/members/service-users/${id}`],
        ['POST', '/v3beta1/enterprise/service-users', { name: 'n', role_id: 'account_member', ttl_seconds: 60 }],
        ['GET', keysOf(id)],
        ['POST', keysOf(id), { name: 'n' }],
        ['POST', `${keysOf(id)}/${key}/rotate`, {}],
        ['DELETE', `${keysOf(id)}/${key}`],
      ] as const) {
        const { status } = await call(app, token, method, path, body);
        expect({ method, path, status }).toEqual({ method, path, status: 403 });
      }
    }
    expect(await onlyKeyOf(serviceUserId)).toBe(key);
  });
});

describe('Only one path revokes every key', () => {
  /** Sends a raw request target: fetch would normalize it. */
  function sendTarget(target: string): Promise<number> {
    const { hostname, port } = new URL(app.url);
    return new Promise((resolve, reject) => {
      let answer = '';
      const lines = [`DELETE ${target} HTTP/1.1`, `Host: ${hostname}:${port}`, `Authorization: Bearer ${app.v1Key}`];
      const socket = connect(Number(port), hostname, () =>
        socket.write(`${[...lines, 'Connection: close'].join('\r\n')}\r\n\r\n`),
      );
      socket.on('data', (data) => {
        answer += data;
      });
      socket.on('error', reject);
      socket.on('end', () => resolve(Number(answer.split(' ')[1])));
    });
  }

  test.each([
    '/v2/enterprise/api-keys',
    '/v2/enterprise/api-keys//',
    '/v2/enterprise/api-keys///',
    '//v2/enterprise/api-keys/',
    '/v2//enterprise/api-keys/',
    '/v2/enterprise/api-keys%2F',
    '/v2/enterprise/api-keys/%2F',
    '/v2/enterprise/api-keys/%20',
    '/v2/enterprise/api-keys/%09',
    '/v2/enterprise/api-keys/%00',
    '/V2/enterprise/api-keys/',
    '/v2/enterprise/API-KEYS/',
    '/v2/enterprise/api-keys/.',
    '/v2/enterprise/api-keys/%2e',
    '/v2/enterprise/api-keys/x/..',
    '/v2/enterprise/api-keys/x/%2E%2e/',
    '/v2/enterprise/./api-keys/',
    '/v1/../v2/enterprise/api-keys/',
    '/v1/.%2e/v2/enterprise/api-keys/',
  ])('not %s', async (target) => {
    const status = await sendTarget(target);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(500);
    expect((await call(app, app.v1Key, 'GET', '/v1/sessions')).status).toBe(200);
  });
});
