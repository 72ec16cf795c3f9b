import { describe, expect, test } from 'vitest';
import { unassignRole } from '../../src/domain/identity/people/role-assignments.ts';
import { createServiceUser } from '../../src/domain/identity/people/service-users.ts';
import { useApp } from '../support/use-app.ts';
import { asAdministrator, call, makeOrganization, makeServiceUser } from './rest-app.ts';

const app = useApp();

const enterprise = '/v3/enterprise/members/service-users';
const managed = (organizationId: string) => `/v3/enterprise/organizations/org-${organizationId}/members/service-users`;
const nobody = `service-user-${'0'.repeat(32)}`;
const admin = (method: string, path: string, body?: unknown) => call(app, app.adminToken, method, path, body);
const statusOf = async (token: string, path = '/v3/self') => (await call(app, token, 'GET', path)).status;
const audited = (targetId: string) =>
  app.app.services.store.query<{ action: string; organizationId: string | null; data: unknown }>(
    `select action, organization_id as "organizationId", data from audit_entry where target_id = $1 order by created_at, id`,
    [targetId],
  );

const orgMember = { role_id: 'org_member', role_name: 'Member', role_type: 'org' };
const orgAdmin = { role_id: 'org_admin', role_name: 'Admin', role_type: 'org' };
const accountMember = { role_id: 'account_member', role_name: 'Member', role_type: 'enterprise' };
const accountAdmin = { role_id: 'account_admin', role_name: 'Admin', role_type: 'enterprise' };

