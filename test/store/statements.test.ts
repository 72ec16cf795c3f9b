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

// Verifies the tables, columns, parameters and types of each statement whose text does not depend on a call. The tests of lists
// with filters cover the statements that calls compose.
it('has only statements in its source that fit the schema', async () => {
  const texts = await readSqlTexts();
  // An INSERT without rows is the beginning of a composed statement.
  const known = texts.filter(({ sql }) => sql !== null && !/^\s*insert into \w+ \([^)]*\)\s*$/.test(sql));
  const problems: Record<string, string> = {};
  for (const { at, sql } of known) {
    const problem = await problemOf(sql as string);
    if (problem !== null) problems[at] = `${problem}: ${sql}`;
  }
  expect(problems).toEqual({});
  // 250 of 305 at first: statements in a form that this test cannot read would lower the share.
  expect(known.length / texts.length).toBeGreaterThan(0.75);
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
