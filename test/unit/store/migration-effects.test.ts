import { describe, expect, it } from 'vitest';
import type { Session } from '../../../src/store/driver.ts';
import { readEffects } from '../../../src/store/migration-effects.ts';
import { describeUsability, isUsableAfter } from '../../../src/store/older-versions.ts';

const session = {
  query: async () => [
    { name: 'session', rows: 250_000 },
    { name: 'playbook', rows: 12 },
  ],
} as unknown as Session;

const tablesOf = async (sql: string) => (await readEffects(session, [{ name: 'later', sql }]))[0]?.tables;

describe('readEffects', () => {
  it.each([
    ['create index later on session (title)', 'index'],
    ['CREATE UNIQUE INDEX IF NOT EXISTS "later" ON "session"("title")', 'index'],
    ['update session as s set title = null', 'rows'],
    ['UPDATE "session" SET "title" = null', 'rows'],
    ['with gone as (delete from session returning id) select 1', 'rows'],
    ['insert into session (id) select id from playbook_old', 'rows'],
    ['alter table only session add column later text', 'columns'],
  ])('finds the work of: %s', async (sql, kind) => {
    expect(await tablesOf(sql)).toEqual([{ table: 'session', kind, rows: 250_000 }]);
  });

  it.each([
    'create table session_later (id text primary key); create index later on session_later (id)',
    '-- update session set title = null\nselect 1',
    "comment on table playbook is 'update session set title'",
    'create function later() returns trigger language plpgsql as $later$ begin update session set title = null; end $later$',
  ])('finds none in: %s', async (sql) => {
    expect(await tablesOf(sql)).toEqual([]);
  });

  it('names each table once for each kind of work', async () => {
    const sql =
      'alter table playbook add column a text; alter table playbook add column b text; update playbook set a = b';
    expect(await tablesOf(sql)).toEqual([
      { table: 'playbook', kind: 'rows', rows: 12 },
      { table: 'playbook', kind: 'columns', rows: 12 },
    ]);
  });
});

describe('isUsableAfter', () => {
  const known = new Set(['20261129165500_transaction_numbers', '20270101000000_expand']);
  const removing = (since: string) => describeUsability({ sql: `-- unused since: ${since}\ndrop table later;` });

  it('holds for a migration that removes nothing, and for one that removes what this version does not use', () => {
    expect(isUsableAfter(describeUsability({ sql: 'create table later (id text);' }), known)).toBe(true);
    expect(isUsableAfter(removing('20270101000000_expand'), known)).toBe(true);
  });

  it('does not hold for other removals, older records and other texts', () => {
    expect(isUsableAfter(removing('20270102000000_later'), known)).toBe(false);
    for (const logs of [null, '', 'usable', 'usable since: ', 'usable since: a b']) {
      expect(isUsableAfter(logs, known)).toBe(false);
    }
  });
});
