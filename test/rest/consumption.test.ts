import { describe, expect, test } from 'vitest';
import { newId } from '../../src/domain/ids.ts';
import { seedForeignUsage, seedSession, use } from '../support/usage.ts';
import { useApp } from '../support/use-app.ts';
import { call, makeOrganization, makeServiceKey, makeServiceUser, makeUser, startApp } from './rest-app.ts';

const app = useApp();

const unix = (at: string) => Date.parse(at) / 1_000;
const read = (path: string, token = app.adminToken) => call(app, token, 'GET', path);
const daily = '/v3/enterprise/consumption/daily';
const bounds = (after: string, before: string) => `time_after=${unix(after)}&time_before=${unix(before)}`;
const day = (date: string, acus: number) => ({
  date: unix(`${date}T08:00:00Z`),
  acus,
  acus_by_product: { devin: acus, cascade: 0, terminal: 0, review: 0 },
});

describe('GET /v3/organizations/{org_id}/consumption/daily', () => {
  const ofOrganization = (id: string) => `/v3/organizations/${id}/consumption/daily`;

  test('200: days begin at 08:00 UTC, even during daylight saving time in California', async () => {
    const organizationId = await makeOrganization(app);
    const session = await seedSession(app, { organizationId, createdAt: '2026-03-01' });
    await use(app, session, 1, '2026-03-08T07:59:59.999Z');
    await use(app, session, 2, '2026-03-08T08:00:00.000Z');
    await use(app, session, 4, '2026-03-09T07:59:59.999Z');
    await use(app, session, 8, '2026-03-09T08:00:00.000Z');
    const { status, body } = await read(`${ofOrganization(organizationId)}?${bounds('2026-03-01', '2026-04-01')}`);
    expect({ status, body }).toEqual({
      status: 200,
      body: { total_acus: 15, consumption_by_date: [day('2026-03-07', 1), day('2026-03-08', 6), day('2026-03-09', 8)] },
    });
  });

  test('200: time_after is included and time_before is not; a partial day has a partial sum', async () => {
    const organizationId = await makeOrganization(app);
    const session = await seedSession(app, { organizationId, createdAt: '2026-03-01' });
    for (const [acus, at] of [
      [1, '09:59:59.999'],
      [2, '10:00:00.000'],
      [4, '10:59:59.999'],
      [8, '11:00:00.000'],
    ] as const) {
      await use(app, session, acus, `2026-03-10T${at}Z`);
    }
    const between = bounds('2026-03-10T10:00:00Z', '2026-03-10T11:00:00Z');
    const { body } = await read(`${ofOrganization(organizationId)}?${between}`);
    expect(body).toEqual({ total_acus: 6, consumption_by_date: [day('2026-03-10', 6)] });
    const empty = bounds('2026-03-10T10:00:00Z', '2026-03-10T10:00:00Z');
    const nothing = await read(`${ofOrganization(organizationId)}?${empty}`);
    expect(nothing).toMatchObject({ status: 200, body: { total_acus: 0, consumption_by_date: [] } });
  });

  test('200: the default is the current cycle, a calendar month in UTC', async () => {
    const organizationId = await makeOrganization(app);
    const session = await seedSession(app, { organizationId });
    const now = new Date();
    const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
    await use(app, session, 1, new Date(Date.UTC(year, month, 1) - 1));
    await use(app, session, 2, new Date(Date.UTC(year, month, 1)));
    await use(app, session, 4, new Date(Date.UTC(year, month + 1, 1) - 1));
    await use(app, session, 8, new Date(Date.UTC(year, month + 1, 1)));
    expect((await read(ofOrganization(organizationId))).body.total_acus).toBe(6);
    const cycle = (await read('/v3/enterprise/consumption/cycles?first=1')).body.items[0];
    const query = `?time_after=${cycle.after}&time_before=${cycle.before}`;
    expect((await read(ofOrganization(organizationId) + query)).body.total_acus).toBe(6);
    const before = `?time_before=${Date.UTC(year, month, 1) / 1_000}`;
    expect((await read(ofOrganization(organizationId) + before)).body.total_acus).toBe(1);
  });

  test('200: sums are exact to a millionth of an ACU', async () => {
    const organizationId = await makeOrganization(app);
    const session = await seedSession(app, { organizationId, createdAt: '2026-03-01' });
    let consumed = 0;
    for (let n = 0; n < 10; n++) consumed = await use(app, session, 0.1 + 0.000_000_1, `2026-03-${10 + n}T12:00:00Z`);
    const { body } = await read(`${ofOrganization(organizationId)}?${bounds('2026-03-01', '2026-04-01')}`);
    expect({ consumed, total: body.total_acus }).toEqual({ consumed: 1, total: 1 });
    const { body: shown } = await read(`/v3/organizations/${organizationId}/sessions/${session}`);
    expect(shown).toMatchObject({ acus_consumed: 1 });
  });
});

