import { describe, expect, test } from 'vitest';
import { newId } from '../../src/domain/ids.ts';
import { seedForeignUsage, seedSession, use } from '../support/usage.ts';
import { useApp } from '../support/use-app.ts';
import { call, makeOrganization, makeServiceKey, makeServiceUser, makeUser, startApp } from './rest-app.ts';

const app = useApp();

const daily = '/v2/enterprise/consumption/daily';
const cycles = '/v2/enterprise/consumption/cycles';
const read = (path: string, token = app.v1Key) => call(app, token, 'GET', path);

describe(`GET ${daily}`, () => {
  test('200: by UTC date, by organization and by user; each adds up to the total', async () => {
    const [one, two, gone] = [await makeOrganization(app), await makeOrganization(app), await makeOrganization(app)];
    const { userId } = await makeUser(app, one);
    const { serviceUserId } = await makeServiceUser(app, { organizationId: two, roleId: 'org_member' });
    const createdAt = '2025-06-01';
    const ofUser = await seedSession(app, { organizationId: one, userId, createdAt });
    const ofRobot = await seedSession(app, { organizationId: two, serviceUserId, createdAt });
    const ofKey = await seedSession(app, { organizationId: two, createdAt });
    const ofGone = await seedSession(app, { organizationId: gone, userId, createdAt });
    await use(app, ofUser, 0.1, '2025-06-09T23:59:59.999Z');
    await use(app, ofUser, 0.2, '2025-06-10T00:00:00.000Z');
    await use(app, ofRobot, 4, '2025-06-10T07:59:59.999Z');
    await use(app, ofKey, 8, '2025-06-11T12:00:00.000Z');
    await use(app, ofGone, 100, '2025-06-10T12:00:00.000Z');
    await seedForeignUsage(app, '2025-06-10T12:00:00.000Z');
    await call(app, app.adminToken, 'DELETE', `/v3/enterprise/organizations/${gone}`);
    const expected = {
      total_acus: 12.3,
      consumption_by_date: { '2025-06-09': 0.1, '2025-06-10': 4.2, '2025-06-11': 8 },
      consumption_by_org_id: { [`org-${one}`]: 0.3, [`org-${two}`]: 12 },
      consumption_by_user: { [`user-${userId}`]: 0.3, [`service-user-${serviceUserId}`]: 4, 'service-key': 8 },
    };
    for (const query of [
      'start_date=2025-06-01&end_date=2025-07-01',
      'start=2025-06-01T00:00:00Z&end=2025-06-30T23:59:59Z',
      'start_date=2025-06-09T23:59:59.999&end_date=2025-06-11T12:00:00.000Z',
      'start_date=2025-06-10T01:59:59.999%2B02:00&end=2025-06-12&start=2020-01-01',
    ]) {
      expect(await read(`${daily}?${query}`)).toMatchObject({ status: 200, body: expected });
    }
    const narrowed = await read(
      `${daily}?start_date=2025-06-10&end_date=2025-06-11&org_ids=org-${two}&org_ids=${gone}`,
    );
    expect(narrowed.body).toEqual({
      total_acus: 4,
      consumption_by_date: { '2025-06-10': 4 },
      consumption_by_org_id: { [`org-${two}`]: 4 },
      consumption_by_user: { [`service-user-${serviceUserId}`]: 4 },
    });
    const none = await read(`${daily}?start=2025-06-01&end=2025-07-01&org_ids=${newId()},x`);
    expect(none.body).toEqual({
      total_acus: 0,
      consumption_by_date: {},
      consumption_by_org_id: {},
      consumption_by_user: {},
    });
  });

  test('200: the default is the current cycle', async () => {
    const session = await seedSession(app, { organizationId: app.organizationId });
    const now = new Date();
    const start = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1);
    const before = (await read(daily)).body.total_acus;
    await use(app, session, 1, new Date(start - 1));
    await use(app, session, 2, new Date(start));
    expect((await read(daily)).body.total_acus).toBe(before + 2);
  });

  test.each([
    ['start_date=yesterday', 'start_date', '"start_date" must be an ISO 8601 time or date, but was "yesterday".'],
    ['end=2025-13-01', 'end', '"end" must be an ISO 8601 time or date, but was "2025-13-01".'],
    ['start=2025-01-01&end=2026-06-01', 'end_date', '"end_date" must be at most 400 days after the period begins.'],
    ['start=2025-01-02&end=2025-01-01', 'end_date', '"end_date" must not be before the period begins.'],
    ['start=1969-01-01', 'start_date', '"start_date" must be a time of the years 1970 to 9999.'],
  ])('422: %s', async (query, name, msg) => {
    const { status, body } = await read(`${daily}?${query}`);
    expect({ status, body }).toMatchObject({ status: 422, body: { detail: [{ loc: ['query', name], msg }] } });
  });
});

describe(`GET ${cycles}`, () => {
  test('200: from the first usage to now, each with its sum, equal to that of its days', async () => {
    const test = await startApp();
    try {
      const at = async (path: string) => (await call(test, test.v1Key, 'GET', path)).body;
      const session = await seedSession(test, { organizationId: test.organizationId, createdAt: '2024-01-01' });
      const now = new Date();
      const month = (back: number) => Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back, 1);
      await use(test, session, 1, new Date(month(13)));
      await use(test, session, 2, new Date(month(12)));
      await use(test, session, 4, new Date(month(11) - 1));
      await use(test, session, 8, new Date(month(0)));
      const found = await at(cycles);
      const time = (ms: number) => new Date(ms).toISOString();
      expect(found.map(({ start }: any) => start)).toEqual(Array.from({ length: 14 }, (_, n) => time(month(13 - n))));
      expect(found.map(({ acus_used }: any) => acus_used)).toEqual([null, 6, ...Array(11).fill(0), 8]);
      expect(found[1]).toEqual({
        start: time(month(12)),
        end: time(month(11) - 1),
        start_date: time(month(12)),
        end_date: time(month(11) - 1),
        acus_used: 6,
      });
      for (const { start, end, acus_used } of found) {
        const { total_acus } = await at(`${daily}?start=${start}&end=${end}`);
        expect(total_acus).toBe(acus_used ?? 1);
      }
    } finally {
      await test.close();
    }
  });
});

test('403 for anybody but an administrator, and for service keys; 401 for a key of version 3', async () => {
  const { v1Key } = await makeUser(app, app.organizationId, 'org_admin');
  for (const path of [daily, cycles]) {
    for (const token of [v1Key, await makeServiceKey(app, app.organizationId)]) {
      expect((await read(path, token)).status).toBe(403);
    }
    expect((await read(path, app.adminToken)).status).toBe(401);
  }
});
