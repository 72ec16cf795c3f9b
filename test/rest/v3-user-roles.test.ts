import { describe, expect, test } from 'vitest';
import { createRole } from '../../src/domain/identity/people/change-roles.ts';
import { useApp } from '../support/use-app.ts';
import { asAdministrator, call, makeManager, makeOrganization, makeUser } from './rest-app.ts';

const app = useApp();

const enterprise = '/v3/enterprise/members/users';
const managed = (organizationId: string) => `/v3/enterprise/organizations/org-${organizationId}/members/users`;
const nobody = `user-${'0'.repeat(32)}`;
const admin = (method: string, path: string, body?: unknown) => call(app, app.adminToken, method, path, body);
const audited = (targetId: string) =>
  app.app.services.store.query<{ action: string; organizationId: string | null; data: unknown }>(
    `select action, organization_id as "organizationId", data from audit_entry where target_id = $1 order by created_at, id`,
    [targetId],
  );

const member = { role_id: 'org_member', role_name: 'Member', role_type: 'org' };
const orgAdmin = { role_id: 'org_admin', role_name: 'Admin', role_type: 'org' };
const accountMember = { role_id: 'account_member', role_name: 'Member', role_type: 'enterprise' };

/** All items of a list, read in pages of 2, and the length of each page. */
async function readPages(path: string): Promise<any[]> {
  const items: any[] = [];
  for (let after = ''; ; ) {
    const { body } = await admin('GET', `${path}?first=2${after}`);
    items.push(...body.items);
    expect(body.items.length).toBeLessThanOrEqual(2);
    if (!body.has_next_page) return items;
    after = `&after=${body.end_cursor}`;
  }
}

describe('roles in an organization', () => {
  test('POST assigns one or more; PATCH changes one; DELETE removes it, and each is audited', async () => {
    const organizationId = await makeOrganization(app, 'Roles');
    const { userId, v3Token } = await makeUser(app, app.organizationId);
    const path = `${managed(organizationId)}/user-${userId}`;
    const sessions = async () =>
      (await call(app, v3Token, 'POST', `/v3/organizations/${organizationId}/sessions`, { prompt: 'x' })).status;
    const roles = (role: object) => ({
      status: 200,
      body: { user_id: `user-${userId}`, role_assignments: [{ org_id: `org-${organizationId}`, role }] },
    });
    expect(await sessions()).toBe(403);
    expect((await admin('PATCH', path, { role_id: 'org_member' })).status).toBe(404);
    expect((await admin('DELETE', path)).status).toBe(404);
    for (let time = 0; time < 2; time++) {
      expect(await admin('POST', path, { role_id: 'org_member' })).toMatchObject(roles(member));
    }
    expect(await sessions()).toBe(200);
    expect(await admin('PATCH', path, { role_id: 'org_admin' })).toMatchObject(roles(orgAdmin));
    expect(await admin('POST', path, { role_id: 'org_member' })).toMatchObject(roles(member));
    expect(await admin('DELETE', path)).toMatchObject(roles(member));
    expect(await sessions()).toBe(403);
    expect((await admin('DELETE', path)).status).toBe(404);
    expect((await admin('GET', `${enterprise}/${userId}`)).body.role_assignments).toEqual([
      { org_id: `org-${app.organizationId}`, role: member },
    ]);
    const scope = { organizationId };
    expect((await audited(userId)).slice(1)).toEqual([
      { action: 'add_members_to_org', ...scope, data: { role: 'org_member' } },
      { action: 'assign_roles', ...scope, data: { role: 'org_admin', roleBefore: 'org_member' } },
      { action: 'assign_roles', ...scope, data: { role: 'org_member', roleBefore: 'org_admin' } },
      { action: 'remove_members_from_org', ...scope, data: { role: null, roleBefore: 'org_member' } },
    ]);
  });

  test('concurrent assignments result in one role and one first assignment', async () => {
    const organizationId = await makeOrganization(app, 'Crowded');
    const { userId } = await makeUser(app, app.organizationId);
    const path = `${managed(organizationId)}/${userId}`;
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, n) => admin('POST', path, { role_id: n % 2 ? 'org_admin' : 'org_member' })),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(200));
    const actions = (await audited(userId)).map(({ action }) => action);
    expect(actions.filter((action) => action === 'add_members_to_org')).toHaveLength(1);
    expect((await admin('GET', managed(organizationId))).body.items).toHaveLength(1);
  });

  test('unknown, other scope, no permission: refused, and nothing changes', async () => {
    const organizationId = await makeOrganization(app, 'Refused');
    const { userId, v3Token } = await makeUser(app, organizationId, 'org_admin');
    const path = `${managed(organizationId)}/${userId}`;
    for (const method of ['POST', 'PATCH']) {
      for (const [at, body, status] of [
        [path, { role_id: 'account_member' }, 422],
        [path, { role_id: 'nothing' }, 400],
        [path, {}, 422],
        [`${managed(organizationId)}/${nobody}`, { role_id: 'org_member' }, 404],
        [`${managed('0'.repeat(32))}/${userId}`, { role_id: 'org_member' }, 404],
      ] as const) {
        expect((await admin(method, at, body)).status).toBe(status);
      }
      expect(await call(app, v3Token, method, path, { role_id: 'org_member' })).toMatchObject({
        status: 403,
        body: { detail: 'Missing permission ManageAccountMembership' },
      });
    }
    expect((await call(app, v3Token, 'DELETE', path)).status).toBe(403);
    expect((await admin('GET', managed(organizationId))).body.items).toMatchObject([
      { role_assignments: [{ role: orgAdmin }] },
    ]);
  });

  test('nobody assigns more permissions than their own, or changes users with more', async () => {
    const organizationId = await makeOrganization(app, 'Ranks');
    const { userId } = await makeUser(app, organizationId, 'org_admin');
    const token = await makeManager(
      app,
      'ManageAccountMembership',
      'UseSessions',
      'ViewOrgSessions',
      'ViewOrgMembership',
    );
    const as = (method: string, path: string, body?: unknown) => call(app, token, method, path, body);
    const path = `${managed(organizationId)}/${userId}`;
    const lacking = { status: 403, body: { detail: expect.stringMatching(/that you lack: /) } };
    expect(await as('PATCH', path, { role_id: 'org_member' })).toMatchObject(lacking);
    expect(await as('DELETE', path)).toMatchObject(lacking);
    expect(await as('DELETE', `${enterprise}/${userId}`)).toMatchObject(lacking);
    const newcomer = await as('POST', enterprise, {
      emails: [`n${userId}@example.com`],
      enterprise_role_id: 'account_member',
    });
    // account_member reads the account's metadata, which this manager may not do.
    expect(newcomer).toMatchObject(lacking);
    const { id: viewing } = await createRole(await asAdministrator(app), {
      name: `Viewing ${userId}`,
      scope: 'organization',
      permissions: ['ViewOrgSessions'],
    });
    const plain = await makeUser(app, organizationId);
    await admin('PATCH', `${managed(organizationId)}/${plain.userId}`, { role_id: viewing });
    expect(await as('PATCH', `${managed(organizationId)}/${plain.userId}`, { role_id: 'org_admin' })).toMatchObject(
      lacking,
    );
    expect(await as('POST', `${managed(app.organizationId)}/${plain.userId}`, { role_id: viewing })).toMatchObject({
      status: 200,
    });
    expect((await as('DELETE', `${enterprise}/${plain.userId}`)).status).toBe(200);
  });
});

