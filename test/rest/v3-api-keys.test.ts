import { describe, expect, test } from 'vitest';
import { useApp } from '../support/use-app.ts';
import { call, makeOrganization, makeServiceUser } from './rest-app.ts';

const app = useApp();

const admin = (method: string, path: string, body?: unknown) => call(app, app.adminToken, method, path, body);
const statusOf = async (token: string) => (await call(app, token, 'GET', '/v3/self')).status;
const keysOf = (serviceUserId: string) => `/v3beta1/enterprise/service-users/${serviceUserId}/api-keys`;
const never = `key-${'0'.repeat(32)}`;
const nowInSeconds = () => Math.floor(Date.now() / 1_000);

async function list(serviceUserId: string, query = '?status=all'): Promise<any[]> {
  const { status, body } = await admin('GET', keysOf(serviceUserId) + query);
  expect(status).toBe(200);
  return body.items;
}

const expire = (keyId: string) =>
  app.app.services.store.execute('update api_key set expires_at = $2::timestamptz where id = $1', [
    keyId.replace('key-', ''),
    new Date(Date.now() - 1_000),
  ]);

describe('a service user that is created with its first key', () => {
  test('of an organization has its role there, and ends at the requested time', async () => {
    const organizationId = await makeOrganization(app);
    const input = { name: 'CI', role_id: 'org_member', ttl_seconds: 3_600 };
    const path = `/v3beta1/organizations/${organizationId}/service-users`;
    const { status, body } = await admin('POST', path, input);
    expect(status).toBe(200);
    expect(body).toEqual({
      token: expect.stringMatching(/^cog_[a-z2-7]{52}$/),
      service_user: {
        service_user_id: expect.stringMatching(/^service-user-[0-9a-f]{32}$/),
        name: 'CI',
        expires_at: expect.any(Number),
        deleted_at: null,
        role_assignments: [
          { org_id: `org-${organizationId}`, role: { role_id: 'org_member', role_name: 'Member', role_type: 'org' } },
        ],
      },
    });
    expect(Math.abs(body.service_user.expires_at - nowInSeconds() - 3_600)).toBeLessThan(60);
    expect((await call(app, body.token, 'GET', '/v3/self')).body).toMatchObject({
      service_user_id: body.service_user.service_user_id,
      org_id: `org-${organizationId}`,
    });
    const [key] = await list(body.service_user.service_user_id);
    expect(key).toMatchObject({ api_key_name: 'CI', expires_at: body.service_user.expires_at, is_active: true });
  });

  test('of the enterprise has a role on it', async () => {
    const input = { name: 'Robot', role_id: 'account_member', ttl_seconds: 31_536_000 };
    const { status, body } = await admin('POST', '/v3beta1/enterprise/service-users', input);
    expect(status).toBe(200);
    expect(body.service_user.role_assignments).toMatchObject([{ org_id: null, role: { role_id: 'account_member' } }]);
    expect(await statusOf(body.token)).toBe(200);
  });

  test.each([
    [422, { ttl_seconds: 31_536_001 }],
    [422, { ttl_seconds: 0 }],
    [422, { ttl_seconds: 1.5 }],
    [422, { ttl_seconds: '60' }],
    [422, { ttl_seconds: undefined }],
    [422, { name: '' }],
    [422, { name: 'x'.repeat(257) }],
    [422, { role_id: 'org_member' }],
    [400, { role_id: 'no_such_role' }],
    [422, { role_id: undefined }],
  ])('is refused with %d for %j, and none is created', async (status, bad) => {
    const count = async () => (await admin('GET', '/v3/enterprise/members/service-users?first=200')).body.items.length;
    const before = await count();
    const input = { name: 'Robot', role_id: 'account_member', ttl_seconds: 60, ...bad };
    const refused = await admin('POST', '/v3beta1/enterprise/service-users', input);
    expect([refused.status, refused.body.token]).toEqual([status, undefined]);
    expect(await count()).toBe(before);
  });

  test('cannot be created in an organization without permission, whether it exists or not', async () => {
    const [own, other] = [await makeOrganization(app), await makeOrganization(app)];
    const { token } = await makeServiceUser(app, { organizationId: own, roleId: 'org_admin' });
    const input = { name: 'CI', role_id: 'org_member', ttl_seconds: 60 };
    const make = (organizationId: string) =>
      call(app, token, 'POST', `/v3beta1/organizations/${organizationId}/service-users`, input);
    expect((await make(own)).status).toBe(200);
    const [foreign, unknown] = [await make(other), await make('0'.repeat(32))];
    expect([foreign.status, foreign.body.detail]).toEqual([403, unknown.body.detail]);
    expect(unknown.status).toBe(403);
  });
});

