import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Driver } from '../../src/store/driver.ts';
import { type Migration, migrate, readMigrations } from '../../src/store/migrations.ts';
import { openEmptyDriver, type TestDriver } from '../support/test-store.ts';

let test: TestDriver;
let driver: Driver;
beforeEach(async () => {
  test = await openEmptyDriver();
  driver = test.driver;
});
afterEach(() => test.close());

const migration = (name: string, sql: string): Migration => ({
  name,
  sql,
  checksum: createHash('sha256').update(sql).digest('hex'),
});
const first = migration('1_first', 'create table first (id int); insert into first values (1);');
const second = migration('2_second', 'create table second (id int);');
const recorded = () =>
  driver.query(
    `select migration_name as name, checksum, finished_at is not null as "isFinished", applied_steps_count as steps
       from _prisma_migrations order by started_at, migration_name`,
    [],
  );

it('applies missing migrations in order, each once', async () => {
  await migrate(driver, [first]);
  await migrate(driver, [first, second]);
  await migrate(driver, [first, second]);
  expect(await recorded()).toEqual([
    { name: '1_first', checksum: first.checksum, isFinished: true, steps: 1 },
    { name: '2_second', checksum: second.checksum, isFinished: true, steps: 1 },
  ]);
  expect(await driver.query('select id from first', [])).toEqual([{ id: 1 }]);
});

it('lets many processes start at once', async () => {
  await Promise.all(Array.from({ length: 5 }, () => migrate(driver, [first, second])));
  expect(await driver.query('select id from first', [])).toEqual([{ id: 1 }]);
});

it('rolls back a failed migration, names it, and continues after it is corrected', async () => {
  const broken = migration('2_second', 'create table second (id int); create table oops (');
  await expect(migrate(driver, [first, broken])).rejects.toThrow(/"2_second" failed and was rolled back: syntax error/);
  expect(await recorded()).toHaveLength(1);
  await migrate(driver, [first, second]);
  expect(await recorded()).toHaveLength(2);
});

it('refuses a database with a migration that was changed since', async () => {
  await migrate(driver, [first]);
  await expect(migrate(driver, [{ ...first, checksum: 'other' }, second])).rejects.toThrow(/"1_first".*has changed/);
  expect(await recorded()).toHaveLength(1);
});

it('refuses a database that a newer version migrated', async () => {
  await migrate(driver, [first, second]);
  await expect(migrate(driver, [first])).rejects.toThrow(/"2_second".*newer version/);
});

it('refuses a database with a failed "prisma migrate deploy" until it is resolved', async () => {
  await migrate(driver, [first]);
  await driver.query(`insert into _prisma_migrations (id, checksum, migration_name) values ('x', $1, '2_second')`, [
    second.checksum,
  ]);
  await expect(migrate(driver, [first, second])).rejects.toThrow(/"2_second" failed before/);
  await driver.query(`update _prisma_migrations set rolled_back_at = now() where id = 'x'`, []);
  await migrate(driver, [first, second]);
  expect(await driver.query('select count(*) as n from second', [])).toEqual([{ n: 0 }]);
});

it('has the checksums of Prisma: SHA-256 of the file, with the line ends of git', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-migrations-'));
  await mkdir(join(folder, '1_windows'));
  await writeFile(join(folder, '1_windows/migration.sql'), 'select 1;\r\nselect 2;\r\n');
  const checksum = createHash('sha256').update('select 1;\nselect 2;\n').digest('hex');
  expect(await readMigrations(folder)).toEqual([{ name: '1_windows', sql: 'select 1;\nselect 2;\n', checksum }]);
  await rm(folder, { recursive: true });
});

it('has no index of sessions on columns that change with each message: each message would update it', async () => {
  await migrate(driver);
  const columns = await driver.query<{ name: string }>(
    `select distinct a.attname::text as name from pg_index i
       join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any(i.indkey)
      where i.indrelid = 'session'::regclass and i.indexprs is null order by 1`,
    [],
  );
  const names = columns.map(({ name }) => name);
  expect(names).toContain('created_at');
  for (const moving of ['updated_at', 'changed_xid', 'is_fresh', 'status_detail']) expect(names).not.toContain(moving);
});

