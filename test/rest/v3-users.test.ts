import { describe, expect, test } from 'vitest';
import { createApiKey } from '../../src/domain/identity/keys/api-keys.ts';
import { useApp } from '../support/use-app.ts';
import { asAdministrator, call, makeManager, makeOrganization, makeUser } from './rest-app.ts';

const app = useApp();

const enterprise = '/v3/enterprise/members/users';
const managed = (organizationId: string) => `/v3/enterprise/organizations/org-${organizationId}/members/users`;
const own = (organizationId: string) => `/v3/organizations/org-${organizationId}/members/users`;
const nobody = `user-${'0'.repeat(32)}`;
const admin = (method: string, path: string, body?: unknown) => call(app, app.adminToken, method, path, body);
const audited = (targetId: string) =>
  app.app.services.store.query<{ action: string; organizationId: string | null; data: unknown }>(
    `select action, organization_id as "organizationId", data from audit_entry where target_id = $1 order by created_at, id`,
    [targetId],
  );

const member = { role_id: 'org_member', role_name: 'Member', role_type: 'org' };
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

describe('GET /v3/enterprise/members/users', () => {
  test('every user, newest first, with its roles in every scope', async () => {
    const organizationId = await makeOrganization(app, 'Listed');
    const users = [];
    for (let n = 0; n < 3; n++) users.unshift(await makeUser(app, organizationId));
    const items = await readPages(enterprise);
    expect(items.slice(0, 3)).toEqual(
      users.map(({ userId, email }) => ({
        user_id: `user-${userId}`,
        email,
        name: expect.any(String),
        role_assignments: [{ org_id: `org-${organizationId}`, role: member }],
      })),
    );
    expect(items.at(-1)).toMatchObject({
      email: 'admin@localhost',
      role_assignments: [
        { org_id: null, role: { role_id: 'account_admin', role_type: 'enterprise' } },
        { org_id: `org-${app.organizationId}` },
      ],
    });
    expect(new Set(items.map(({ user_id }) => user_id)).size).toBe(items.length);
  });

  test('email finds a user in any spelling of the address; an unknown address finds none', async () => {
    const { userId, email } = await makeUser(app, app.organizationId);
    const found = await admin('GET', `${enterprise}?email=${email.toUpperCase()}`);
    expect(found.body.items).toMatchObject([{ user_id: `user-${userId}`, email }]);
    for (const none of [email.slice(1), '%25', `${email}%00`]) {
      const { status, body } = await admin('GET', `${enterprise}?email=${none}`);
      expect(status === 422 || body.items.length === 0).toBe(true);
    }
  });

  test('403 without ViewAccountMembership, which ManageAccountMembership does not include', async () => {
    const { userId, v3Token } = await makeUser(app, app.organizationId, 'org_admin');
    for (const token of [v3Token, await makeManager(app, 'ManageAccountMembership')]) {
      for (const path of [enterprise, `${enterprise}/${userId}`, managed(app.organizationId), '/v3/enterprise/roles']) {
        expect(await call(app, token, 'GET', path)).toMatchObject({
          status: 403,
          body: { detail: 'Missing permission ViewAccountMembership' },
        });
      }
    }
  });

  test('refuses a cursor of another list', async () => {
    const { body } = await admin('GET', `${managed(app.organizationId)}?first=1`);
    expect((await admin('GET', `${enterprise}?after=${body.end_cursor}`)).status).toBe(422);
    for (const path of [enterprise, managed(app.organizationId), own(app.organizationId)]) {
      expect((await admin('GET', `${path}?first=201`)).status).toBe(422);
    }
  });
});

describe('GET of one user', () => {
  test('of the enterprise: every role, and no roles of groups', async () => {
    const { userId, email } = await makeUser(app, app.organizationId);
    const user = {
      user_id: `user-${userId}`,
      email,
      name: expect.any(String),
      role_assignments: [{ org_id: `org-${app.organizationId}`, role: member }],
      idp_role_assignments: [],
    };
    for (const id of [userId, `user-${userId}`]) {
      expect(await admin('GET', `${enterprise}/${id}`)).toMatchObject({ status: 200, body: user });
    }
    for (const id of [nobody, 'nonsense', app.organizationId]) {
      expect((await admin('GET', `${enterprise}/${id}`)).status).toBe(404);
    }
  });

  test('of an organization: only its members, only their roles there', async () => {
    const first = await makeOrganization(app, 'First');
    const second = await makeOrganization(app, 'Second');
    const { userId, v3Token } = await makeUser(app, first);
    const stranger = await makeUser(app, second);
    await admin('POST', `${managed(second)}/${userId}`, { role_id: 'org_admin' });
    const read = await call(app, v3Token, 'GET', `${own(first)}/${userId}`);
    expect(read.body).toMatchObject({
      role_assignments: [{ org_id: `org-${first}`, role: member }],
      idp_role_assignments: [],
    });
    const list = await call(app, v3Token, 'GET', own(first));
    const { idp_role_assignments: _none, ...user } = read.body;
    expect(list.body.items).toEqual([user]);
    expect((await admin('GET', managed(first))).body.items).toEqual([user]);

    const other = await call(app, v3Token, 'GET', `${own(first)}/${stranger.userId}`);
    const unknown = await call(app, v3Token, 'GET', `${own(first)}/${nobody}`);
    expect(other).toMatchObject({ status: 404, body: { ...unknown.body, instance: expect.any(String) } });
    expect((await call(app, stranger.v3Token, 'GET', own(first))).status).toBe(403);
    expect((await call(app, stranger.v3Token, 'GET', own('0'.repeat(32)))).status).toBe(403);
    expect((await admin('GET', own('0'.repeat(32)))).status).toBe(404);
    expect((await admin('GET', managed('0'.repeat(32)))).status).toBe(404);
  });
});

