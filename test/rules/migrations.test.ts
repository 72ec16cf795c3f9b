import { describe, expect, it } from 'vitest';
import { readMigrations } from '../../src/store/migrations.ts';
import { firstWithOlderVersions as first } from '../../src/store/older-versions.ts';
import { findMigrationProblems } from '../support/migration-rules.ts';

const earlier = ['20270101000000_expand'];

describe('findMigrationProblems', () => {
  it.each([
    'drop table playbook;',
    'alter table playbook drop column body;',
    'ALTER TABLE "playbook" RENAME COLUMN "body" TO "text";',
    'alter table playbook rename to template;',
    'alter table playbook alter column body set not null;',
    'alter table playbook alter column body type jsonb;',
    'ALTER TABLE "playbook" ADD COLUMN "kind" TEXT NOT NULL;',
    'alter table playbook add column a text, add column b integer not null;',
  ])('refuses what older processes cannot continue after: %s', (sql) => {
    expect(findMigrationProblems(sql, earlier)).toHaveLength(1);
  });

  it.each([
    'create table playbook_use (id text primary key, kind text not null);',
    'alter table playbook add column kind text;',
    'ALTER TABLE "playbook" ADD COLUMN "kind" TEXT NOT NULL DEFAULT \'a\';',
    "alter table playbook add column kind text default 'x' not null, add column other text;",
    'alter table playbook alter column body drop not null;',
    'create index playbook_kind on playbook (kind);',
    "-- Does not drop column body.\nupdate playbook set body = 'drop table' where body is null;",
    'drop index playbook_kind;',
    '-- unused since: 20270101000000_expand\nalter table playbook drop column body;',
  ])('accepts %s', (sql) => {
    expect(findMigrationProblems(sql, earlier)).toEqual([]);
  });

  it('refuses a comment with a migration that is not earlier', () => {
    const sql = '-- unused since: 20280101000000_later\nalter table playbook drop column body;';
    expect(findMigrationProblems(sql, earlier)).toHaveLength(1);
  });
});

it('every migration can be applied while processes of the version before run', async () => {
  const migrations = await readMigrations();
  const names = migrations.map(({ name }) => name);
  expect(names).toContain(first);
  const found = migrations
    .filter(({ name }) => name > first)
    .flatMap(({ name, sql }) =>
      findMigrationProblems(sql, names.slice(0, names.indexOf(name))).map((problem) => `${name} ${problem}`),
    );
  expect(found, 'See CONTRIBUTING.md#how-to-add-a-migration').toEqual([]);
});
