import { describe, expect, test } from 'vitest';
import { createApiKey } from '../../src/domain/identity/keys/api-keys.ts';
import { createRole } from '../../src/domain/identity/people/change-roles.ts';
import { createUser } from '../../src/domain/identity/people/users.ts';
import { readAuditActions } from '../support/knowledge.ts';
import { useApp } from '../support/use-app.ts';
import { asAdministrator, call, makeServiceKey, makeUser, startApp } from './rest-app.ts';

const app = useApp();

const path = '/v2/enterprise/organizations';
const read = (query = '', token = app.v1Key) => call(app, token, 'GET', path + query);
const make = (body: object, token = app.v1Key) => call(app, token, 'POST', path, body);
const bare = (id: string) => id.replace(/^org-/, '');

describe(`POST ${path}`, () => {
  test('200: the key’s user becomes the administrator of the new organization', async () => {
    const { status, body } = await make({ display_name: 'Ours', acu_limit: 1_000 });
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        org_id: expect.stringMatching(/^org-[0-9a-f]{32}$/),
        org_name: 'Ours',
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        max_cycle_acu_limit: 1_000,
        max_session_acu_limit: null,
        org_admin_count: 1,
        org_member_count: 1,
        org_user_count: 1,
      },
    });
    const { items } = (await call(app, app.adminToken, 'GET', `/v3/organizations/${body.org_id}/members/users`)).body;
    expect(items.map(({ email }: any) => email)).toEqual(['admin@localhost']);
    expect(await readAuditActions(app, bare(body.org_id), 'add_members_to_org')).toHaveLength(1);
  });

  test('200: nobody does if the request says so', async () => {
    const { body } = await make({ display_name: 'Empty', add_creator_as_member: false });
    expect(body).toMatchObject({ max_cycle_acu_limit: null, org_admin_count: 0, org_member_count: 0 });
  });

  test.each([
    [{}, ['body', 'display_name']],
    [{ display_name: 7 }, ['body', 'display_name']],
    [{ display_name: '' }, ['body', 'display_name']],
    [{ display_name: 'x'.repeat(201) }, ['body', 'display_name']],
    [{ display_name: 'x', acu_limit: -1 }, ['body', 'acu_limit']],
    [{ display_name: 'x', acu_limit: 1.5 }, ['body', 'acu_limit']],
    [{ display_name: 'x', add_creator_as_member: 'yes' }, ['body', 'add_creator_as_member']],
  ])('422 names the problem, and nothing is created: %j', async (body, loc) => {
    const before = (await read()).body.total;
    expect(await make(body)).toMatchObject({ status: 422, body: { detail: [{ loc }] } });
    expect((await read()).body.total).toBe(before);
  });
});

describe(`GET ${path}`, () => {
  test('200: the oldest first, each with its number of members, by limit and offset', async () => {
    const test = await startApp();
    try {
      const get = async (query = '') => (await call(test, test.v1Key, 'GET', path + query)).body;
      const made: string[] = [test.organizationId];
      for (const displayName of ['B', 'C', 'D']) {
        made.push(bare((await call(test, test.v1Key, 'POST', path, { display_name: displayName })).body.org_id));
      }
      await makeUser(test, made[1] as string);
      await makeUser(test, made[1] as string, 'org_admin');
      await call(test, test.adminToken, 'DELETE', `/v3/enterprise/organizations/${made[3]}`);
      const all = await get();
      expect({ ...all, items: undefined }).toEqual({
        total: 3,
        offset: 0,
        skip: 0,
        limit: 100,
        has_more: false,
        next_cursor: null,
      });
      expect(all.items.map(({ org_id }: any) => bare(org_id))).toEqual(made.slice(0, 3));
      expect(all.items[1]).toMatchObject({ org_admin_count: 2, org_member_count: 3, org_user_count: 3 });
      const { items, ...first } = await get('?limit=2');
      expect(first).toEqual({ total: 3, offset: 0, skip: 0, limit: 2, has_more: true, next_cursor: 2 });
      for (const query of [`?limit=2&offset=${first.next_cursor}`, '?limit=2&skip=2', '?limit=2&offset=2&skip=0']) {
        const { items: rest, ...last } = await get(query);
        expect([...items, ...rest]).toEqual(all.items);
        expect(last).toEqual({ total: 3, offset: 2, skip: 2, limit: 2, has_more: false, next_cursor: null });
      }
      expect(await get('?offset=99999999999')).toMatchObject({ items: [], total: 3, has_more: false });
    } finally {
      await test.close();
    }
  });

  test.each([
    ['?limit=0', 'limit', '"limit" must be an integer from 1 to 200, but was 0.'],
    ['?limit=201', 'limit', '"limit" must be an integer from 1 to 200, but was 201.'],
    ['?limit=many', 'limit', '"limit" must be an integer, but was "many".'],
    ['?offset=-1', 'offset', '"offset" must not be negative, but was -1.'],
    ['?skip=-2', 'skip', '"skip" must not be negative, but was -2.'],
  ])('422: %s', async (query, name, msg) => {
    expect(await read(query)).toMatchObject({ status: 422, body: { detail: [{ loc: ['query', name], msg }] } });
  });
});

test('403 for a creator of organizations who would get more permissions as its administrator', async () => {
  const context = await asAdministrator(app);
  const permissions = ['ManageOrganizations', 'ManageAccountMembership'];
  const { id: roleId } = await createRole(context, { name: 'Founder', scope: 'enterprise', permissions });
  const { id: userId } = await createUser(context, { email: 'founder@example.com', organizationId: null, roleId });
  const { organizationId } = app;
  const founder = `/v3/enterprise/organizations/${organizationId}/members/users/${userId}`;
  await call(app, app.adminToken, 'POST', founder, { role_id: 'org_member' });
  const { token } = await createApiKey(context, { kind: 'PERSONAL', name: 'founder', userId, organizationId });
  expect(await make({ display_name: 'Refused' }, token)).toMatchObject({ status: 403 });
  expect((await read()).body.items).not.toContainEqual(expect.objectContaining({ org_name: 'Refused' }));
  expect(await make({ display_name: 'Made', add_creator_as_member: false }, token)).toMatchObject({ status: 200 });
});

test('403 for anybody but an administrator, and for service keys; 401 for a key of version 3', async () => {
  const { v1Key } = await makeUser(app, app.organizationId, 'org_admin');
  for (const token of [v1Key, await makeServiceKey(app, app.organizationId)]) {
    expect((await read('', token)).status).toBe(403);
    expect((await make({ display_name: 'No' }, token)).status).toBe(403);
  }
  expect((await read('', app.adminToken)).status).toBe(401);
  expect((await make({ display_name: 'No' }, app.adminToken)).status).toBe(401);
});