describe('an organization’s list', () => {
  test('has the newest membership first, in pages, and can be filtered by email address', async () => {
    const organizationId = await makeOrganization(app, 'Paged');
    const early = await makeUser(app, app.organizationId);
    const ids = [];
    for (let n = 0; n < 3; n++) ids.unshift(`user-${(await makeUser(app, organizationId)).userId}`);
    await admin('POST', `${managed(organizationId)}/${early.userId}`, { role_id: 'org_member' });
    const listed = await readPages(managed(organizationId));
    expect(listed.map(({ user_id }) => user_id)).toEqual([`user-${early.userId}`, ...ids]);
    expect(await readPages(own(organizationId))).toEqual(listed);
    const found = await admin('GET', `${own(organizationId)}?email=${early.email.toUpperCase()}`);
    expect(found.body.items).toEqual([listed[0]]);
    const elsewhere = await makeUser(app, app.organizationId);
    expect((await admin('GET', `${own(organizationId)}?email=${elsewhere.email}`)).body.items).toEqual([]);
  });
});

describe('POST /v3/enterprise/members/users', () => {
  test('creates a user for each new address; a known one is returned unchanged', async () => {
    const existing = await makeUser(app, app.organizationId);
    const stamp = existing.userId.slice(-8);
    const emails = [
      `B${stamp}@example.com`,
      existing.email.toUpperCase(),
      `a${stamp}@example.com`,
      `b${stamp}@EXAMPLE.com`,
    ];
    const { status, body } = await admin('POST', enterprise, { emails, enterprise_role_id: 'account_member' });
    expect(status).toBe(200);
    const invited = { name: null, role_assignments: [{ org_id: null, role: accountMember }] };
    expect(body).toEqual([
      { user_id: expect.stringMatching(/^user-/), email: emails[0], ...invited },
      {
        user_id: `user-${existing.userId}`,
        email: existing.email,
        name: expect.any(String),
        role_assignments: [{ org_id: `org-${app.organizationId}`, role: member }],
      },
      { user_id: expect.stringMatching(/^user-/), email: emails[2], ...invited },
    ]);
    expect(await audited(body[0].user_id.replace('user-', ''))).toEqual([
      { action: 'add_members_to_enterprise', organizationId: null, data: { role: 'account_member' } },
    ]);
    expect((await audited(existing.userId)).map(({ action }) => action)).toEqual(['add_member']);
    const again = await admin('POST', enterprise, { emails, enterprise_role_id: 'account_admin' });
    expect(again.body).toEqual(body);
  });

  test('an invalid address, an invalid role or too many: nothing is written, and the response names the item', async () => {
    const good = `good${Math.random()}@example.com`;
    const bad = await admin('POST', enterprise, { emails: [good, 'no address'], enterprise_role_id: 'account_member' });
    expect(bad).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'emails', '1'] }] } });
    const many = Array.from({ length: 101 }, (_, n) => `many${n}@example.com`);
    for (const [body, status] of [
      [{ emails: many, enterprise_role_id: 'account_member' }, 422],
      [{ emails: [good], enterprise_role_id: 'org_member' }, 422],
      [{ emails: [good], enterprise_role_id: '0'.repeat(32) }, 400],
      [{ emails: [good] }, 422],
      [{ emails: good, enterprise_role_id: 'account_member' }, 422],
    ] as const) {
      expect((await admin('POST', enterprise, body)).status).toBe(status);
    }
    expect((await admin('GET', `${enterprise}?email=${good}`)).body.items).toEqual([]);
    const hundred = await admin('POST', enterprise, { emails: many.slice(1), enterprise_role_id: 'account_member' });
    expect(hundred.body).toHaveLength(100);
    expect((await admin('POST', enterprise, { emails: [], enterprise_role_id: 'account_member' })).body).toEqual([]);
  });

  test('403 for a role above the caller’s own', async () => {
    const token = await makeManager(app, 'ManageAccountMembership', 'ReadAccountMeta');
    const emails = [`raised${Math.random()}@example.com`];
    const raised = await call(app, token, 'POST', enterprise, { emails, enterprise_role_id: 'account_admin' });
    expect(raised).toMatchObject({ status: 403, body: { detail: expect.stringMatching(/that you lack: \w+\.$/) } });
    const fine = await call(app, token, 'POST', enterprise, { emails, enterprise_role_id: 'account_member' });
    expect(fine.status).toBe(200);
  });

  test('two concurrent invitations of one address return the same user', async () => {
    const emails = Array.from({ length: 5 }, (_, n) => `same${n}-${Math.random()}@example.com`);
    const answers = await Promise.all(
      [emails, emails.toReversed()].map((list) =>
        admin('POST', enterprise, { emails: list, enterprise_role_id: 'account_member' }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(answers[1]?.body.toReversed()).toEqual(answers[0]?.body);
  });
});

describe('DELETE /v3/enterprise/members/users/{user_id}', () => {
  test('the user is deleted, its keys are revoked, its address is free, and its objects keep its name', async () => {
    const organizationId = await makeOrganization(app, 'Leaving');
    const reader = await makeUser(app, organizationId);
    const user = await makeUser(app, organizationId);
    const session = (await call(app, user.v1Key, 'POST', '/v1/sessions', { prompt: 'say hello' })).body;
    const before = (await admin('GET', `${enterprise}/${user.userId}`)).body;
    const { idp_role_assignments: _none, ...shown } = before;

    expect(await admin('DELETE', `${enterprise}/${user.userId}`)).toMatchObject({ status: 200, body: shown });
    expect((await call(app, user.v1Key, 'GET', '/v1/sessions')).status).toBe(401);
    expect((await call(app, user.v3Token, 'GET', '/v3/self')).status).toBe(401);

    const gone = `user-${user.userId}`;
    for (const [method, path, body] of [
      ['GET', `${enterprise}/${gone}`],
      ['PATCH', `${enterprise}/${gone}`, { role_id: 'account_member' }],
      ['DELETE', `${enterprise}/${gone}`],
      ['GET', `${own(organizationId)}/${gone}`],
      ['POST', `${managed(organizationId)}/${gone}`, { role_id: 'org_member' }],
      ['PATCH', `${managed(organizationId)}/${gone}`, { role_id: 'org_member' }],
      ['DELETE', `${managed(organizationId)}/${gone}`],
    ] as const) {
      const { status, body: answer } = await admin(method, path, body);
      const unknown = await admin(method, path.replace(gone, nobody), body);
      expect({ status, ...answer, instance: '' }).toEqual({ status: 404, ...unknown.body, instance: '' });
    }
    const left = (await admin('GET', managed(organizationId))).body.items;
    expect(left.map(({ user_id }: { user_id: string }) => user_id)).toEqual([`user-${reader.userId}`]);
    expect((await admin('GET', `${enterprise}?email=${user.email}`)).body.items).toEqual([]);
    const context = await asAdministrator(app);
    const key = createApiKey(context, { kind: 'PERSONAL_ACCESS_TOKEN', name: 'late', userId: user.userId });
    await expect(key).rejects.toMatchObject({ code: 'NOT_FOUND' });
    const asGone = { prompt: 'x', create_as_user_id: gone };
    expect((await admin('POST', `/v3/organizations/${organizationId}/sessions`, asGone)).status).toBe(400);

    const read = await call(app, reader.v1Key, 'GET', `/v1/sessions/${session.session_id}`);
    expect(read.body.messages[0]).toMatchObject({ user_id: gone, username: expect.stringMatching(/^Person /) });
    expect((await audited(user.userId)).at(-1)).toEqual({
      action: 'delete_member',
      organizationId: null,
      data: { email: user.email },
    });

    const [again] = (await admin('POST', enterprise, { emails: [user.email], enterprise_role_id: 'account_member' }))
      .body;
    expect(again.user_id).not.toBe(gone);
    expect((await call(app, user.v3Token, 'GET', '/v3/self')).status).toBe(401);
  });

  test('403 without ManageAccountMembership', async () => {
    const { userId, v3Token } = await makeUser(app, app.organizationId, 'org_admin');
    expect((await call(app, v3Token, 'DELETE', `${enterprise}/${userId}`)).status).toBe(403);
    expect((await call(app, v3Token, 'GET', '/v3/self')).status).toBe(200);
  });
});
