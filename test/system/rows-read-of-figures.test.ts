import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type ChangeSource, resourceKinds, resourceTable } from '../../src/domain/changes/change-source.ts';
import { currentChangePosition, readChanges } from '../../src/domain/changes/read-changes.ts';
import { newId } from '../../src/domain/ids.ts';
import { sessionChanges } from '../../src/domain/sessions/watch-changes.ts';
import { graphql, startApp, type TestApp } from '../support/app.ts';
import { rowsRead } from '../support/rows-read.ts';
import { makeOrganization } from '../support/sessions.ts';

const many = 6_000;
let test: TestApp;
let organizationId: string;
let enterpriseId: string;
const automationId = newId();

// One session per ten minutes over some weeks, each with one entry of the ledger; three old ones belong to one automation.
beforeAll(async () => {
  test = await startApp();
  organizationId = (await makeOrganization(test, 'Large')).organizationId.replace('org-', '');
  const { store } = test.app.services;
  const [organization] = await store.query<{ enterpriseId: string }>(
    'select enterprise_id as "enterpriseId" from organization where id = $1',
    [organizationId],
  );
  enterpriseId = organization?.enterpriseId ?? '';
  await store.execute(
    `insert into session (id, organization_id, title, is_title_derived, status, origin, tags, prompt, user_id, automation_id, created_at, updated_at)
     select md5($1 || n), $1, 'one', false, 'exit', 'api', '{}', 'x', 'user' || n % 50, case when n > ${many - 3} then $2 end, at, at
       from generate_series(1, ${many}) n, lateral (select timestamptz '2026-03-31T23:59Z' - n * interval '10 minutes' as at) t`,
    [organizationId, automationId],
  );
  await store.execute(
    `insert into usage (id, enterprise_id, organization_id, session_id, playbook_id, acus, used_at)
     select md5('usage' || s.id), $2, $1, s.id, nullif(md5('playbook' || s.user_id), md5('playbookuser7')), 1, s.created_at from session s where s.organization_id = $1`,
    [organizationId, enterpriseId],
  );
  await store.execute(
    `insert into automation (id, organization_id, name, is_enabled, run_as, triggers, actions, created_at, updated_at)
     values ($1, $2, 'Sweep', true, 'organization', '[]', '[]', now(), now())`,
    [automationId, organizationId],
  );
  await store.execute(
    `insert into automation_run (id, automation_id, organization_id, delivery_key, trigger, status, session_id, created_at, started_at)
     select md5('run' || s.id), coalesce(s.automation_id, md5('other' || s.user_id)), $1, 'manual:' || s.id, '{"eventType": "manual"}',
            'started', s.id, s.created_at, s.created_at from session s where s.organization_id = $1`,
    [organizationId],
  );
  for (const table of ['session', 'session_change', 'usage', 'organization', 'automation', 'automation_run'])
    await store.execute(`analyze ${table}`);
});
afterAll(() => test.close());

const read = (selection: string) =>
  rowsRead(test, () =>
    graphql(test, test.adminToken, `query($id: ID!) { organization(id: $id) { ${selection} } }`, {
      id: organizationId,
    }),
  );

it('reads only a day of the ledger for every sum of that day', async () => {
  const { answer, read: rows } = await read(
    'consumption(from: "2026-03-30", to: "2026-03-30") { totalAcus days { acus } sessions(first: 5) { nodes { acus } } actors { nodes { acus } } }',
  );
  expect(answer.errors).toBeUndefined();
  const { totalAcus, sessions } = answer.data.organization.consumption;
  expect(totalAcus).toBe(144);
  expect(sessions.nodes).toHaveLength(5);
  // Three aggregations, and a few titles.
  expect(rows.usage).toBeLessThanOrEqual(3 * 144);
  expect(rows.session ?? 0).toBeLessThanOrEqual(10);
});

it('reads no sessions for a day of the ledger by playbook', async () => {
  const selection =
    'consumption(from: "2026-03-30", to: "2026-03-30") { playbooks(first: 100) { nodes { playbookId acus } } }';
  const { answer, read: rows } = await read(selection);
  expect(answer.errors).toBeUndefined();
  const { nodes } = answer.data.organization.consumption.playbooks;
  expect(nodes).toHaveLength(50);
  expect(nodes.at(-1).playbookId).toBeNull();
  expect(nodes.reduce((sum: number, { acus }: { acus: number }) => sum + acus, 0)).toBe(144);
  expect(rows.usage).toBeLessThanOrEqual(144);
  expect(rows.session ?? 0).toBe(0);
});