describe('PATCH /v3/enterprise/members/users/{user_id}', () => {
  test('changes a role on the enterprise; 404 if there is none', async () => {
    const { userId, v3Token } = await makeUser(app, app.organizationId);
    expect((await admin('PATCH', `${enterprise}/${userId}`, { role_id: 'account_member' })).status).toBe(404);
    expect((await admin('PATCH', `${enterprise}/${nobody}`, { role_id: 'account_member' })).status).toBe(404);
    const [invited] = (
      await admin('POST', enterprise, { emails: [`p${userId}@example.com`], enterprise_role_id: 'account_member' })
    ).body;
    const changed = await admin('PATCH', `${enterprise}/${invited.user_id}`, { role_id: 'account_admin' });
    expect(changed).toMatchObject({
      status: 200,
      body: { role_assignments: [{ org_id: null, role: { role_id: 'account_admin' } }] },
    });
    expect((await admin('PATCH', `${enterprise}/${invited.user_id}`, { role_id: 'org_admin' })).status).toBe(422);
    expect(
      (await call(app, v3Token, 'PATCH', `${enterprise}/${invited.user_id}`, { role_id: 'account_member' })).status,
    ).toBe(403);
  });
});

describe('GET /v3/enterprise/roles', () => {
  test('the enterprise’s own, newest first, then the built-in ones', async () => {
    const context = await asAdministrator(app);
    const own = [];
    for (const scope of ['organization', 'enterprise'] as const) {
      own.unshift(await createRole(context, { name: `Listed ${scope}`, scope, permissions: ['UseSessions'] }));
    }
    const roles = await readPages('/v3/enterprise/roles');
    expect(roles.slice(0, 2)).toEqual([
      { role_id: own[0]?.id, role_name: 'Listed enterprise', role_type: 'enterprise' },
      { role_id: own[1]?.id, role_name: 'Listed organization', role_type: 'org' },
    ]);
    expect(roles.slice(-4)).toEqual([
      member,
      orgAdmin,
      accountMember,
      { role_id: 'account_admin', role_name: 'Admin', role_type: 'enterprise' },
    ]);
    expect(new Set(roles.map(({ role_id }) => role_id)).size).toBe(roles.length);
  });
});