describe('service users of the enterprise', () => {
  test('are read with all their roles, and can get another one on the enterprise', async () => {
    const { serviceUserId } = await makeServiceUser(app, { roleId: 'account_member' });
    const path = `${enterprise}/${serviceUserId}`;
    const made = {
      service_user_id: `service-user-${serviceUserId}`,
      name: 'Robot',
      expires_at: null,
      deleted_at: null,
      role_assignments: [{ org_id: null, role: accountMember }],
    };
    expect(await admin('GET', path)).toMatchObject({ status: 200, body: made });
    expect(await admin('PATCH', path, { role_id: 'account_admin' })).toMatchObject({
      status: 200,
      body: { ...made, role_assignments: [{ org_id: null, role: accountAdmin }] },
    });
    expect((await admin('GET', path)).body.role_assignments).toEqual([{ org_id: null, role: accountAdmin }]);
    expect((await audited(serviceUserId)).map(({ action }) => action)).toEqual([
      'create_service_user',
      'assign_service_user_role',
    ]);
  });

  test('POST assigns a role on the enterprise to one with roles in organizations only', async () => {
    const organizationId = await makeOrganization(app);
    const { serviceUserId } = await makeServiceUser(app, { roleId: 'account_member' });
    await admin('POST', `${managed(organizationId)}/${serviceUserId}`, { role_id: 'org_member' });
    const inOrganization = { org_id: `org-${organizationId}`, role: orgMember };
    await unassignRole(await asAdministrator(app), { principal: { serviceUserId }, organizationId: null });
    const path = `${enterprise}/${serviceUserId}`;
    expect((await admin('PATCH', path, { role_id: 'account_member' })).status).toBe(404);
    expect(await admin('POST', path, { role_id: 'account_member' })).toMatchObject({
      status: 200,
      body: { role_assignments: [{ org_id: null, role: accountMember }, inOrganization] },
    });
  });

  test('PATCH needs an existing role, POST does not; a role of another scope is refused', async () => {
    const organizationId = await makeOrganization(app);
    const { serviceUserId, token } = await makeServiceUser(app, { roleId: 'account_member' });
    const path = `${managed(organizationId)}/${serviceUserId}`;
    expect((await admin('PATCH', path, { role_id: 'org_member' })).status).toBe(404);
    expect((await admin('POST', path, { role_id: 'account_member' })).status).toBe(422);
    expect((await admin('POST', path, { role_id: 'no_such_role' })).status).toBe(400);
    expect(await statusOf(token, `/v3/organizations/${organizationId}/sessions`)).toBe(403);
    expect(await admin('POST', path, { role_id: 'org_member' })).toMatchObject({
      status: 200,
      body: { role_assignments: [{ org_id: `org-${organizationId}`, role: orgMember }] },
    });
    expect(await statusOf(token, `/v3/organizations/${organizationId}/sessions`)).toBe(200);
    expect(await admin('PATCH', path, { role_id: 'org_admin' })).toMatchObject({
      status: 200,
      body: { role_assignments: [{ org_id: `org-${organizationId}`, role: orgAdmin }] },
    });
    expect((await admin('GET', `${enterprise}/${serviceUserId}`)).body.role_assignments).toHaveLength(2);
    expect(await admin('DELETE', path)).toMatchObject({
      status: 200,
      body: { role_assignments: [{ org_id: `org-${organizationId}`, role: orgAdmin }] },
    });
    expect(await statusOf(token, `/v3/organizations/${organizationId}/sessions`)).toBe(403);
    expect((await admin('DELETE', path)).status).toBe(404);
    expect(await statusOf(token)).toBe(200);
  });

  test('of one organization may have a role on the enterprise too, with all its permissions', async () => {
    const home = await makeOrganization(app);
    const { serviceUserId, token } = await makeServiceUser(app, { organizationId: home, roleId: 'org_member' });
    expect(await statusOf(token, enterprise)).toBe(403);
    const updated = await admin('POST', `${enterprise}/${serviceUserId}`, { role_id: 'account_admin' });
    expect(updated).toMatchObject({
      status: 200,
      body: { role_assignments: [{ org_id: null, role: { role_id: 'account_admin' } }, { org_id: `org-${home}` }] },
    });
    expect(await statusOf(token, enterprise)).toBe(200);
    const changed = await admin('PATCH', `${enterprise}/${serviceUserId}`, { role_id: 'account_member' });
    expect(changed).toMatchObject({
      status: 200,
      body: { role_assignments: [{ org_id: null }, { org_id: `org-${home}` }] },
    });
    expect(await statusOf(token, enterprise)).toBe(403);
    expect(await statusOf(token, '/v3/enterprise/organizations')).toBe(200);
  });

  test('of one organization cannot have a role in another', async () => {
    const [home, other] = [await makeOrganization(app), await makeOrganization(app)];
    const { serviceUserId } = await makeServiceUser(app, { organizationId: home, roleId: 'org_member' });
    expect((await admin('POST', `${managed(other)}/${serviceUserId}`, { role_id: 'org_member' })).status).toBe(409);
    expect((await admin('GET', `${enterprise}/${serviceUserId}`)).body.role_assignments).toEqual([
      { org_id: `org-${home}`, role: orgMember },
    ]);
  });

  test('are deleted with their roles and keys: the token is refused at once, and the id is unknown', async () => {
    const { serviceUserId, token } = await makeServiceUser(app, { roleId: 'account_member' });
    const path = `${enterprise}/${serviceUserId}`;
    expect(await statusOf(token)).toBe(200);
    const deleted = await admin('DELETE', path);
    expect(deleted).toMatchObject({
      status: 200,
      body: { service_user_id: `service-user-${serviceUserId}`, deleted_at: expect.any(Number) },
    });
    expect(deleted.body.role_assignments).toEqual([{ org_id: null, role: accountMember }]);
    expect(await statusOf(token)).toBe(401);
    for (const [method, body] of [['GET'], ['PATCH', { role_id: 'account_member' }], ['DELETE']] as const) {
      const [gone, never] = [await admin(method, path, body), await admin(method, `${enterprise}/${nobody}`, body)];
      expect([gone.status, gone.body.detail]).toEqual([404, never.body.detail]);
    }
    const left = await app.app.services.store.query(
      `select 1 from role_assignment where service_user_id = $1
        union all select 1 from api_key where service_user_id = $1 and revoked_at is null`,
      [serviceUserId],
    );
    expect(left).toEqual([]);
    expect((await audited(serviceUserId)).at(-1)).toMatchObject({
      action: 'delete_service_user',
      data: { name: 'Robot' },
    });
  });
});

