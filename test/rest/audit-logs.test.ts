import { describe, expect, test } from 'vitest';
import { earlierAuditActions, laterAuditActions } from '../../src/domain/audit/audit-actions.ts';
import { createApiKey } from '../../src/domain/identity/keys/api-keys.ts';
import { newId } from '../../src/domain/ids.ts';
import { seedAuditEntries } from '../support/audit.ts';
import { useApp } from '../support/use-app.ts';
import { asAdministrator, call, makeOrganization, makeServiceKey, makeServiceUser, makeUser } from './rest-app.ts';

const app = useApp();

const v3 = '/v3/enterprise/audit-logs';
const ofOrganization = (id: string) => `/v3/enterprise/organizations/${id}/audit-logs`;
const read = (path: string, token = app.adminToken) => call(app, token, 'GET', path);
const bare = (entries: { audit_log_id: string }[]) =>
  entries.map(({ audit_log_id }) => audit_log_id.replace('audit_log-', ''));

/** All pages of a v3 list, each requested with the cursor of the previous one. */
async function readAll(path: string, first: number): Promise<string[]> {
  const ids: string[] = [];
  for (let after = ''; ; ) {
    const { status, body } = await read(`${path}${path.includes('?') ? '&' : '?'}first=${first}${after}`);
    expect(status).toBe(200);
    ids.push(...bare(body.items));
    if (!body.has_next_page) return ids;
    expect(body.items).toHaveLength(first);
    after = `&after=${encodeURIComponent(body.end_cursor)}`;
  }
}

/**
 * Reads until the list has the expected length: an ascending reader waits for transactions of other tests' databases.
 */
async function readAscending(path: string, count: number, first = 100): Promise<string[]> {
  await expect.poll(async () => (await readAll(path, 200)).length, { timeout: 60_000, interval: 20 }).toBe(count);
  return readAll(path, first);
}

/** An organization of another enterprise, with an entry; returns their unprefixed ids. */
async function seedForeign(): Promise<{ organizationId: string; entryId: string }> {
  const [enterpriseId, organizationId, now] = [newId(), newId(), new Date()];
  await app.app.services.store.transact(async (tx) => {
    await tx.prisma.enterprise.create({ data: { id: enterpriseId, name: 'Foreign', createdAt: now } });
    const data = { id: organizationId, enterpriseId, name: 'Foreign', createdAt: now, updatedAt: now };
    await tx.prisma.organization.create({ data });
  });
  const [entryId = ''] = await seedAuditEntries(app, [{ action: 'create_org', organizationId, enterpriseId }]);
  return { organizationId, entryId };
}

