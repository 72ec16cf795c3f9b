import { expect, test } from 'vitest';
import { createRole } from '../../src/domain/identity/people/change-roles.ts';
import { useApp } from '../support/use-app.ts';
import { asAdministrator, call, makeServiceKey, makeUser } from './rest-app.ts';

const app = useApp();

const path = '/v2/enterprise/roles';

test('GET returns all roles as a plain array: the enterprise’s own, and then the built-in ones', async () => {
  const context = await asAdministrator(app);
  const own: object[] = [];
  for (let n = 0; n < 205; n += 1) {
    const { id } = await createRole(context, {
      name: `Role ${n}`,
      scope: 'organization',
      permissions: ['UseSessions'],
    });
    own.unshift({ role_id: id, role_name: `Role ${n}`, role_type: 'org' });
  }
  const { status, body, headers } = await call(app, app.v1Key, 'GET', path);
  expect({ status, type: headers.get('content-type') }).toEqual({ status: 200, type: 'application/json' });
  const custom = body.slice(0, own.length);
  const byName = (one: any, other: any) => one.role_name.localeCompare(other.role_name);
  // Roles of the same millisecond come in any order.
  expect(custom.toSorted(byName)).toEqual(own.toSorted(byName));
  expect(body.slice(own.length)).toHaveLength(4);
  for (const role of [
    { role_id: 'account_admin', role_name: 'Admin', role_type: 'account' },
    { role_id: 'account_member', role_name: 'Member', role_type: 'account' },
    { role_id: 'org_admin', role_name: 'Admin', role_type: 'org' },
    { role_id: 'org_member', role_name: 'Member', role_type: 'org' },
  ]) {
    expect(body.slice(own.length)).toContainEqual(role);
  }
});

test('403 for anybody but an administrator, and for service keys; 401 for a key of version 3', async () => {
  const { v1Key } = await makeUser(app, app.organizationId, 'org_admin');
  for (const token of [v1Key, await makeServiceKey(app, app.organizationId)]) {
    expect((await call(app, token, 'GET', path)).status).toBe(403);
  }
  expect((await call(app, app.adminToken, 'GET', path)).status).toBe(401);
});