describe('sums over different dimensions are equal', () => {
  test('days = cycles = sessions = users and service users = organizations, for random usage', async () => {
    const test = await startApp();
    try {
      const at = (path: string) => call(test, test.adminToken, 'GET', path);
      const random = mulberry(20_261_121);
      const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
      const organizations = [test.organizationId, await makeOrganization(test), await makeOrganization(test)];
      const users = await Promise.all(organizations.map((id) => makeUser(test, id)));
      const robots = await Promise.all(
        organizations.map((organizationId) => makeServiceUser(test, { organizationId, roleId: 'org_member' })),
      );
      const sessions: { id: string; sum: number }[] = [];
      for (let n = 0; n < 30; n++) {
        const index = Math.floor(random() * organizations.length);
        const userId = pick([users[index]?.userId, null]) ?? null;
        const serviceUserId = userId === null ? (robots[index]?.serviceUserId ?? null) : null;
        const organizationId = organizations[index] as string;
        const id = await seedSession(test, { organizationId, userId, serviceUserId, createdAt: '2026-01-01' });
        sessions.push({ id, sum: 0 });
      }
      const [start, end] = [Date.UTC(2026, 0, 1), Date.UTC(2026, 3, 1)];
      let expected = 0;
      for (let n = 0; n < 400; n++) {
        const session = pick(sessions);
        const millionths = 1 + Math.floor(random() * 3_000_000);
        await use(test, session.id, millionths / 1_000_000, new Date(start + Math.floor(random() * (end - start))));
        session.sum += millionths;
        expected += millionths;
      }
      const query = `?time_after=${start / 1_000}&time_before=${end / 1_000}`;
      const total = async (path: string) => Math.round((await at(path + query)).body.total_acus * 1_000_000);
      const sum = async (paths: readonly string[]) =>
        (await Promise.all(paths.map(total))).reduce((all, one) => all + one, 0);

      const whole = (await at(daily + query)).body;
      expect(Math.round(whole.total_acus * 1_000_000)).toBe(expected);
      const byDate = whole.consumption_by_date.reduce((all: number, one: any) => all + Math.round(one.acus * 1e6), 0);
      expect(byDate).toBe(expected);
      expect(await sum(organizations.map((id) => `${daily}/organizations/${id}`))).toBe(expected);
      expect(await sum(organizations.map((id) => `/v3/organizations/${id}/consumption/daily`))).toBe(expected);
      expect(
        await sum([
          ...users.map(({ userId }) => `${daily}/users/${userId}`),
          ...robots.map(({ serviceUserId }) => `${daily}/service-users/${serviceUserId}`),
        ]),
      ).toBe(expected);
      for (const { id, sum: own } of sessions) expect(await total(`${daily}/sessions/devin-${id}`)).toBe(own);

      let cycles = 0;
      const listed = (await at('/v3/enterprise/consumption/cycles?first=200')).body.items;
      for (const { after, before } of listed) {
        const { body } = await at(`${daily}?time_after=${after}&time_before=${before}`);
        cycles += Math.round(body.total_acus * 1e6);
      }
      expect(cycles).toBe(expected);

      const v1 = '/v1/enterprise/consumption?start_date=2026-01-01&end_date=2026-03-31';
      const { body } = await call(test, test.v1Key, 'GET', v1);
      expect(body.sessions.reduce((all: number, one: any) => all + Math.round(one.acu_used * 1e6), 0)).toBe(expected);
      expect(body.sessions.length).toBe(sessions.filter((session) => session.sum > 0).length);
    } finally {
      await test.close();
    }
  });
});