describe(`GET ${v3}`, () => {
  test('200: an entry has its actor, action, scope, target, key and address', async () => {
    const organizationId = await makeOrganization(app);
    const { userId, email, v3Token } = await makeUser(app, organizationId);
    const before = Math.floor(Date.now() / 1_000);
    const made = await call(app, v3Token, 'POST', `/v3/organizations/${organizationId}/sessions`, {
      prompt: 'say hello',
    });
    const { body } = await read(`${ofOrganization(organizationId)}?action=create_session`);
    expect(body).toEqual({
      items: [
        {
          audit_log_id: expect.stringMatching(/^audit_log-[0-9a-f]{32}$/),
          action: 'create_session',
          created_at: expect.any(Number),
          org_id: `org-${organizationId}`,
          user_id: `user-${userId}`,
          user_email: email,
          service_user_id: null,
          service_user_name: null,
          data: {
            session_id: made.body.session_id,
            target_id: made.body.session_id,
            api_key_id: expect.stringMatching(/^key-[0-9a-f]{32}$/),
            ip_address: expect.stringMatching(/^(127\.0\.0\.1|::1)$/),
          },
        },
      ],
      end_cursor: expect.any(String),
      has_next_page: false,
      total: null,
    });
    expect(body.items[0].created_at).toBeGreaterThanOrEqual(before);
    expect(body.items[0].created_at).toBeLessThanOrEqual(Date.now() / 1_000);
  });

  test('200: the service user is named, and additional values are in snake case', async () => {
    const { serviceUserId, token } = await makeServiceUser(app, { roleId: 'account_admin' });
    const { body: organization } = await call(app, token, 'POST', '/v3/enterprise/organizations', { name: 'Recorded' });
    await call(app, token, 'PATCH', `/v3/enterprise/organizations/${organization.org_id}`, { name: 'Renamed' });
    const { body } = await read(`${ofOrganization(organization.org_id)}?action=update_org`, token);
    expect(body.items).toMatchObject([
      {
        user_id: null,
        user_email: null,
        service_user_id: `service-user-${serviceUserId}`,
        service_user_name: 'Robot',
        data: { name: 'Renamed', name_before: 'Recorded', target_id: organization.org_id },
      },
    ]);
  });

  test('200: pages of entries of one millisecond lose and repeat none, in either order', async () => {
    const organizationId = await makeOrganization(app);
    const createdAt = new Date(Date.now() + 60_000);
    const ids = await seedAuditEntries(app, Array(7).fill({ action: 'send_message', organizationId, createdAt }));
    const list = `${ofOrganization(organizationId)}?action=send_message`;
    expect(await readAll(list, 3)).toEqual(ids.toReversed());
    expect(await readAscending(`${list}&order=asc`, ids.length, 3)).toEqual(ids);
    const enterprise = `${v3}?action=send_message&time_after=${Math.floor(createdAt.getTime() / 1_000)}`;
    expect((await readAll(enterprise, 3)).filter((id) => ids.includes(id))).toEqual(ids.toReversed());
    const ascending = await readAll(`${enterprise}&order=asc`, 3);
    expect(ascending.filter((id) => ids.includes(id))).toEqual(ids);
  });

  test('200: time_after is included, time_before is not, in either order', async () => {
    const organizationId = await makeOrganization(app);
    const start = 1_600_000_000;
    const at = (seconds: number) => new Date((start + seconds) * 1_000);
    const times = [0, 10, 20, 200 * 24 * 3_600];
    const ids = await seedAuditEntries(
      app,
      times.map((seconds) => ({ action: 'create_org', organizationId, createdAt: at(seconds) })),
    );
    const list = `${ofOrganization(organizationId)}?action=create_org`;
    const since = Math.floor(Date.now() / 1_000) - 3_600;
    // The organization's own entry has the current time.
    expect((await readAll(`${list}&time_after=${since}`, 100)).length).toBe(1);
    for (const order of ['desc', 'asc']) {
      const between = `${list}&order=${order}&time_after=${start}&time_before=${start + 20}`;
      const found = order === 'asc' ? await readAscending(between, 2, 1) : (await readAll(between, 1)).toReversed();
      expect(found).toEqual(ids.slice(0, 2));
    }
  });

  test('200: actions match any of the given ones; an action that is never recorded matches nothing', async () => {
    const organizationId = await makeOrganization(app);
    const [one = '', two = ''] = await seedAuditEntries(app, [
      { action: 'create_pat', organizationId },
      { action: 'revoke_pat', organizationId },
      { action: 'rotate_pat', organizationId },
    ]);
    const list = ofOrganization(organizationId);
    for (const query of [
      'action=create_pat&action=revoke_pat',
      'action=create_pat,revoke_pat',
      'action[]=create_pat&action[]=revoke_pat',
    ]) {
      expect(await readAll(`${list}?${query}`, 1)).toEqual([two, one]);
      const page = await read(`${v3}?${query}&first=2`);
      expect(bare(page.body.items)).toEqual([two, one]);
    }
    const none = await read(`${list}?action=create_gitlab_integration`);
    expect(none).toMatchObject({ status: 200, body: { items: [], end_cursor: null, has_next_page: false } });
  });

  test.each([
    ['action=fly', 'action', '"action" must be an action of the audit log, but "fly" is none.'],
    ['order=up', 'order', '"order" must be "asc" or "desc", but was "up".'],
    ['time_after=-1', 'time_after', '"time_after" must be a time in Unix seconds, but was -1.'],
    ['time_after=99999999999999', 'time_after', '"time_after" must be an integer, but was "99999999999999".'],
    ['time_after=now', 'time_after', '"time_after" must be an integer, but was "now".'],
    ['first=201', 'first', '"first" must be an integer from 1 to 200, but was 201.'],
    ['first=0', 'first', '"first" must be an integer from 1 to 200, but was 0.'],
    ['after=x', 'after', '"after" must be a cursor of this list in this order, but "x" is not one.'],
  ])('422: %s', async (query, name, msg) => {
    for (const path of [v3, ofOrganization(app.organizationId)]) {
      const { status, body } = await read(`${path}?${query}`);
      expect({ status, detail: body.detail }).toMatchObject({ status: 422, detail: [{ loc: ['query', name], msg }] });
    }
  });

  test('200: each bound is optional and independent of the other', async () => {
    const { body } = await read(`${v3}?first=1&order=asc`);
    const [{ audit_log_id: oldest, created_at: at }] = body.items;
    for (const path of [v3, ofOrganization(app.organizationId)]) {
      expect(await read(`${path}?time_before=5`)).toMatchObject({ status: 200, body: { items: [] } });
      expect(await read(`${path}?time_after=1&time_before=8640002`)).toMatchObject({
        status: 200,
        body: { items: [] },
      });
    }
    const earlierThan = async (time: number) =>
      (await read(`${v3}?first=1&order=asc&time_before=${time}`)).body.items.map((item: any) => item.audit_log_id);
    expect(await earlierThan(at + 1)).toEqual([oldest]);
    expect(await earlierThan(at)).not.toContain(oldest);
  });

  test('422: a cursor of one order is invalid for the other', async () => {
    const { body } = await read(`${v3}?first=1`);
    const { status } = await read(`${v3}?order=asc&after=${encodeURIComponent(body.end_cursor)}`);
    expect(status).toBe(422);
  });

  test('403 without ManageEnterpriseSettings for any organization; 404 for one outside of the enterprise', async () => {
    const organizationId = await makeOrganization(app);
    const foreign = await seedForeign();
    const gone = await makeOrganization(app);
    await call(app, app.adminToken, 'DELETE', `/v3/enterprise/organizations/${gone}`);
    const unable = [
      await makeServiceUser(app, { roleId: 'account_member' }),
      await makeServiceUser(app, { roleId: 'org_admin', organizationId }),
      { token: (await makeUser(app, organizationId, 'org_admin')).v3Token },
    ];
    for (const { token } of unable) {
      for (const path of [v3, ...[organizationId, foreign.organizationId, gone, newId(), 'x'].map(ofOrganization)]) {
        const { status, body } = await read(path, token);
        expect({ status, detail: body.detail }).toEqual({
          status: 403,
          detail: 'Missing permission ManageEnterpriseSettings',
        });
      }
    }
    const { body: unknown } = await read(ofOrganization(newId()));
    for (const id of [foreign.organizationId, gone, newId(), 'x', `user-${newId()}`]) {
      const { status, body } = await read(ofOrganization(id));
      expect({ status, detail: body.detail }).toEqual({ status: 404, detail: unknown.detail });
    }
  });

  test('another organization’s entries, and another enterprise’s, never appear', async () => {
    const [one, two] = [await makeOrganization(app), await makeOrganization(app)];
    const foreign = await seedForeign();
    const [ofOne = '', ofTwo = ''] = await seedAuditEntries(app, [
      { action: 'delete_role', organizationId: one },
      { action: 'delete_role', organizationId: two },
    ]);
    expect(await readAll(`${ofOrganization(one)}?action=delete_role`, 100)).toEqual([ofOne]);
    expect(await readAll(`${ofOrganization(two)}?action=delete_role`, 100)).toEqual([ofTwo]);
    const whole = await readAll(v3, 200);
    expect(whole).toEqual(expect.arrayContaining([ofOne, ofTwo]));
    expect(whole).not.toContain(foreign.entryId);
    expect(await readAll(`${v3}?action=create_org`, 200)).not.toContain(foreign.entryId);
    expect(await readAscending(`${v3}?order=asc`, whole.length)).not.toContain(foreign.entryId);
  });

  test('the actions in a deleted organization stay in the enterprise’s log', async () => {
    const organizationId = await makeOrganization(app);
    await call(app, app.adminToken, 'DELETE', `/v3/enterprise/organizations/${organizationId}`);
    const { body } = await read(`${v3}?action=create_org&action=delete_org&first=200`);
    const own = body.items.filter((item: any) => item.org_id === `org-${organizationId}`);
    expect(own.map(({ action }: any) => action)).toEqual(['delete_org', 'create_org']);
  });
});

