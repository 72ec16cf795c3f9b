import { describe, expect, it } from 'vitest';
import { parseId } from '../../src/domain/ids.ts';
import { graphql } from '../support/app.ts';
import { makeManager, runMutation } from '../support/people.ts';
import { makeUser } from '../support/principals.ts';
import { makeOrganization } from '../support/sessions.ts';
import { statementsOf } from '../support/statements.ts';
import { seedForeignUsage, seedSession, use } from '../support/usage.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();

const spring = '(from: "2026-03-01", to: "2026-04-30")';
const all = `from to totalAcus days { date acus } cycles { from to acus }
  sessions(first: 50) { nodes { sessionId acus title session { title } actor { ... on User { userId } ... on ServiceUser { serviceUserId } ... on SystemPrincipal { displayName } } } }
  actors(first: 50) { nodes { acus actor { ... on User { userId } ... on ServiceUser { serviceUserId } ... on SystemPrincipal { displayName } } } }
  organizations(first: 50) { nodes { organizationId acus organization { organizationId } } }`;

async function ofOrganization(id: string, args: string, selection: string, token = test.adminToken) {
  const query = `query($id: ID!) { organization(id: $id) { consumption${args} { ${selection} } } }`;
  const { data, errors } = await graphql(test, token, query, { id });
  return errors ? { error: errors[0].extensions.code, message: errors[0].message } : data.organization.consumption;
}

async function ofEnterprise(args: string, selection: string, token = test.adminToken) {
  const { data, errors } = await graphql(test, token, `{ enterprise { consumption${args} { ${selection} } } }`);
  return errors ? { error: errors[0].extensions.code } : data.enterprise.consumption;
}

const switchyard = { displayName: 'Switchyard' };

/** An organization with a user and a service user, and with usage of sessions of both and of neither. */
async function world() {
  const { organizationId, serviceUserId, token } = await makeOrganization(test, 'Used');
  const { userId } = await makeUser(test, { organizationId });
  const bare = parseId('organization', organizationId) as string;
  const seed = (owner: { userId?: string; serviceUserId?: string } = {}) =>
    seedSession(test, { organizationId: bare, createdAt: '2026-03-01', ...owner });
  const ofUser = await seed({ userId: parseId('user', userId) as string });
  const ofBot = await seed({ serviceUserId: parseId('serviceUser', serviceUserId) as string });
  const ofNobody = await seed();
  await use(test, ofUser, 0.1, '2026-02-28T23:59:59.999Z');
  await use(test, ofUser, 0.1, '2026-03-01T00:00:00Z');
  await use(test, ofUser, 0.2, '2026-03-31T23:59:59.999Z');
  await use(test, ofBot, 1, '2026-04-01T00:00:00Z');
  await use(test, ofNobody, 2, '2026-04-30T23:59:59.999Z');
  await use(test, ofNobody, 4, '2026-05-01T00:00:00Z');
  return { organizationId, userId, serviceUserId, token, ofUser, ofBot, ofNobody };
}