it('creates manually what the schema file cannot express', async () => {
  await migrate(driver);
  const indexes = await driver.query<{ name: string; predicate: string }>(
    `select c.relname::text as name, pg_get_expr(i.indpred, i.indrelid) as predicate
       from pg_index i join pg_class c on c.oid = i.indexrelid join pg_class t on t.oid = i.indrelid
      where i.indpred is not null and t.relnamespace = 'public'::regnamespace`,
    [],
  );
  expect(Object.fromEntries(indexes.map(({ name, predicate }) => [name, predicate]))).toEqual({
    'api_key_live': '(revoked_at IS NULL)',
    'automation_by_name': '(deleted_at IS NULL)',
    'deleted_session_uncleared': '(cleared_at IS NULL)',
    'environment_build_under_way_key':
      "((trigger <> 'SESSION'::text) AND (state = ANY (ARRAY['QUEUED'::text, 'BUILDING'::text])))",
    'follow_up_due': "(state = 'pending'::text)",
    'followed_pull_request_due': '(due_at IS NOT NULL)',
    'git_connection_name': '(deleted_at IS NULL)',
    'git_delivery_failed': "(status = 'failed'::text)",
    'git_delivery_pending': '(next_attempt_at IS NOT NULL)',
    'knowledge_note_macro': '(macro IS NOT NULL)',
    'legal_hold_lasting': '(released_at IS NULL)',
    'log_entry_messages': '(message_type IS NOT NULL)',
    'log_entry_rewinds': "(kind = 'REWIND'::text)",
    'organization_by_name': '(deleted_at IS NULL)',
    'playbook_by_title': '(deleted_at IS NULL)',
    'playbook_by_title_of_all': '(deleted_at IS NULL)',
    'playbook_macro': '((macro IS NOT NULL) AND (deleted_at IS NULL))',
    'provider_key_name': '(deleted_at IS NULL)',
    'resource_change_removed': '(removed_at IS NOT NULL)',
    'role_assignment_of_service_user': '(service_user_id IS NOT NULL)',
    'role_assignment_of_user': '(user_id IS NOT NULL)',
    'role_name': '(enterprise_id IS NOT NULL)',
    'run_budget_key_id': '(budget_key_id IS NOT NULL)',
    'run_queue': '(queued_at IS NOT NULL)',
    'run_workspace_deletion_requested': '(workspace_deletion_requested_at IS NOT NULL)',
    'session_automation': '(automation_id IS NOT NULL)',
    'session_change_idle': '(idleness IS NOT NULL)',
    'session_change_waiting': "(idleness = 'waiting'::text)",
    'session_change_waiting_in': "(idleness = 'waiting'::text)",
    'session_change_waiting_of': "(idleness = 'waiting'::text)",
    'session_child': "(COALESCE(parent_id, ''::text) <> ''::text)",
    'session_closed_pull_request': '(pull_requests @> \'[{"state": "closed"}]\'::jsonb)',
    'session_ended': '(ended_by IS NOT NULL)',
    'session_merged_pull_request': '(pull_requests @> \'[{"state": "merged"}]\'::jsonb)',
    'session_open_pull_request': '(pull_requests @> \'[{"state": "open"}]\'::jsonb)',
    'session_playbook': '(playbook_id IS NOT NULL)',
    'session_repository_names': "(repository_names <> '{}'::text[])",
    'session_service_key': '(service_key_id IS NOT NULL)',
    'session_service_user': '(service_user_id IS NOT NULL)',
    'session_unlisted': 'is_unlisted',
    'session_user': '(user_id IS NOT NULL)',
    'user_account_address': '(deleted_at IS NULL)',
    'user_account_by_email': '(deleted_at IS NULL)',
  });
  expect(
    await driver.query(
      `select relname::text as name, reloptions as options from pg_class
        where relkind = 'r' and reloptions is not null order by 1`,
      [],
    ),
  ).toEqual([
    { name: 'session', options: ['fillfactor=85'] },
    { name: 'session_head', options: ['fillfactor=50'] },
  ]);
  const checks = await driver.query<{ name: string }>(
    `select conname as name from pg_constraint where contype = 'c' and connamespace = 'public'::regnamespace order by 1`,
    [],
  );
  expect(checks.map(({ name }) => name)).toMatchInlineSnapshot(`
    [
      "api_key_kind_known",
      "console_session_of_key_or_user",
      "git_connection_erased",
      "git_delivery_status",
      "git_permission_target_one",
      "log_entry_message_has_body",
      "provider_key_erased",
      "provider_key_scope",
      "secret_type_known",
      "session_ended_by_known",
      "session_repository_state",
      "session_status_known",
      "usage_not_negative",
    ]
  `);
});
