import { describe, expect, test } from 'vitest';
import { newId } from '../../src/domain/ids.ts';
import { type SeededSession, seedForeignUsage, seedSession } from '../support/usage.ts';
import { useApp } from '../support/use-app.ts';
import { call, makeOrganization, makeServiceUser, makeUser, startApp } from './rest-app.ts';

const app = useApp();

const unix = (at: string) => Date.parse(at) / 1_000;
const read = (path: string, token = app.adminToken) => call(app, token, 'GET', path);
const bounds = (after: string, before: string) => `time_after=${unix(after)}&time_before=${unix(before)}`;
const spring = bounds('2026-02-01', '2026-05-01');
const enterprise = '/v3/enterprise/metrics';
const ofOrganization = (id: string) => `/v3/organizations/${id}/metrics`;

/** The responses of both scopes for the same organization, which must be equal. */
async function both(organizationId: string, metric: string, query: string): Promise<any> {
  const own = await read(`${ofOrganization(organizationId)}/${metric}?${query}`);
  const whole = await read(`${enterprise}/${metric}?${query}&org_ids=org-${organizationId}`);
  expect([own.status, whole.status]).toEqual([200, 200]);
  expect(own.body).toEqual(whole.body);
  return own.body;
}

describe('active users', () => {
  test('200: by day, week from Monday and month, UTC; an empty window is 0; the ends are cut off', async () => {
    const organizationId = await makeOrganization(app);
    const [one, two] = [newId(), newId()];
    const seeded = [
      [one, '2026-03-01T23:59:59.999Z'],
      [one, '2026-03-02T00:00:00Z'],
      [one, '2026-03-02T12:00:00Z'],
      [two, '2026-03-02T13:00:00Z'],
      [two, '2026-03-05T00:00:00Z'],
    ] as const;
    for (const [userId, createdAt] of seeded) await seedSession(app, { organizationId, userId, createdAt });
    await seedSession(app, { organizationId, serviceUserId: newId(), createdAt: '2026-03-03T00:00:00Z' });
    const query = bounds('2026-03-01T12:00:00Z', '2026-03-05T06:00:00Z');
    const window = (start: string, end: string, users: number) => ({
      start_time: unix(start),
      end_time: unix(end),
      active_users: users,
    });
    expect(await both(organizationId, 'dau', query)).toEqual([
      window('2026-03-01T12:00:00Z', '2026-03-02', 1),
      window('2026-03-02', '2026-03-03', 2),
      window('2026-03-03', '2026-03-04', 0),
      window('2026-03-04', '2026-03-05', 0),
      window('2026-03-05', '2026-03-05T06:00:00Z', 1),
    ]);
    expect(await both(organizationId, 'wau', query)).toEqual([
      window('2026-03-01T12:00:00Z', '2026-03-02', 1),
      window('2026-03-02', '2026-03-05T06:00:00Z', 2),
    ]);
    const months = bounds('2026-02-01', '2026-05-01');
    expect(await both(organizationId, 'mau', months)).toEqual([
      window('2026-02-01', '2026-03-01', 0),
      window('2026-03-01', '2026-04-01', 2),
      window('2026-04-01', '2026-05-01', 0),
    ]);
    expect(await both(organizationId, 'active-users', query)).toEqual(
      window('2026-03-01T12:00:00Z', '2026-03-05T06:00:00Z', 2),
    );
    expect(
      (await both(organizationId, 'dau', `${query}&min_sessions=2`)).map((each: any) => each.active_users),
    ).toEqual([0, 1, 0, 0, 0]);
    expect((await both(organizationId, 'active-users', `${query}&min_sessions=3`)).active_users).toBe(1);
    expect((await both(organizationId, 'active-users', `${query}&min_sessions=4`)).active_users).toBe(0);
  });

  test('200: the default is the current cycle up to now, without future windows', async () => {
    const organizationId = await makeOrganization(app);
    const { userId } = await makeUser(app, organizationId);
    await seedSession(app, { organizationId, userId });
    const windows = await both(organizationId, 'dau', '');
    const now = Date.now() / 1_000;
    expect(windows.at(-1).start_time).toBeLessThanOrEqual(now);
    expect(windows.at(-1).end_time).toBeGreaterThan(now - 60);
    expect(windows.reduce((all: number, each: any) => all + each.active_users, 0)).toBe(1);
    const toCome = await read(`${enterprise}/dau?time_after=${Math.ceil(now) + 86_400}`);
    expect(toCome).toMatchObject({ status: 200, body: [] });
  });

  test.each([
    ['min_sessions=0', 'min_sessions', '"min_sessions" must be an integer from 1 to 1000000, but was 0.'],
    ['min_searches=-1', 'min_searches', '"min_searches" must be an integer from 1 to 1000000, but was -1.'],
    ['min_sessions=x', 'min_sessions', '"min_sessions" must be an integer, but was "x".'],
    ['time_after=1', 'time_before', '"time_before" must be at most 400 days after the period begins.'],
  ])('422: %s', async (query, name, msg) => {
    for (const base of [enterprise, ofOrganization(app.organizationId)]) {
      for (const metric of ['dau', 'active-users']) {
        const { status, body } = await read(`${base}/${metric}?${query}`);
        expect({ status, detail: body.detail }).toMatchObject({ status: 422, detail: [{ loc: ['query', name], msg }] });
      }
    }
  });
});