it('reads only the sessions of a day to count them', async () => {
  const { answer, read: rows } = await read(
    'metrics(from: "2026-03-30", to: "2026-03-30") { sessions { count } activeUserCount activeUsers(unit: DAY) { count } }',
  );
  expect(answer.errors).toBeUndefined();
  expect(answer.data.organization.metrics.sessions.count).toBe(144);
  expect(rows.session).toBeLessThanOrEqual(3 * 144);
});

it('reads only the runs of an automation among all runs', async () => {
  const { answer, read: rows } = await read(
    'automations { nodes { runs(first: 20) { nodes { startedAt session { title } } } } }',
  );
  expect(answer.errors).toBeUndefined();
  expect(answer.data.organization.automations.nodes[0].runs.nodes).toHaveLength(3);
  expect(rows.automation_run).toBeLessThanOrEqual(10);
  expect(rows.session).toBeLessThanOrEqual(10);
});

it('reads only the changed sessions of an organization', async () => {
  const { store } = test.app.services;
  const scope = { enterpriseId, ids: [organizationId] };
  const position = await currentChangePosition(store, sessionChanges, scope);
  const none = await rowsRead(test, () => readChanges(store, sessionChanges, scope, position, 20));
  expect(none.answer.items).toEqual([]);
  expect(none.read.session ?? 0).toBeLessThanOrEqual(1);
  await store.execute(
    `update session set title = 'changed' where id in (select id from session where organization_id = $1 limit 50)`,
    [organizationId],
  );
  const some = await rowsRead(test, () => readChanges(store, sessionChanges, scope, position, 20));
  expect(some.answer.items).toHaveLength(20);
  expect(some.read.session ?? 0).toBeLessThanOrEqual(20);
  // An update without a difference is no change.
  const after = await currentChangePosition(store, sessionChanges, scope);
  await store.execute('update session set title = title where organization_id = $1', [organizationId]);
  expect((await readChanges(store, sessionChanges, scope, after, 20)).items).toEqual([]);
});

it('reads only the changed resources of an organization, even after a long time without a reader', async () => {
  const { store } = test.app.services;
  const scope = { enterpriseId, ids: [organizationId], withEnterprise: true };
  const source: ChangeSource<object> = {
    name: 'resources',
    tables: resourceKinds.map(resourceTable),
    record: { columns: 'r.status', joins: 'left join automation_run r on r.id = c.id' },
    topics: [],
    createdAt: () => new Date(0),
  };
  const insert = (count: number) =>
    store.execute(
      `insert into automation_run (id, automation_id, organization_id, delivery_key, trigger, status, created_at)
       select id, $2, $3, id, '{}', 'started', now() from unnest($1::text[]) id`,
      [Array.from({ length: count }, newId), newId(), organizationId],
    );
  await insert(3_000);
  await store.execute('analyze resource_change', []);
  // Transaction ids are shared by all databases of a server. While an older transaction of another test is open, the rows lie after
  // the position, and rows that were already read are in `seen`.
  const position = await vi.waitUntil(
    async () => {
      const current = await currentChangePosition(store, source, scope);
      return current.seen.size === 0 && current;
    },
    { timeout: 60_000, interval: 50 },
  );
  const none = await rowsRead(test, () => readChanges(store, source, scope, position, 20));
  expect(none.answer.items).toEqual([]);
  // A few rows of the last transactions, which are known as read.
  expect(none.read.resource_change ?? 0).toBeLessThanOrEqual(10);
  await insert(3_000);
  const some = await rowsRead(test, () => readChanges(store, source, scope, position, 20));
  expect(some.answer.items).toHaveLength(20);
  // Also with the largest number of rows that are remembered as read before an open transaction.
  const ahead = await store.query<{ id: string; xid: string }>(
    'select id, changed_xid::text as xid from resource_change order by changed_xid desc, id limit 1000',
    [],
  );
  const seen = new Map(ahead.map(({ id, xid }) => [id, BigInt(xid)]));
  const rest = await rowsRead(test, () => readChanges(store, source, scope, { ...position, seen }, 20));
  expect(rest.read.resource_change ?? 0).toBeLessThanOrEqual(1_100);
  expect(some.read.resource_change ?? 0).toBeLessThanOrEqual(40);
  expect(some.read.automation_run ?? 0).toBeLessThanOrEqual(20);
});