describe.each(['/v1/audit-logs', '/v1/enterprise/audit-logs'])('GET %s', (v1) => {
  const entries = async (query: string): Promise<any[]> => {
    const { status, body } = await read(`${v1}?${query}`, app.v1Key);
    expect({ status, keys: Object.keys(body) }).toEqual({ status: 200, keys: ['audit_logs'] });
    return body.audit_logs;
  };

  test('200: an entry of a session and one about a user, with times in milliseconds', async () => {
    const organizationId = await makeOrganization(app);
    const before = Date.now();
    const { userId, v1Key } = await makeUser(app, organizationId);
    const made = await call(app, v1Key, 'POST', '/v1/sessions', { prompt: 'say hello' });
    const [session, , user] = (await entries(`after=${before}&before=${Date.now() + 1}&limit=4`)).filter(
      ({ org_id }) => org_id === `org-${organizationId}`,
    );
    expect(session).toEqual({
      audit_log_id: expect.stringMatching(/^audit_log-[0-9a-f]{32}$/),
      created_at: expect.any(Number),
      action: 'create_session',
      user_id: `user-${userId}`,
      session_id: made.body.session_id,
      org_id: `org-${organizationId}`,
    });
    expect(session.created_at).toBeGreaterThanOrEqual(before);
    expect(session.created_at).toBeLessThanOrEqual(Date.now());
    expect(user).toMatchObject({
      action: 'add_member',
      target_user_id: `user-${userId}`,
      service_user_id: expect.stringMatching(/^service-user-[0-9a-f]{32}$/),
      org_id: `org-${organizationId}`,
    });
  });

  test('200: newest first, after included and before excluded, at most as many as the limit', async () => {
    const organizationId = await makeOrganization(app);
    const base = 1_500_000_000_000 + Math.floor(Math.random() * 1e9);
    const ids = await seedAuditEntries(
      app,
      [0, 1, 2, 3].map((ms) => ({ action: 'send_message', organizationId, createdAt: new Date(base + ms) })),
    );
    expect(bare(await entries(`after=${base + 1}&before=${base + 3}`))).toEqual([ids[2], ids[1]]);
    expect(bare(await entries(`before=${base + 4}&after=${base}&limit=2`))).toEqual([ids[3], ids[2]]);
    expect(bare(await entries(`before=${base + 4}&after=${base}&limit=1000`))).toEqual(ids.toReversed());
  });

  test('200: actions of newer enumerations only are omitted', async () => {
    const organizationId = await makeOrganization(app);
    const base = 1_400_000_000_000 + Math.floor(Math.random() * 1e9);
    const words = [...earlierAuditActions, ...laterAuditActions, 'of_a_version_to_come'];
    await seedAuditEntries(
      app,
      words.map((action, ms) => ({ action, organizationId, createdAt: new Date(base + ms) })),
    );
    const found = await entries(`after=${base}&before=${base + words.length}&limit=1000`);
    expect(found.map(({ action }) => action)).toEqual(earlierAuditActions.toReversed());
  });

  test('403 in version 1’s form for anybody but an account_admin; 401 for a key of version 3', async () => {
    const organizationId = await makeOrganization(app);
    const { v1Key } = await makeUser(app, organizationId, 'org_admin');
    for (const token of [v1Key, await makeServiceKey(app, organizationId)]) {
      const { status, body } = await read(v1, token);
      expect({ status, body }).toEqual({
        status: 403,
        body: { detail: 'You do not have permission to access this resource' },
      });
    }
    expect((await read(v1, app.adminToken)).status).toBe(401);
  });

  test.each([
    ['limit=0', 'limit', '"limit" must be an integer from 1 to 1000, but was 0.'],
    ['limit=1001', 'limit', '"limit" must be an integer from 1 to 1000, but was 1001.'],
    ['after=yesterday', 'after', '"after" must be a time in Unix milliseconds, but was "yesterday".'],
    ['before=-1', 'before', '"before" must be a time in Unix milliseconds, but was "-1".'],
    ['before=253402300800000', 'before', '"before" must be a time in Unix milliseconds, but was "253402300800000".'],
  ])('422: %s', async (query, name, msg) => {
    const { status, body } = await read(`${v1}?${query}`, app.v1Key);
    expect({ status, body }).toMatchObject({ status: 422, body: { detail: [{ loc: ['query', name], msg }] } });
  });
});