describe('the consumption of an organization', () => {
  it('has the known cost of models beside the ACUs, in all of its parts', async () => {
    const { organizationId, token, ofUser } = await world();
    const setCost = 'update usage set cost_usd = $2 where session_id = $1 and used_at = $3';
    await test.app.services.store.execute(setCost, [ofUser, 0.1, '2026-03-01T00:00:00Z']);
    await test.app.services.store.execute(setCost, [ofUser, 0.2, '2026-03-31T23:59:59.999Z']);
    const selection = `totalCostUsd days { date costUsd } sessions(first: 50) { nodes { costUsd } }
      actors(first: 50) { nodes { costUsd } } organizations(first: 50) { nodes { costUsd } }
      playbooks(first: 50) { nodes { costUsd } }`;
    const { totalCostUsd, days, ...parts } = await ofOrganization(organizationId, spring, selection, token);
    expect(totalCostUsd).toBe(0.3);
    expect(days).toEqual([
      { date: '2026-03-01', costUsd: 0.1 },
      { date: '2026-03-31', costUsd: 0.2 },
      { date: '2026-04-01', costUsd: 0 },
      { date: '2026-04-30', costUsd: 0 },
    ]);
    const costs = Object.values(parts as Record<string, { nodes: { costUsd: number }[] }>).map(({ nodes }) =>
      nodes.map(({ costUsd }) => costUsd).filter((cost) => cost > 0),
    );
    expect(costs).toEqual([[0.3], [0.3], [0.3], [0.3]]);
  });

  it('is summed by playbook, including deleted ones, with sessions without a playbook last', async () => {
    const { organizationId, token } = await world();
    const made = await runMutation(
      test,
      'createPlaybook',
      'playbook { id playbookId }',
      { scope: { organizationId }, title: 'Followed', body: 'One step' },
      token,
    );
    const { id, playbookId } = made.playbook;
    const bare = parseId('organization', organizationId) as string;
    const following = { organizationId: bare, playbookId: parseId('playbook', playbookId) as string };
    const session = await seedSession(test, { ...following, createdAt: '2026-03-01' });
    await use(test, session, 0.5, '2026-03-05T00:00:00Z');
    await use(test, session, 0.2, '2026-03-06T00:00:00Z');
    const selection = 'totalAcus playbooks(first: 50) { nodes { playbookId acus playbook { title } } }';
    const expected = {
      totalAcus: 4,
      playbooks: {
        nodes: [
          { playbookId, acus: 0.7, playbook: { title: 'Followed' } },
          { playbookId: null, acus: 3.3, playbook: null },
        ],
      },
    };
    expect(await ofOrganization(organizationId, spring, selection)).toEqual(expected);
    await runMutation(test, 'deletePlaybook', 'deletedPlaybookId', { playbookId: id }, token);
    expect(await ofOrganization(organizationId, spring, selection)).toEqual(expected);
    const first = 'playbooks(first: 1) { nodes { acus } pageInfo { endCursor hasNextPage } }';
    const { playbooks } = await ofOrganization(organizationId, spring, first);
    expect(playbooks).toMatchObject({ nodes: [{ acus: 0.7 }], pageInfo: { hasNextPage: true } });
    const rest = `playbooks(first: 1, after: "${playbooks.pageInfo.endCursor}") { nodes { acus } pageInfo { hasNextPage } }`;
    expect(await ofOrganization(organizationId, spring, rest)).toEqual({
      playbooks: { nodes: [{ acus: 3.3 }], pageInfo: { hasNextPage: false } },
    });
  });

  it('is summed by day, cycle, session, actor and organization, with equal totals', async () => {
    const { organizationId, userId, serviceUserId, ofUser, ofBot, ofNobody } = await world();
    const titleOf = (id: string) => ({ title: `Session ${id}`, session: { title: `Session ${id}` } });
    expect(await ofOrganization(organizationId, spring, all)).toEqual({
      from: '2026-03-01',
      to: '2026-04-30',
      totalAcus: 3.3,
      days: [
        { date: '2026-03-01', acus: 0.1 },
        { date: '2026-03-31', acus: 0.2 },
        { date: '2026-04-01', acus: 1 },
        { date: '2026-04-30', acus: 2 },
      ],
      cycles: [
        { from: '2026-03-01', to: '2026-03-31', acus: 0.3 },
        { from: '2026-04-01', to: '2026-04-30', acus: 3 },
      ],
      sessions: {
        nodes: [
          { sessionId: `devin-${ofNobody}`, acus: 2, actor: switchyard, ...titleOf(ofNobody) },
          { sessionId: `devin-${ofBot}`, acus: 1, actor: { serviceUserId }, ...titleOf(ofBot) },
          { sessionId: `devin-${ofUser}`, acus: 0.3, actor: { userId }, ...titleOf(ofUser) },
        ],
      },
      actors: {
        nodes: [
          { acus: 0.3, actor: { userId } },
          { acus: 1, actor: { serviceUserId } },
          { acus: 2, actor: switchyard },
        ],
      },
      organizations: { nodes: [{ organizationId, acus: 3.3, organization: { organizationId } }] },
    });
  });

  it('equals that of version 3 of REST for the same days', async () => {
    const { organizationId } = await world();
    const unix = (at: string) => Date.parse(at) / 1_000;
    const response = await fetch(
      `${test.url}/v3/organizations/${organizationId}/consumption/daily?time_after=${unix('2026-03-01')}&time_before=${unix('2026-05-01')}`,
      { headers: { authorization: `Bearer ${test.adminToken}` } },
    );
    const { total_acus } = (await response.json()) as { total_acus: number };
    expect((await ofOrganization(organizationId, spring, 'totalAcus')).totalAcus).toBe(total_acus);
  });

  it('can be filtered by a user, service user or session; an unknown one matches nothing', async () => {
    const { organizationId, userId, serviceUserId, ofNobody } = await world();
    const of = async (name: string, id: string) => {
      const only = name === 'sessionId' ? `sessionId: "${id}"` : `principal: {${name}: "${id}"}`;
      const args = `(from: "2026-03-01", to: "2026-04-30", ${only})`;
      return (await ofOrganization(organizationId, args, 'totalAcus')).totalAcus;
    };
    expect(await of('userId', userId)).toBe(0.3);
    expect(await of('serviceUserId', serviceUserId)).toBe(1);
    expect(await of('sessionId', `devin-${ofNobody}`)).toBe(2);
    const foreign = await seedForeignUsage(test, '2026-03-05');
    expect(await of('userId', foreign.userId)).toBe(0);
    expect(await of('sessionId', foreign.sessionId)).toBe(0);
    expect(await of('userId', 'nobody')).toBe(0);
    expect(await of('userId', serviceUserId)).toBe(0);
  });

  it('is paged both ways by cursors of each list', async () => {
    const { organizationId } = await world();
    const read = (field: string, args: string) =>
      ofOrganization(
        organizationId,
        spring,
        `${field}${args} { edges { cursor node { acus } } pageInfo { hasNextPage hasPreviousPage } }`,
      );
    for (const field of ['sessions', 'actors'] as const) {
      const { edges } = (await read(field, ''))[field];
      expect(edges).toHaveLength(3);
      const second = (await read(field, `(first: 1, after: "${edges[0].cursor}")`))[field];
      expect(second).toEqual({ edges: [edges[1]], pageInfo: { hasNextPage: true, hasPreviousPage: true } });
      const back = (await read(field, `(last: 2, before: "${edges[2].cursor}")`))[field];
      expect(back).toEqual({ edges: edges.slice(0, 2), pageInfo: { hasNextPage: true, hasPreviousPage: false } });
      const other = field === 'sessions' ? 'actors' : 'sessions';
      expect(await read(other, `(after: "${edges[0].cursor}")`)).toMatchObject({ error: 'BAD_CURSOR' });
    }
  });

  it('is zero without usage', async () => {
    const { organizationId } = await makeOrganization(test, 'Idle');
    expect(await ofOrganization(organizationId, spring, all)).toEqual({
      from: '2026-03-01',
      to: '2026-04-30',
      totalAcus: 0,
      days: [],
      cycles: [],
      sessions: { nodes: [] },
      actors: { nodes: [] },
      organizations: { nodes: [] },
    });
  });

  it.each([
    ['the end before the beginning', '2026-03-02', '2026-03-01', '"to" must not be before "from"'],
    ['more than 400 days', '2026-01-01', '2027-02-05', 'at most 400 days'],
    ['a day before 1970', '1969-12-31', '1970-01-01', '"from" must be a day of the years 1970'],
    ['a day far away', '9998-12-31', '9999-01-01', '"to" must be a day of the years 1970'],
  ])('refuses %s', async (_what, from, to, message) => {
    const args = `(from: "${from}", to: "${to}")`;
    const refused = await ofOrganization(`org-${test.organizationId}`, args, 'totalAcus');
    expect(refused).toMatchObject({ error: 'INVALID_INPUT', message: expect.stringContaining(message) });
  });

  it('accepts 400 days including both ends, and a single day', async () => {
    const { organizationId } = await world();
    const total = async (from: string, to: string) =>
      (await ofOrganization(organizationId, `(from: "${from}", to: "${to}")`, 'totalAcus')).totalAcus;
    expect(await total('2026-01-01', '2027-02-04')).toBe(7.4);
    expect(await total('2026-03-31', '2026-03-31')).toBe(0.2);
  });

  it.each(['2026-3-1', '2026-02-30', '2026-03-01T00:00:00Z', ''])('refuses an invalid day: %s', async (day) => {
    const { errors } = await graphql(
      test,
      test.adminToken,
      'query($id: ID!, $day: Date!) { organization(id: $id) { consumption(from: $day, to: $day) { totalAcus } } }',
      { id: test.organizationId, day },
    );
    expect(errors?.[0]?.message).toContain('$day');
  });
});