/** Random numbers that are the same in every run. */
function mulberry(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

describe('permission to read consumption', () => {
  test('404 for an unknown, another enterprise’s and a deleted organization’s, with the same message', async () => {
    const foreign = await seedForeignUsage(app, '2026-03-10T12:00:00Z');
    const gone = await makeOrganization(app);
    const { userId: goneUser } = await makeUser(app, gone);
    const goneSession = await seedSession(app, { organizationId: gone, userId: goneUser, createdAt: '2026-03-01' });
    await use(app, goneSession, 1, '2026-03-10T12:00:00Z');
    await call(app, app.adminToken, 'DELETE', `/v3/enterprise/organizations/${gone}`);
    for (const [kind, ids, what] of [
      ['organizations', [foreign.organizationId, gone], 'organization'],
      ['users', [foreign.userId], 'user'],
      ['service-users', [foreign.serviceUserId], 'service user'],
      ['sessions', [foreign.sessionId, goneSession], 'session'],
    ] as const) {
      for (const id of [...ids, newId(), 'x', `devin-${'0'.repeat(31)}`]) {
        const { status, body } = await read(`${daily}/${kind}/${id}?${bounds('2026-03-01', '2026-04-01')}`);
        expect({ status, detail: body.detail }).toEqual({ status: 404, detail: `There is no such ${what}.` });
      }
    }
  });

  test('404 for objects of another organization; former members keep their earlier usage', async () => {
    const [one, two] = [await makeOrganization(app), await makeOrganization(app)];
    const [user, other] = [await makeUser(app, one), await makeUser(app, two)];
    const robot = await makeServiceUser(app, { organizationId: two, roleId: 'org_member' });
    const session = await seedSession(app, { organizationId: one, userId: user.userId, createdAt: '2026-03-01' });
    const theirs = await seedSession(app, { organizationId: two, userId: other.userId, createdAt: '2026-03-01' });
    await use(app, session, 3, '2026-03-10T12:00:00Z');
    await use(app, theirs, 5, '2026-03-10T12:00:00Z');
    const at = (suffix: string) =>
      read(`/v3/organizations/${one}/consumption/daily${suffix}?${bounds('2026-03-01', '2026-04-01')}`, user.v3Token);
    for (const suffix of [
      `/users/${other.userId}`,
      `/service-users/${robot.serviceUserId}`,
      `/sessions/${theirs}`,
      `/sessions/${newId()}`,
    ]) {
      expect((await at(suffix)).status).toBe(404);
    }
    expect((await at('')).body.total_acus).toBe(3);
    expect((await at(`/sessions/${session}`)).body.total_acus).toBe(3);
    expect((await at(`/users/user-${user.userId}`)).body.total_acus).toBe(3);
    await app.app.services.store.execute('delete from role_assignment where user_id = $1', [user.userId]);
    const left = `/v3/organizations/${one}/consumption/daily/users/${user.userId}?${bounds('2026-03-01', '2026-04-01')}`;
    expect((await read(left)).body.total_acus).toBe(3);
  });

  test('403 names ViewAccountConsumption, or ViewOrgSessions; another organization’s permission does not help', async () => {
    const [one, two] = [await makeOrganization(app), await makeOrganization(app)];
    const { v3Token, v1Key, userId } = await makeUser(app, one, 'org_admin');
    const missing = { status: 403, body: { detail: 'Missing permission ViewAccountConsumption' } };
    for (const path of [
      daily,
      `${daily}/organizations/${one}`,
      `${daily}/users/${userId}`,
      `${daily}/sessions/${newId()}`,
      '/v3/enterprise/consumption/cycles',
    ]) {
      expect(await read(path, v3Token)).toMatchObject(missing);
    }
    const refusals = await Promise.all(
      [two, newId(), 'x'].map((id) => read(`/v3/organizations/${id}/consumption/daily`, v3Token)),
    );
    for (const { status, body } of refusals) {
      expect({ status, detail: body.detail }).toEqual({
        status: 403,
        detail: 'You do not have access to this organization.',
      });
    }
    const v1 = '/v1/enterprise/consumption?start_date=2026-03-01&end_date=2026-03-31';
    for (const token of [v1Key, await makeServiceKey(app, one)]) expect((await read(v1, token)).status).toBe(403);
    expect((await read(v1, app.adminToken)).status).toBe(401);
  });

  test.each([
    [
      'time_after=1&time_before=34560002',
      'time_before',
      '"time_before" must be at most 400 days after the period begins.',
    ],
    ['time_after=2&time_before=1', 'time_before', '"time_before" must not be before the period begins.'],
    ['time_after=-1', 'time_after', '"time_after" must be a time of the years 1970 to 9999.'],
    ['time_after=1', 'time_before', '"time_before" must be at most 400 days after the period begins.'],
    ['time_before=today', 'time_before', '"time_before" must be an integer, but was "today".'],
  ])('422: %s', async (query, name, msg) => {
    for (const path of [daily, `/v3/organizations/${app.organizationId}/consumption/daily`]) {
      const { status, body } = await read(`${path}?${query}`);
      expect({ status, detail: body.detail }).toMatchObject({ status: 422, detail: [{ loc: ['query', name], msg }] });
    }
    expect((await read(`${daily}?time_after=1&time_before=34560001`)).status).toBe(200);
  });
});

describe('GET /v3/enterprise/consumption/cycles', () => {
  test('200: months, newest first, back to the first usage, in pages', async () => {
    const test = await startApp();
    try {
      const session = await seedSession(test, { organizationId: test.organizationId, createdAt: '2024-01-01' });
      const now = new Date();
      const months = Array.from(
        { length: 15 },
        (_, n) => Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - n, 1) / 1_000,
      );
      await use(test, session, 1, new Date((months.at(-1) as number) * 1_000 + 5));
      const found: any[] = [];
      for (let after = ''; ; ) {
        const path = `/v3/enterprise/consumption/cycles?first=4${after && `&after=${after}`}`;
        const { body } = await call(test, test.adminToken, 'GET', path);
        found.push(...body.items);
        if (!body.has_next_page) break;
        after = body.end_cursor;
      }
      expect(found.map(({ after }) => after)).toEqual(months);
      for (const [n, { before }] of found.entries()) if (n > 0) expect(before).toBe(found[n - 1].after);
    } finally {
      await test.close();
    }
  });

  test('422: an invalid cursor', async () => {
    const { status, body } = await read('/v3/enterprise/consumption/cycles?after=x');
    expect({ status, type: body.errors[0].type }).toEqual({ status: 422, type: 'bad_cursor' });
  });
});

