import { describe, expect, it } from 'vitest';
import { newId, parseId } from '../../src/domain/ids.ts';
import { graphql } from '../support/app.ts';
import { stopClock } from '../support/clock.ts';
import { makeManager } from '../support/people.ts';
import { createSession, makeOrganization } from '../support/sessions.ts';
import { statementsOf } from '../support/statements.ts';
import { type SeededSession, seedForeignUsage, seedSession } from '../support/usage.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();

const march = 'from: "2026-03-01", to: "2026-03-31"';
const all = `from to
  sessions { count averageAcus byOrigin { origin count } bySize { size count } byOutcome { outcome count } withPlaybookCount withMergedPullRequestCount
    withMergedPullRequestBySize { size count } }
  pullRequests { createdCount openCount closedCount mergedCount } activeUserCount
  activeUsers(unit: MONTH) { startsAt endsAt count }`;

async function ofOrganization(id: string, args: string, selection: string, token = test.adminToken) {
  const query = `query($id: ID!) { organization(id: $id) { metrics(${args}) { ${selection} } } }`;
  const { data, errors } = await graphql(test, token, query, { id });
  return errors ? { error: errors[0].extensions.code, message: errors[0].message } : data.organization.metrics;
}

async function ofEnterprise(args: string, selection: string, token = test.adminToken) {
  const { data, errors } = await graphql(test, token, `{ enterprise { metrics(${args}) { ${selection} } } }`);
  return errors ? { error: errors[0].extensions.code } : data.enterprise.metrics;
}

const [one, two, bot, playbook] = [newId(), newId(), newId(), newId()];
const pull = (state: string) => ({ url: `https://example.com/${state}`, state });
const seeded: Omit<SeededSession, 'organizationId'>[] = [
  { createdAt: '2026-02-28T23:59:59.999Z', userId: one, acusConsumed: 100 },
  { createdAt: '2026-03-01T00:00:00Z', userId: one, acusConsumed: 0.5, playbookId: playbook },
  {
    createdAt: '2026-03-02T10:00:00Z',
    userId: one,
    status: 'error',
    acusConsumed: 1,
    pullRequests: [pull('merged'), pull('open')],
  },
  {
    createdAt: '2026-03-02T11:00:00Z',
    userId: two,
    endedBy: 'terminated',
    acusConsumed: 12,
    pullRequests: [pull('closed')],
  },
  {
    createdAt: '2026-03-31T23:59:59.999Z',
    serviceUserId: bot,
    status: 'suspended',
    acusConsumed: 3.5,
    origin: 'automation',
  },
  { createdAt: '2026-04-01T00:00:00Z', userId: two, acusConsumed: 100 },
];

async function world(): Promise<{ organizationId: string; token: string }> {
  const { organizationId, token } = await makeOrganization(test, 'Measured');
  const bare = parseId('organization', organizationId) as string;
  for (const each of seeded) await seedSession(test, { organizationId: bare, ...each });
  return { organizationId, token };
}

const counts = (name: string, found: Record<string, number>) =>
  Object.entries(found).map(([value, count]) => ({ [name]: value, count }));

const expected = {
  from: '2026-03-01',
  to: '2026-03-31',
  sessions: {
    count: 4,
    averageAcus: 4.25,
    byOrigin: counts('origin', { API: 3, WEBAPP: 0, AUTOMATION: 1, CLI: 0, OTHER: 0 }),
    bySize: counts('size', { XS: 1, S: 1, M: 1, L: 0, XL: 1 }),
    byOutcome: counts('outcome', { OPEN: 1, FINISHED: 1, TERMINATED: 1, EXPIRED: 0, FAILED: 1 }),
    withPlaybookCount: 1,
    withMergedPullRequestCount: 1,
    withMergedPullRequestBySize: counts('size', { XS: 0, S: 1, M: 0, L: 0, XL: 0 }),
  },
  pullRequests: { createdCount: 3, openCount: 1, closedCount: 1, mergedCount: 1 },
  activeUserCount: 2,
  activeUsers: [{ startsAt: '2026-03-01T00:00:00.000Z', endsAt: '2026-04-01T00:00:00.000Z', count: 2 }],
};