describe('the consumption of the enterprise', () => {
  it('is that of its organizations, or of some of them', async () => {
    const [one, other] = [await world(), await world()];
    await seedForeignUsage(test, '2026-03-05');
    const only = `(from: "2026-03-01", to: "2026-04-30", organizationIds: ["${one.organizationId}", "${other.organizationId}"])`;
    const { totalAcus, organizations } = await ofEnterprise(only, all);
    expect(totalAcus).toBe(6.6);
    expect(organizations.nodes.map((node: any) => [node.organizationId, node.acus])).toEqual([
      [other.organizationId, 3.3],
      [one.organizationId, 3.3],
    ]);
    const whole = await ofEnterprise(spring, all);
    const sum = (nodes: any[]) => nodes.reduce((total, { acus }) => total + Math.round(acus * 10), 0) / 10;
    for (const part of [whole.days, whole.cycles, whole.sessions.nodes, whole.actors.nodes, whole.organizations.nodes])
      expect(sum(part)).toBe(whole.totalAcus);
    expect(whole.totalAcus).toBeLessThan(1_000);
    const ofUser = `(from: "2026-03-01", to: "2026-04-30", principal: {userId: "${one.userId}"})`;
    expect((await ofEnterprise(ofUser, 'totalAcus')).totalAcus).toBe(0.3);
  });

  it('omits a deleted organization', async () => {
    const { organizationId } = await world();
    const only = `(from: "2026-03-01", to: "2026-04-30", organizationIds: ["${organizationId}"])`;
    expect((await ofEnterprise(only, 'totalAcus')).totalAcus).toBe(3.3);
    const remove =
      'mutation($id: ID!) { deleteOrganization(input: { organizationId: $id }) { deletedOrganizationId } }';
    await graphql(test, test.adminToken, remove, { id: organizationId });
    expect((await ofEnterprise(only, all)).totalAcus).toBe(0);
  });
});

