import { describe, expect, test } from 'vitest';
import { createApiKey } from '../../src/domain/identity/keys/api-keys.ts';
import { createRole } from '../../src/domain/identity/people/change-roles.ts';
import { createUser } from '../../src/domain/identity/people/users.ts';
import { useApp } from '../support/use-app.ts';
import { asAdministrator, call, makeOrganization, makeServiceKey, makeUser, startApp } from './rest-app.ts';

const app = useApp();

const path = '/v2/enterprise/members';
const missing = `user-${'0'.repeat(32)}`;
const read = (suffix = '', token = app.v1Key) => call(app, token, 'GET', path + suffix);
const join = (organizationId: string, userId: string, roleId: string) =>
  call(app, app.adminToken, 'POST', `/v3/enterprise/organizations/${organizationId}/members/users/${userId}`, {
    role_id: roleId,
  });

/** A user of two organizations. */
async function makeMember() {
  const [first, second] = [await makeOrganization(app, 'First'), await makeOrganization(app, 'Second')];
  const { userId, email } = await makeUser(app, first);
  await join(second, userId, 'org_admin');
  const { name } = (await read(`/${userId}`)).body;
  const user = { user_id: `user-${userId}`, email, name, enterprise_role: null, created_at: expect.any(String) };
  const inFirst = { org_id: `org-${first}`, org_name: 'First', org_role: 'org_member', org_role_name: 'Member' };
  const inSecond = { org_id: `org-${second}`, org_name: 'Second', org_role: 'org_admin', org_role_name: 'Admin' };
  return { userId, email, first, second, inFirst: { ...user, ...inFirst }, inSecond: { ...user, ...inSecond } };
}

describe(`GET ${path}`, () => {
  test('200: every user once, the oldest first, with its first organization, without gaps between pages', async () => {
    const test = await startApp();
    try {
      const get = async (query = '') => (await call(test, test.v1Key, 'GET', path + query)).body;
      const made = [await makeUser(test, test.organizationId), await makeUser(test, test.organizationId)];
      const context = await asAdministrator(test);
      await createUser(context, { email: 'boss@example.com', organizationId: null, roleId: 'account_member' });
      const all = await get();
      const emails = ['admin@localhost', ...made.map(({ email }) => email), 'boss@example.com'];
      expect(all.items.map(({ email }: any) => email)).toEqual(emails);
      expect({ ...all, items: 0 }).toEqual({
        items: 0,
        total: 4,
        offset: 0,
        skip: 0,
        limit: 100,
        has_more: false,
        next_cursor: null,
      });
      expect(all.items[0]).toMatchObject({ org_id: `org-${test.organizationId}`, enterprise_role: 'account_admin' });
      expect(all.items[3]).toMatchObject({
        name: null,
        org_id: null,
        org_name: null,
        org_role: null,
        org_role_name: null,
        enterprise_role: 'account_member',
      });
      const one = await get('?limit=3');
      expect(one).toMatchObject({ has_more: true, next_cursor: 3 });
      const two = await get('?limit=3&skip=3');
      expect(two).toMatchObject({ has_more: false, next_cursor: null, skip: 3, offset: 3 });
      expect([...one.items, ...two.items]).toEqual(all.items);
    } finally {
      await test.close();
    }
  });

  test('200: the user with an email address, ignoring case', async () => {
    const { email, inFirst } = await makeMember();
    expect((await read(`?email=${email.toUpperCase()}`)).body).toMatchObject({ items: [inFirst], total: 1 });
    expect((await read('?email=nobody@example.com')).body).toMatchObject({ items: [], total: 0, next_cursor: null });
  });
});

test(`GET ${path}/{user_id}: the user with its first organization that there still is`, async () => {
  const { userId, first, inFirst, inSecond } = await makeMember();
  for (const id of [userId, `user-${userId}`]) {
    expect(await read(`/${id}`)).toMatchObject({ status: 200, body: inFirst });
  }
  await call(app, app.adminToken, 'DELETE', `/v3/enterprise/organizations/${first}`);
  expect((await read(`/${userId}`)).body).toEqual(inSecond);
});

test(`GET ${path}/{user_id}/organizations: each with the role there, also one of the enterprise’s own`, async () => {
  const { userId, inFirst, inSecond } = await makeMember();
  const role = await createRole(await asAdministrator(app), {
    name: 'Reader',
    scope: 'organization',
    permissions: ['ViewOrgSessions'],
  });
  const third = await makeOrganization(app, 'Third');
  await join(third, userId, role.id);
  const inThird = {
    ...inFirst,
    org_id: `org-${third}`,
    org_name: 'Third',
    org_role: role.id,
    org_role_name: 'Reader',
  };
  const { items, ...page } = (await read(`/${userId}/organizations?limit=2`)).body;
  expect(items).toEqual([inFirst, inSecond]);
  expect(page).toEqual({ total: 3, offset: 0, skip: 0, limit: 2, has_more: true, next_cursor: 2 });
  expect((await read(`/${userId}/organizations?offset=2`)).body).toMatchObject({ items: [inThird], has_more: false });
});

test('404 for an unknown or deleted user', async () => {
  const { userId } = await makeUser(app, app.organizationId);
  await call(app, app.adminToken, 'DELETE', `/v3/enterprise/members/users/${userId}`);
  for (const id of [missing, userId, 'nobody']) {
    expect(await read(`/${id}`)).toMatchObject({ status: 404 });
    expect(await read(`/${id}/organizations`)).toMatchObject({ status: 404 });
  }
});

test.each(['', `/${missing}/organizations`])('422 names the invalid argument: %s', async (suffix) => {
  const { userId } = await makeUser(app, app.organizationId);
  for (const [query, name] of [
    ['limit=201', 'limit'],
    ['skip=-1', 'skip'],
  ]) {
    const { status, body } = await read(`${suffix.replace(missing, userId)}?${query}`);
    expect({ status, body }).toMatchObject({ status: 422, body: { detail: [{ loc: ['query', name] }] } });
  }
});

test('403 for anybody but an administrator, and for service keys, for any id; 401 for a key of version 3', async () => {
  const { userId, v1Key } = await makeUser(app, app.organizationId, 'org_admin');
  const context = await asAdministrator(app);
  const reader = await createUser(context, {
    email: 'reader@example.com',
    organizationId: null,
    roleId: 'account_member',
  });
  await join(app.organizationId, reader.id, 'org_member');
  const { token: readerKey } = await createApiKey(context, {
    kind: 'PERSONAL',
    name: 'reader',
    userId: reader.id,
    organizationId: app.organizationId,
  });
  for (const suffix of ['', `/${userId}`, `/${missing}`, `/${userId}/organizations`, `/${missing}/organizations`]) {
    for (const token of [v1Key, readerKey, await makeServiceKey(app, app.organizationId)]) {
      expect((await read(suffix, token)).status).toBe(403);
    }
    expect((await read(suffix, app.adminToken)).status).toBe(401);
  }
});