describe('metrics', () => {
  it('count the sessions of a period, in an organization and in the enterprise alike', async () => {
    const { organizationId } = await world();
    expect(await ofOrganization(organizationId, march, all)).toEqual(expected);
    expect(await ofEnterprise(`${march}, organizationIds: ["${organizationId}"]`, all)).toEqual(expected);
  });

  it('can be filtered by playbook, users or service users', async () => {
    const { organizationId } = await world();
    const count = async (more: string) =>
      (await ofOrganization(organizationId, `${march}, ${more}`, 'sessions { count }')).sessions.count;
    expect(await count(`playbookId: "playbook-${playbook}"`)).toBe(1);
    expect(await count(`userIds: ["user-${one}"]`)).toBe(2);
    expect(await count(`userIds: ["user-${one}", "user-${two}"]`)).toBe(3);
    expect(await count(`userIds: ["user-${two}"], serviceUserIds: ["service-user-${bot}"]`)).toBe(2);
    expect(await count('userIds: []')).toBe(0);
    expect(await count('userIds: ["nobody"], playbookId: "none"')).toBe(0);
  });

  it('count the active users of each day, week and month, without users with few sessions', async () => {
    const { organizationId } = await world();
    const selection = `days: activeUsers(unit: DAY) { startsAt count } weeks: activeUsers(unit: WEEK) { startsAt endsAt count }
      busy: activeUsers(unit: MONTH, minSessions: 2) { count } busyCount: activeUserCount(minSessions: 2)`;
    const found = await ofOrganization(organizationId, 'from: "2026-03-01", to: "2026-03-10"', selection);
    expect(found.days.map((each: any) => each.count)).toEqual([1, 2, 0, 0, 0, 0, 0, 0, 0, 0]);
    expect(found.days[9].startsAt).toBe('2026-03-10T00:00:00.000Z');
    expect(found.weeks).toEqual([
      { startsAt: '2026-03-01T00:00:00.000Z', endsAt: '2026-03-02T00:00:00.000Z', count: 1 },
      { startsAt: '2026-03-02T00:00:00.000Z', endsAt: '2026-03-09T00:00:00.000Z', count: 2 },
      { startsAt: '2026-03-09T00:00:00.000Z', endsAt: '2026-03-11T00:00:00.000Z', count: 0 },
    ]);
    expect(found).toMatchObject({ busy: [{ count: 1 }], busyCount: 1 });
  });

  it('are zero without sessions, without windows that have not begun', async () => {
    const { organizationId } = await makeOrganization(test, 'Empty');
    const { sessions, ...rest } = await ofOrganization(organizationId, 'from: "2095-01-01", to: "2095-12-31"', all);
    expect(sessions).toMatchObject({ count: 0, averageAcus: null });
    expect(rest).toMatchObject({ activeUserCount: 0, activeUsers: [], pullRequests: { createdCount: 0 } });
  });

  it('refuse an invalid period and an invalid minimum', async () => {
    const { organizationId } = await makeOrganization(test, 'Refused');
    const long = 'from: "2026-01-01", to: "2027-02-05"';
    expect(await ofOrganization(organizationId, long, 'activeUserCount')).toMatchObject({ error: 'INVALID_INPUT' });
    for (const minimum of [0, 1_000_001]) {
      const refused = await ofOrganization(organizationId, march, `activeUserCount(minSessions: ${minimum})`);
      expect(refused).toMatchObject({ error: 'INVALID_INPUT', message: expect.stringContaining('minSessions') });
    }
  });

  it('need VIEW_ORG_SESSIONS, or VIEW_ACCOUNT_METRICS for the enterprise, and include no other organization', async () => {
    const { organizationId, token } = await world();
    expect((await ofOrganization(organizationId, march, 'activeUserCount', token)).activeUserCount).toBe(2);
    const weak = await makeManager(test, 'READ_ACCOUNT_META', 'VIEW_ACCOUNT_CONSUMPTION', 'VIEW_ORG_MEMBERSHIP');
    expect(await ofOrganization(organizationId, march, all, weak.token)).toMatchObject({ error: 'FORBIDDEN' });
    expect(await ofEnterprise(march, all, weak.token)).toEqual({ error: 'FORBIDDEN' });
    const manager = await makeManager(test, 'READ_ACCOUNT_META', 'VIEW_ACCOUNT_METRICS');
    const foreign = await seedForeignUsage(test, '2026-07-05');
    const july = `from: "2026-07-01", to: "2026-07-31"`;
    expect((await ofEnterprise(july, all, manager.token)).sessions.count).toBe(0);
    const named = `${july}, organizationIds: ["${foreign.organizationId}"]`;
    expect((await ofEnterprise(named, all, manager.token)).sessions.count).toBe(0);
  });

  it('are read with the same statements for many organizations as for few', async () => {
    for (let n = 0; n < 4; n++) await world();
    const query = `query($first: Int!) { organizations(first: $first) { nodes { metrics(${march}) { ${all} } } } }`;
    const few = await statementsOf(test, test.adminToken, query, { first: 1 });
    const many = await statementsOf(test, test.adminToken, query, { first: 4 });
    expect(many.data.organizations.nodes.map((node: any) => node.metrics)).toEqual(Array(4).fill(expected));
    expect(many.statements).toHaveLength(few.statements.length);
  });
});

describe('the queue', () => {
  const read = async (token = test.adminToken) => {
    const { data, errors } = await graphql(test, token, '{ enterprise { name queue { size level } } }');
    return errors ? { error: errors[0].extensions.code, name: data.enterprise.name } : data.enterprise.queue;
  };

  it('grows with sessions that wait for a worker', async () => {
    stopClock(test);
    const { size } = await read();
    for (let n = size; n < 10; n++) await createSession(test);
    expect(await read()).toEqual({ size: Math.max(size, 10), level: 'ELEVATED' });
  });

  it('needs VIEW_ACCOUNT_METRICS, and its refusal keeps the rest of the enterprise', async () => {
    const manager = await makeManager(test, 'READ_ACCOUNT_META', 'VIEW_ACCOUNT_METRICS');
    expect(await read(manager.token)).toHaveProperty('size');
    const other = await makeManager(test, 'READ_ACCOUNT_META');
    expect(await read(other.token)).toEqual({ error: 'FORBIDDEN', name: expect.any(String) });
  });
});