describe('keys of a service user', () => {
  test('are shown once, when created, and listed by their state', async () => {
    const { serviceUserId } = await makeServiceUser(app, { roleId: 'account_member' });
    const [first] = await list(serviceUserId);
    const inAnHour = nowInSeconds() + 3_600;
    const made = await admin('POST', keysOf(serviceUserId), { name: 'second', expires_at: inAnHour });
    expect(made.body).toEqual({
      api_key_id: expect.stringMatching(/^key-[0-9a-f]{32}$/),
      api_key_name: 'second',
      token: expect.stringMatching(/^cog_/),
    });
    const third = (await admin('POST', keysOf(serviceUserId), { name: 'third' })).body;
    expect([await statusOf(made.body.token), await statusOf(third.token)]).toEqual([200, 200]);

    await expire(made.body.api_key_id);
    await admin('DELETE', `${keysOf(serviceUserId)}/${third.api_key_id}`);
    const names = async (query: string) => (await list(serviceUserId, query)).map((key) => key.api_key_name);
    expect(await names('')).toEqual([first.api_key_name]);
    expect(await names('?status=active')).toEqual([first.api_key_name]);
    expect(await names('?status=expired')).toEqual(['second']);
    expect(await names('?status=revoked')).toEqual(['third']);
    expect(await names('?status=all')).toEqual(['third', 'second', first.api_key_name]);
    expect((await admin('GET', `${keysOf(serviceUserId)}?status=lost`)).status).toBe(422);
    const listed = await list(serviceUserId);
    expect(listed.map((key) => key.is_active)).toEqual([false, false, true]);
    expect(JSON.stringify(listed)).not.toContain('cog_');
    expect([await statusOf(made.body.token), await statusOf(third.token)]).toEqual([401, 401]);
  });

  test('are revoked once: 401 on the next request, and 409 from then on', async () => {
    const { serviceUserId, token } = await makeServiceUser(app, { roleId: 'account_member' });
    const [key] = await list(serviceUserId);
    const path = `${keysOf(serviceUserId)}/${key.api_key_id}`;
    expect(await statusOf(token)).toBe(200);
    expect(await admin('DELETE', path)).toMatchObject({
      status: 200,
      body: { api_key_id: key.api_key_id, is_active: false, revoked_at: expect.any(Number) },
    });
    expect(await statusOf(token)).toBe(401);
    expect((await admin('DELETE', path)).status).toBe(409);
    expect((await admin('DELETE', `${keysOf(serviceUserId)}/${never}`)).status).toBe(404);
  });

  test('are rotated: the new one has the name, and the old one ends or keeps its end', async () => {
    const { serviceUserId, token } = await makeServiceUser(app, { roleId: 'account_member' });
    const [key] = await list(serviceUserId);
    const rotate = (keyId: string, body: unknown) => admin('POST', `${keysOf(serviceUserId)}/${keyId}/rotate`, body);
    const inAnHour = nowInSeconds() + 3_600;

    const beside = await rotate(key.api_key_id, { revoke_current: false, new_key_expires_at: inAnHour });
    expect(beside).toMatchObject({ status: 200, body: { api_key_name: key.api_key_name } });
    expect(beside.body.api_key_id).not.toBe(key.api_key_id);
    expect([await statusOf(token), await statusOf(beside.body.token)]).toEqual([200, 200]);

    // A key with an end date does not become permanent.
    const renewed = await rotate(beside.body.api_key_id, {});
    const { expires_at } = (await list(serviceUserId)).find((each) => each.api_key_id === renewed.body.api_key_id);
    expect(Math.abs(expires_at - inAnHour)).toBeLessThan(600);

    const instead = await rotate(key.api_key_id, {});
    expect([await statusOf(token), await statusOf(instead.body.token)]).toEqual([401, 200]);
    expect((await list(serviceUserId)).map(({ expires_at, is_active }) => [expires_at, is_active])).toEqual([
      [null, true],
      [expires_at, true],
      [inAnHour, false],
      [null, false],
    ]);

    // A key that has ended has no successor.
    expect((await rotate(key.api_key_id, {})).status).toBe(400);
    await expire(beside.body.api_key_id);
    expect((await rotate(beside.body.api_key_id, {})).status).toBe(400);
    expect((await rotate(never, {})).status).toBe(404);
    expect(await list(serviceUserId)).toHaveLength(4);
  });

  test('can rotate themselves', async () => {
    const { serviceUserId, token } = await makeServiceUser(app, { roleId: 'account_member' });
    const [key] = await list(serviceUserId);
    const rotated = await call(app, token, 'POST', `${keysOf(serviceUserId)}/${key.api_key_id}/rotate`, {});
    expect(rotated.status).toBe(200);
    expect([await statusOf(token), await statusOf(rotated.body.token)]).toEqual([401, 200]);
  });

  test.each([-1, 0, 1, 253_402_300_800, 'soon'])('refuse the end %j', async (at) => {
    const { serviceUserId } = await makeServiceUser(app, { roleId: 'account_member' });
    const [key] = await list(serviceUserId);
    const made = await admin('POST', keysOf(serviceUserId), { name: 'x', expires_at: at });
    const rotated = await admin('POST', `${keysOf(serviceUserId)}/${key.api_key_id}/rotate`, {
      new_key_expires_at: at,
    });
    expect([made.status, rotated.status]).toEqual([422, 422]);
    expect(await list(serviceUserId)).toEqual([key]);
  });

  test('are found only under their own service user', async () => {
    const [one, other] = [
      await makeServiceUser(app, { roleId: 'account_member' }),
      await makeServiceUser(app, { roleId: 'account_member' }),
    ];
    const [key] = await list(one.serviceUserId);
    for (const [method, path] of [
      ['DELETE', `${keysOf(other.serviceUserId)}/${key.api_key_id}`],
      ['POST', `${keysOf(other.serviceUserId)}/${key.api_key_id}/rotate`],
    ] as const) {
      const [wrong, unknown] = [
        await admin(method, path, {}),
        await admin(method, path.replace(key.api_key_id, never), {}),
      ];
      expect([wrong.status, wrong.body.detail]).toEqual([404, unknown.body.detail]);
    }
    expect(await statusOf(one.token)).toBe(200);
  });

  test('are paged, newest first', async () => {
    const { serviceUserId } = await makeServiceUser(app, { roleId: 'account_member' });
    for (const name of ['2', '3', '4', '5']) await admin('POST', keysOf(serviceUserId), { name });
    const names: string[] = [];
    for (let after = ''; ; ) {
      const { body } = await admin('GET', `${keysOf(serviceUserId)}?first=2${after}`);
      names.push(...body.items.map((key: any) => key.api_key_name));
      if (!body.has_next_page) break;
      after = `&after=${body.end_cursor}`;
    }
    expect(names).toEqual(['5', '4', '3', '2', 'robot']);
  });
});