describe('sessions, pull requests and usage', () => {
  const merged = { url: 'https://example.com/pull/1', state: 'merged' };
  const [second, third] = [4, 5].map((number) => ({ ...merged, url: `https://example.com/pull/${number}` })) as [
    typeof merged,
    typeof merged,
  ];
  const open = { url: 'https://example.com/pull/2', state: 'open' };
  const closed = { url: 'https://example.com/pull/3', state: 'closed' };

  test('200: by origin, and by size at the exact bounds; pull requests by state', async () => {
    const organizationId = await makeOrganization(app);
    const seed = (more: Partial<SeededSession>) =>
      seedSession(app, { organizationId, createdAt: '2026-03-10', ...more });
    for (const acusConsumed of [0, 0.999999, 1, 2.999999, 3, 5.999999, 6, 11.999999, 12, 100]) {
      await seed({ acusConsumed });
    }
    await seed({ origin: 'webapp', acusConsumed: 1, pullRequests: [merged, open], playbookId: newId() });
    await seed({ origin: 'automation', acusConsumed: 20, pullRequests: [merged, second, third, closed] });
    await seed({ createdAt: '2026-01-31T23:59:59.999Z' });
    await seed({ createdAt: '2026-05-01T00:00:00.000Z' });
    const sizes = { xs: 2, s: 3, m: 2, l: 2, xl: 3 };
    expect(await both(organizationId, 'sessions', spring)).toEqual({
      sessions_created_count: 12,
      avg_acus_per_session: 13.75,
      sessions_created_by_origin: {
        api: 10,
        jira: 0,
        linear: 0,
        slack: 0,
        teams: 0,
        webapp: 1,
        automation: 1,
        cli: 0,
        other: 0,
      },
      sessions_created_by_size: sizes,
      sessions_created_with_playbook_count: 1,
      sessions_created_with_search_count: 0,
      sessions_with_merged_prs_count: 2,
      sessions_with_merged_prs_by_size: { xs: 0, s: 1, m: 0, l: 0, xl: 1 },
    });
    expect(await both(organizationId, 'prs', spring)).toEqual({
      prs_opened_count: 1,
      prs_closed_count: 1,
      prs_merged_count: 3,
      prs_created_count: 5,
    });
    const usage = { sessions_count: 12, searches_count: 0, prs_created_count: 5, prs_merged_count: 3 };
    expect(await both(organizationId, 'usage', spring)).toEqual(usage);
    const other = `/v3/enterprise/organizations/${organizationId}/metrics/usage?${spring}`;
    expect(await read(other)).toMatchObject({ status: 200, body: usage });
    expect(await both(organizationId, 'searches', spring)).toEqual({ searches_created_count: 0 });
  });

  test('200: no sessions', async () => {
    const organizationId = await makeOrganization(app);
    const none = { xs: 0, s: 0, m: 0, l: 0, xl: 0 };
    expect(await both(organizationId, 'sessions', spring)).toMatchObject({
      sessions_created_count: 0,
      avg_acus_per_session: 0,
      sessions_created_by_size: none,
      sessions_with_merged_prs_by_size: none,
    });
    expect(await both(organizationId, 'prs', spring)).toMatchObject({ prs_created_count: 0, prs_opened_count: 0 });
    expect(await read(`${enterprise}/sessions-by-category?${spring}`)).toMatchObject({
      status: 200,
      body: { categories: [] },
    });
  });

  test('200: filtered by playbook, users and service users; an unknown one matches nothing', async () => {
    const organizationId = await makeOrganization(app);
    const [playbookId, userId, serviceUserId] = [newId(), newId(), newId()];
    const seeded = { organizationId, createdAt: '2026-03-10' };
    await seedSession(app, { ...seeded, playbookId, userId });
    await seedSession(app, { ...seeded, userId });
    await seedSession(app, { ...seeded, serviceUserId });
    await seedSession(app, seeded);
    const counted = async (query: string) =>
      (await both(organizationId, 'sessions', `${spring}&${query}`)).sessions_created_count;
    expect(await counted(`playbook_id=playbook-${playbookId}`)).toBe(1);
    expect(await counted(`user_ids=user-${userId}&user_ids=${newId()}`)).toBe(2);
    expect(await counted(`user_ids=${userId}&service_user_ids=service-user-${serviceUserId}`)).toBe(3);
    for (const query of ['playbook_id=x', 'user_ids=x', `service_user_ids=${newId()}`, `playbook_id=${newId()}`]) {
      expect(await counted(query)).toBe(0);
    }
  });

  test('another enterprise’s and a deleted organization’s sessions do not count', async () => {
    const foreign = await seedForeignUsage(app, '2026-03-10');
    const gone = await makeOrganization(app);
    await seedSession(app, { organizationId: gone, userId: newId(), createdAt: '2026-03-10' });
    const counted = async (query = '') =>
      (await read(`${enterprise}/usage?${spring}${query}`)).body.sessions_count as number;
    const before = await counted();
    expect(await counted(`&org_ids=${gone}`)).toBe(1);
    await call(app, app.adminToken, 'DELETE', `/v3/enterprise/organizations/${gone}`);
    expect(await counted()).toBe(before - 1);
    expect(await counted(`&org_ids=${gone}&org_ids=${foreign.organizationId}&org_ids=x`)).toBe(0);
    expect(await counted(`&user_ids=${foreign.userId}`)).toBe(0);
    for (const id of [foreign.organizationId, gone, newId(), 'x']) {
      const { status, body } = await read(`/v3/enterprise/organizations/${id}/metrics/usage`);
      expect({ status, detail: body.detail }).toEqual({ status: 404, detail: 'There is no such organization.' });
    }
  });
});