describe.each(['/v1/enterprise/consumption', '/enterprise/consumption'])('GET %s', (path) => {
  test('200: sessions with their usage in the requested days, the last one included, and the cycle', async () => {
    const organizationId = await makeOrganization(app, 'Consumers');
    const { userId, email } = await makeUser(app, organizationId);
    const { serviceUserId } = await makeServiceUser(app, { organizationId, roleId: 'org_member' });
    const pullRequests = [{ url: 'https://example.com/pull/1', state: 'merged' }];
    const seeded = { organizationId, createdAt: '2025-05-01T10:00:00Z' };
    const first = await seedSession(app, { ...seeded, userId, pullRequests });
    const second = await seedSession(app, { ...seeded, serviceUserId });
    const unasked = await seedSession(app, { ...seeded, userId });
    await use(app, first, 1, '2025-05-09T23:59:59.999Z');
    await use(app, first, 2.5, '2025-05-10T00:00:00Z');
    await use(app, first, 4, '2025-05-12T23:59:59.999Z');
    await use(app, second, 8, '2025-05-11T12:00:00Z');
    await use(app, unasked, 16, '2025-05-13T00:00:00Z');
    const { status, body } = await read(`${path}?start_date=2025-05-10&end_date=2025-05-12`, app.v1Key);
    const own = body.sessions.filter((one: any) => one.org_id === `org-${organizationId}`);
    expect({ status, sessions: own.slice(0, 2), cycle: body.cycle, count: own.length % 2 }).toEqual({
      status: 200,
      count: 0,
      cycle: { start: '2025-05-01', end: '2025-05-31' },
      sessions: [
        {
          user_name: 'Robot',
          user_email: `service-user-${serviceUserId}@no-address.invalid`,
          session_name: `Session ${second}`,
          created_at: '2025-05-01T10:00:00.000Z',
          acu_used: 8,
          url: `${app.url}/sessions/${second}`,
          org_id: `org-${organizationId}`,
          org_name: 'Consumers',
          pull_requests: [],
        },
        expect.objectContaining({
          user_email: email,
          acu_used: 6.5,
          pull_requests: [{ pr_url: 'https://example.com/pull/1', pr_status: 'merged' }],
        }),
      ],
    });
  });

  test('200: no usage', async () => {
    const { status, body } = await read(`${path}?start_date=2024-02-28&end_date=2024-02-29`, app.v1Key);
    expect({ status, body }).toEqual({
      status: 200,
      body: { sessions: [], cycle: { start: '2024-02-01', end: '2024-02-29' } },
    });
  });

  test('400 with the generic message for invalid or missing dates', async () => {
    const detail = 'Invalid date format. Dates must be in ISO format (YYYY-MM-DD)';
    for (const query of [
      '',
      '?start_date=2026-01-01',
      '?end_date=2026-01-01',
      '?start_date=&end_date=',
      '?start_date=2026-02-29&end_date=2026-03-01',
      '?start_date=2026-1-1&end_date=2026-03-01',
      '?start_date=2026-01-01T00:00:00Z&end_date=2026-03-01',
      '?start_date=2026-01-01&end_date=tomorrow',
      '?start_date=0001-01-01&end_date=9999-12-31',
    ]) {
      const { status, body } = await read(path + query, app.v1Key);
      expect({ query, status, startsWithDetail: body.detail.startsWith(detail) }).toEqual({
        query,
        status: 400,
        startsWithDetail: true,
      });
    }
    for (const [query, detail] of [
      ['?start_date=2026-01-02&end_date=2026-01-01', '"end_date" must not be before "start_date".'],
      ['?start_date=2025-01-01&end_date=2026-02-05', '"end_date" must be less than 400 days after "start_date".'],
    ] as const) {
      expect(await read(path + query, app.v1Key)).toMatchObject({ status: 400, body: { detail: detail } });
    }
    expect((await read(`${path}?start_date=2025-01-01&end_date=2026-02-04`, app.v1Key)).status).toBe(200);
  });
});