describe('GET /v2/enterprise/audit-logs', () => {
  const v2 = '/v2/enterprise/audit-logs';

  test('200: the entries of version 1, from newest to oldest', async () => {
    const organizationId = await makeOrganization(app);
    const base = 1_300_000_000_000;
    const ids = await seedAuditEntries(
      app,
      ['create_session', 'create_pat', 'send_message'].map((action, ms) => ({
        action,
        organizationId,
        createdAt: new Date(base + ms),
      })),
    );
    const query = `after=${base}&before=${base + 3}`;
    const { status, body } = await read(`${v2}?${query}`, app.v1Key);
    expect({ status, ids: bare(body.audit_logs) }).toEqual({ status: 200, ids: [ids[2], ids[0]] });
    expect(body).toEqual((await read(`/v1/audit-logs?${query}`, app.v1Key)).body);
    const { audit_logs } = (await read(v2, app.v1Key)).body;
    const times = audit_logs.map(({ created_at }: any) => created_at);
    expect(times.length).toBeGreaterThan(5);
    expect(times).toEqual(times.toSorted((one: number, other: number) => other - one));
  });

  test('403 for every key except an account_admin’s own; 401 for a key of version 3', async () => {
    const organizationId = await makeOrganization(app);
    const { v1Key } = await makeUser(app, organizationId, 'org_admin');
    const serviceOfEnterprise = await createApiKey(await asAdministrator(app), {
      kind: 'SERVICE',
      name: 'service of the enterprise',
      organizationId: null,
      roleId: 'account_admin',
    });
    for (const token of [v1Key, await makeServiceKey(app, organizationId), serviceOfEnterprise.token]) {
      const { status, body } = await read(v2, token);
      expect({ status, body }).toEqual({
        status: 403,
        body: { detail: 'You do not have permission to access this resource' },
      });
    }
    expect((await read(v2, app.adminToken)).status).toBe(401);
  });

  test('422: an invalid time', async () => {
    const { status, body } = await read(`${v2}?after=yesterday`, app.v1Key);
    expect({ status, loc: body.detail[0].loc }).toEqual({ status: 422, loc: ['query', 'after'] });
  });
});