describe('permission to read metrics', () => {
  const metrics = ['dau', 'wau', 'mau', 'active-users', 'sessions', 'prs', 'searches', 'usage'];

  test('in an organization: ViewOrgSessions as a member; in the enterprise: ViewAccountMetrics', async () => {
    const [one, two] = [await makeOrganization(app), await makeOrganization(app)];
    const member = await makeServiceUser(app, { organizationId: one, roleId: 'org_member' });
    const unable = await makeServiceUser(app, { roleId: 'account_member' });
    for (const metric of metrics) {
      expect((await read(`${ofOrganization(one)}/${metric}`, member.token)).status).toBe(200);
      for (const id of [two, newId(), 'x']) {
        const { status, body } = await read(`${ofOrganization(id)}/${metric}`, member.token);
        expect({ status, detail: body.detail }).toEqual({
          status: 403,
          detail: 'You do not have access to this organization.',
        });
      }
      for (const { token } of [member, unable]) {
        const { status, body } = await read(`${enterprise}/${metric}`, token);
        expect({ status, detail: body.detail }).toEqual({
          status: 403,
          detail: 'Missing permission ViewAccountMetrics',
        });
      }
    }
    for (const path of [
      `${enterprise}/sessions-by-category`,
      `/v3/enterprise/organizations/${one}/metrics/usage`,
      '/v3/enterprise/queue',
    ]) {
      expect((await read(path, member.token)).status).toBe(403);
    }
  });

  test('404: an organization has no sessions-by-category', async () => {
    expect((await read(`${ofOrganization(app.organizationId)}/sessions-by-category`)).status).toBe(404);
  });
});

describe('GET /v3/enterprise/queue', () => {
  test('200: counts waiting, resuming and claimed sessions; elevated from 10, high from 100', async () => {
    const test = await startApp();
    try {
      const queue = async () => (await call(test, test.adminToken, 'GET', '/v3/enterprise/queue')).body;
      const queued = async (status: string, organizationId = test.organizationId) => {
        const id = await seedSession(test, { organizationId, status });
        const run = 'insert into run (session_id, queued_at) values ($1, now())';
        await test.app.services.store.execute(run, [id]);
      };
      expect(await queue()).toEqual({ queue_size: 0, status: 'normal' });
      const { organizationId: foreign } = await seedForeignUsage(test, '2026-03-10');
      await queued('new', foreign);
      for (const status of ['new', 'claimed', 'resuming']) await queued(status);
      for (const status of ['running', 'exit', 'suspended', 'error']) await queued(status);
      expect(await queue()).toEqual({ queue_size: 3, status: 'normal' });
      for (let n = 0; n < 7; n++) await queued('new');
      expect(await queue()).toEqual({ queue_size: 10, status: 'elevated' });
      for (let n = 0; n < 90; n++) await queued('new');
      expect(await queue()).toEqual({ queue_size: 100, status: 'high' });
    } finally {
      await test.close();
    }
  });

  test('200: includes a new session', async () => {
    const before = (await read('/v3/enterprise/queue')).body.queue_size;
    const organizationId = await makeOrganization(app);
    await call(app, app.adminToken, 'POST', `/v3/organizations/${organizationId}/sessions`, { prompt: 'say hello' });
    expect((await read('/v3/enterprise/queue')).body.queue_size).toBe(before + 1);
  });
});