describe('lists of service users', () => {
  test('are paged, newest first, without deleted and expired ones by default', async () => {
    const organizationId = await makeOrganization(app);
    const ids: string[] = [];
    for (let n = 0; n < 5; n++) {
      const { serviceUserId } = await makeServiceUser(app, { organizationId, roleId: 'org_member' });
      ids.unshift(`service-user-${serviceUserId}`);
    }
    const [deleted, expired] = [ids[1] as string, ids[3] as string];
    await admin('DELETE', `${enterprise}/${deleted}`);
    await app.app.services.store.execute('update service_user set expires_at = $2::timestamptz where id = $1', [
      expired.replace('service-user-', ''),
      new Date(Date.now() - 1_000),
    ]);
    const readPages = async (query: string) => {
      const found: any[] = [];
      for (let after = ''; ; ) {
        const { body } = await admin('GET', `${managed(organizationId)}?first=2${query}${after}`);
        found.push(...body.items);
        expect(body.items.length).toBeLessThanOrEqual(2);
        if (!body.has_next_page) return found;
        after = `&after=${body.end_cursor}`;
      }
    };
    expect((await readPages('')).map((each) => each.service_user_id)).toEqual(
      ids.filter((id) => id !== deleted && id !== expired),
    );
    const all = await readPages('&include_inactive=true');
    expect(all.map((each) => each.service_user_id)).toEqual(ids);
    expect(all.map((each) => each.deleted_at !== null)).toEqual(ids.map((id) => id === deleted));
    expect(all.map((each) => each.expires_at !== null)).toEqual(ids.map((id) => id === expired));
    expect(all.map((each) => each.role_assignments.length)).toEqual(ids.map((id) => (id === deleted ? 0 : 1)));
  });

  test('of an organization contain those of the enterprise with a role there, and only that role', async () => {
    const organizationId = await makeOrganization(app);
    const { serviceUserId } = await makeServiceUser(app, { roleId: 'account_member' });
    const listed = async () => (await admin('GET', managed(organizationId))).body.items;
    expect(await listed()).toEqual([]);
    await admin('POST', `${managed(organizationId)}/${serviceUserId}`, { role_id: 'org_member' });
    expect(await listed()).toMatchObject([
      {
        service_user_id: `service-user-${serviceUserId}`,
        role_assignments: [{ org_id: `org-${organizationId}`, role: orgMember }],
      },
    ]);
  });

  test('omit those of a deleted organization, whose ids are unknown', async () => {
    const organizationId = await makeOrganization(app);
    const { serviceUserId, token } = await makeServiceUser(app, { organizationId, roleId: 'org_admin' });
    await admin('DELETE', `/v3/enterprise/organizations/${organizationId}`);
    expect(await statusOf(token)).toBe(401);
    expect((await admin('GET', managed(organizationId))).status).toBe(404);
    expect((await admin('GET', `${enterprise}/${serviceUserId}`)).status).toBe(404);
    const { body } = await admin('GET', `${enterprise}?include_inactive=true`);
    expect(body.items.map((each: any) => each.service_user_id)).not.toContain(`service-user-${serviceUserId}`);
  });

  test.each(['first=0', 'first=201', 'first=x', 'after=x', 'include_inactive=maybe'])('refuse %s', async (query) => {
    expect((await admin('GET', `${enterprise}?${query}`)).status).toBe(422);
  });
});

test('a service user of another enterprise is answered like an unknown one', async () => {
  const { store, now } = app.app.services;
  const other = { id: 'e'.repeat(32), serviceUser: 'f'.repeat(32) };
  await store.execute(
    `insert into enterprise (id, name, ip_ranges, created_at) values ($1, 'Other', '{}', $2::timestamptz)`,
    [other.id, now()],
  );
  await store.execute(
    `insert into service_user (id, enterprise_id, name, created_at) values ($1, $2, 'Theirs', $3::timestamptz)`,
    [other.serviceUser, other.id, now()],
  );
  for (const [method, body] of [
    ['GET'],
    ['POST', { role_id: 'account_member' }],
    ['PATCH', { role_id: 'account_member' }],
    ['DELETE'],
  ] as const) {
    const theirs = await admin(method, `${enterprise}/service-user-${other.serviceUser}`, body);
    const never = await admin(method, `${enterprise}/${nobody}`, body);
    expect([theirs.status, theirs.body.detail]).toEqual([404, never.body.detail]);
  }
  const { body } = await admin('GET', `${enterprise}?include_inactive=true&first=200`);
  expect(body.items.map((each: any) => each.name)).not.toContain('Theirs');
});

test('a service user with an end date ends with its keys', async () => {
  const context = await asAdministrator(app);
  const expiresAt = new Date(Date.now() + 60_000);
  const { id } = await createServiceUser(context, {
    name: 'Mortal',
    organizationId: null,
    roleId: 'account_member',
    expiresAt,
  });
  const key = await admin('POST', `/v3beta1/enterprise/service-users/${id}/api-keys`, { name: 'immortal' });
  expect(await statusOf(key.body.token)).toBe(200);
  await app.app.services.store.execute('update service_user set expires_at = $2::timestamptz where id = $1', [
    id,
    new Date(Date.now() - 1_000),
  ]);
  expect(await statusOf(key.body.token)).toBe(401);
});
