import { access } from 'node:fs/promises';
import { resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { tables } from '../../src/store/generated/tables.ts';
import {
  fieldsOf,
  insertStatement,
  type Model,
  selectFields,
  tableOf,
  updateStatement,
} from '../../src/store/tables.ts';
import { readSqlTexts } from '../support/sql-texts.ts';
import { openTestStore, type TestStore } from '../support/test-store.ts';

let test: TestStore;
beforeAll(async () => {
  test = await openTestStore();
});
afterAll(() => test.close());

/** The error with which PostgreSQL parses and analyzes a statement; null: none. */
const problemOf = (sql: string): Promise<string | null> =>
  test.store
    .transact(async (tx) => {
      await tx.query(`prepare one as ${sql}`);
      await tx.query('deallocate one');
    })
    .then(
      () => null,
      (error: Error) => error.message,
    );

/** Parts of composed statements: conditions, orders and limits of lists, and the arguments of builders. */
const representatives = {
  all: {
    "where.join(' and ')": 'true',
    'list.order': '',
    'list.limit': '1',
    'page.order': '',
    'page.limit': '1',
    'bind(window.limit + 1)': '1',
    'visibleKeys(context, bind)': 'true',
  },
  'domain/environment-builds/want-reads.ts': {
    "isInUse('$4::timestamptz')": 'b.used_at > $4::timestamptz',
    "isInUse('$2::timestamptz')": 'b.used_at > $2::timestamptz',
  },
  'domain/execution/metering/limits.ts': { amount: 'u.input_tokens + u.output_tokens', column: 'organization_id' },
  'domain/execution/metering/ledger-entry.ts': {
    "added.join(', ')": 'active_ms = u.active_ms + excluded.active_ms',
    more: '',
    addKeyUsage: '',
  },
  'domain/execution/provider-keys/reservation-statements.ts': { addKeyUsage: '', expiry: 'now()' },
  'domain/execution/runs/queue-reasons.ts': {
    'condition': 's.id = $1',
    'reasonOf(`o.enterprise_id = $1 and ${waitsForWorker}`)':
      'select $1::text as id, o.id as o, o.id as p, 1 as "userRoom", 1 as "organizationRoom" from organization o where ($2::int, $3::int, $4::int) = (1, 1, 1)',
  },
  'domain/feeds/feeds.ts': {
    'feedTable': 'webhook_feed',
    'isWanted': 'true',
    'consumer.feedTable': 'webhook_feed',
    'consumer.isWanted': 'true',
    'changedXid': `'1'::xid8`,
  },
  'domain/feeds/forget-feeds.ts': { table: 'webhook_progress', key: 'session_id' },
  'domain/feeds/read-feed.ts': { progressTable: 'webhook_progress' },
  'domain/find-by-ids.ts': { columns: 'x.id', table: 'secret', row: 'x' },
  'domain/sessions/options/observations.ts': { 'onConflict': 'do nothing', 'maxVersions - 1': '4' },
  'domain/identity/keys/list-api-keys.ts': { order: 'k.created_at, k.id' },
  'domain/identity/organizations/scoped-rows.ts': {
    "selectFields(model, 'r', fieldsOf(model))": 'r.id',
    'tableOf(model)': 'playbook',
    'where': 'r.id = $1',
  },
  'domain/identity/idp-groups/idp-groups.ts': { lock: '' },
  'domain/identity/provisioning/list-provisioned-groups.ts': { lock: '' },
  'domain/identity/provisioning/list-resources.ts': { columns: 'g.id', from: 'idp_group g where true', order: '' },
  'domain/identity/people/enterprise-members.ts': {
    of: `select organization_id as "organizationId", id as "organizationName", role_id as "roleId", id as "roleName", created_at, id
           from role_assignment where user_id = $1`,
  },
  'domain/identity/people/find-people.ts': {
    "userIsVisible(['$2', '$3', '$4', '$5', '$6', '$7'])":
      '$2 = $2 and $3 = $3 and $4 = $4 and $5 = $5 and $6 = $6 and $7 = $7',
    'userIsVisible(visibility)': 'true',
  },
  'domain/identity/people/list-roles.ts': {
    "of('r.enterprise_id = $1')": '(select r.* from role r where r.enterprise_id = $1)',
    "of('r.enterprise_id is null')": '(select r.* from role r where r.enterprise_id is null)',
    'order': '',
    'limit': '1',
  },
  'domain/identity/people/roles.ts': { "tx ? lock : ''": 'for share' },
  'domain/library/knowledge/folder-paths.ts': { enterprise: '$1', organization: '$2', path: `'{}'::text[]` },
  'domain/library/knowledge/folders.ts': {
    "isInScope('n')": 'n.enterprise_id = $1 and n.organization_id = $2',
    "isInScope('f')": 'f.enterprise_id = $1',
    'maxFolders + 1': '1',
  },
  'domain/installation/agent-programs/change-programs.ts': { 'applies[act]': 'can_install' },
  'domain/library/provider-keys/provider-keys.ts': { condition: 'true' },
  'domain/legal-holds/change-legal-holds.ts': { lock: 'for update' },
  'domain/library/macros.ts': { 'tables[kind]': 'playbook m where' },
  'domain/library/secrets/reseal-secrets.ts': { column: 'sealed', table: 'provider_key' },
  'domain/sessions/idle-sessions.ts': { condition: 's.updated_at < $1::timestamptz' },
  'store/inspect-database.ts': { name: 'secret', countLimit: '1' },
  'domain/usage/consumption/consumption.ts': { table: 'user_account', isInScope: '', column: 'user_id' },
  'domain/installation/bootstrap.ts': { change: 'coalesce(maintenance_since, $1::timestamptz)' },
  'domain/sessions/saved-views.ts': { columns: 'v.name' },
  'domain/sessions/session-conditions.ts': { user: '$1' },
  'domain/sessions/read-logs.ts': { entries: 'null::json' },
  'domain/sessions/read-sessions.ts': { sql: 'select s.id from session s' },
  'domain/usage/consumption/session-consumption.ts': {
    "where.join(' and ')": 'u.enterprise_id = $1 and u.used_at >= $2::timestamptz and u.used_at < $3::timestamptz',
    'direction': 'asc',
  },
  'domain/usage/legacy-calls/list-legacy-calls.ts': { where: 'true', order: '1' },
  'domain/usage/metrics/active-users.ts': {
    from: 'session s where true',
    min: '$1',
    part: '$2',
    startsAt: '$3',
    endsAt: '$4',
    until: '$5',
  },
  'domain/usage/metrics/metrics-by-scope.ts': { from: 'session s' },
  'domain/usage/metrics/session-metrics.ts': { from: 'session s' },
} as const;

/** Statements that a call composes as a whole, by their number in each file, and the test that sends them. */
const sentByOtherTests: Readonly<Record<string, readonly [count: number, test: string]>> = {
  // The tables and columns of the catalogue.
  'backup/restore-database.ts': [1, 'system/backups.test.ts'],
  'backup/table-rows.ts': [2, 'system/backups.test.ts'],
  'domain/audit/audit-log.ts': [1, 'graphql/audit-log.test.ts'],
  // One part for each table with sessions.
  'domain/retention/delete-sessions.ts': [1, 'system/retention.test.ts'],
  // The scope of an export.
  'domain/audit/export/export-audit-log.ts': [1, 'rest/audit-export.test.ts'],
  // The statements of watchers: one part for each kind of resource.
  'domain/changes/read-changes.ts': [2, 'graphql/resource-changes.test.ts'],
  // The conditions of a list of permissions or of usable repositories.
  'domain/git-connections/git-connections.ts': [1, 'rest/v3-git-providers.test.ts'],
  'domain/git-connections/git-permissions.ts': [1, 'rest/v3-git-providers.test.ts'],
  'domain/library/repositories/repositories.ts': [1, 'tenancy/graphql-fields.test.ts'],
  'domain/sessions/checkpoints/checkpoints.ts': [1, 'graphql/rewind-session.test.ts'],
  // Pages across a paging snapshot: their parts are chosen by the offset.
  'domain/sessions/list-sessions-by-offset.ts': [4, 'rest/v1-sessions-list.test.ts'],
  // One part for each organization of the page.
  'domain/sessions/sessions-across.ts': [2, 'graphql/sessions-across.test.ts'],
  // Derived for each model: the next test.
  'store/tables.ts': [1, 'store/statements.test.ts'],
};

// Verifies the tables, columns, parameters and types of each statement. The tests of lists with filters cover the conditions.
it('has only statements in its source that fit the schema', async () => {
  // An INSERT without rows is the beginning of a composed statement.
  const isBeginning = (sql: string) => /^\s*insert into \w+ \([^)]*\)\s*$/.test(sql);
  const texts = (await readSqlTexts(representatives)).filter(({ sql }) => sql === null || !isBeginning(sql));
  const unprepared: Record<string, number> = {};
  const problems: Record<string, string> = {};
  for (const { at, sql } of texts) {
    const file = at.replace(/:\d+$/, '');
    if (sql === null) {
      unprepared[file] = (unprepared[file] ?? 0) + 1;
      continue;
    }
    const problem = await problemOf(sql);
    if (problem !== null) problems[at] = `${problem}: ${sql}`;
  }
  expect(problems).toEqual({});
  const allowed = Object.entries(sentByOtherTests).map(([file, [count]]) => [file, count]);
  expect(unprepared, 'Add representatives of the parts of these statements.').toEqual(Object.fromEntries(allowed));
  for (const [, test] of Object.values(sentByOtherTests)) await access(resolve(import.meta.dirname, '..', test));
});

it('derives statements of each model that fit the schema', async () => {
  const problems: Record<string, string> = {};
  for (const model of Object.keys(tables) as Model[]) {
    const fields = fieldsOf(model);
    const row = Object.fromEntries(fields.map((field) => [field, null]));
    const statements = [
      `select ${selectFields(model, 'r', fields)} from ${tableOf(model)} r`,
      insertStatement(model, row as never).text,
      ...(fields.includes('id' as never) ? [updateStatement(model, 'one', row as never).text] : []),
    ];
    for (const sql of statements) {
      const problem = await problemOf(sql);
      if (problem !== null) problems[sql] = problem;
    }
  }
  expect(problems).toEqual({});
});