describe('permission to read consumption', () => {
  it('is to view sessions in an organization, and VIEW_ACCOUNT_CONSUMPTION for the enterprise', async () => {
    const { organizationId, token } = await world();
    expect((await ofOrganization(organizationId, spring, 'totalAcus', token)).totalAcus).toBe(3.3);
    const manager = await makeManager(test, 'READ_ACCOUNT_META', 'VIEW_ACCOUNT_CONSUMPTION');
    // It may read the figures of sessions that it may not see.
    const { sessions } = await ofEnterprise(spring, all, manager.token);
    expect(sessions.nodes[0]).toMatchObject({ session: null, title: expect.stringContaining('Session') });
    const other = await makeManager(test, 'READ_ACCOUNT_META', 'VIEW_ACCOUNT_METRICS');
    expect(await ofEnterprise(spring, 'totalAcus', other.token)).toEqual({ error: 'FORBIDDEN' });
    const bot = await makeManager(test, 'READ_ACCOUNT_META', 'VIEW_ORG_MEMBERSHIP');
    expect(await ofOrganization(organizationId, spring, 'totalAcus', bot.token)).toMatchObject({ error: 'FORBIDDEN' });
  });
});

it('reads the consumption of many organizations with the same statements as that of few', async () => {
  for (let n = 0; n < 4; n++) await world();
  const query = `query($first: Int!) { organizations(first: $first) { nodes { consumption${spring} { ${all} } } } }`;
  const few = await statementsOf(test, test.adminToken, query, { first: 1 });
  const many = await statementsOf(test, test.adminToken, query, { first: 4 });
  expect(many.data.organizations.nodes.map((node: any) => node.consumption.totalAcus)).toEqual([3.3, 3.3, 3.3, 3.3]);
  expect(many.data.organizations.nodes[3].consumption.sessions.nodes).toHaveLength(3);
  expect(many.statements).toHaveLength(few.statements.length);
  expect(new Set(many.statements)).toEqual(new Set(few.statements));
});
