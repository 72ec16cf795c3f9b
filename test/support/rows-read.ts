import type { TestApp } from './app.ts';

interface Plan {
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Relation Name'?: string;
  readonly Plans?: readonly Plan[];
}

/** What a request read: its answer, the rows of each table with those thrown away, and how many statements. */
export interface RowsRead<T> {
  readonly answer: T;
  readonly read: Readonly<Record<string, number>>;
  readonly statements: number;
}

/** Runs a request, and explains every read that it made. */
export async function rowsRead<T>(test: Pick<TestApp, 'app'>, request: () => Promise<T>): Promise<RowsRead<T>> {
  const { store } = test.app.services;
  const original = store.query;
  const seen: [string, readonly unknown[]][] = [];
  store.query = (sql: string, values: readonly unknown[] = []) => {
    seen.push([sql, values]);
    return original.call(store, sql, values) as never;
  };
  const answer = await request().finally(() => {
    store.query = original;
  });
  const read: Record<string, number> = {};
  const add = (plan: Plan) => {
    const table = plan['Relation Name'];
    const rows = (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0)) * plan['Actual Loops'];
    if (table) read[table] = (read[table] ?? 0) + Math.round(rows);
    for (const inner of plan.Plans ?? []) add(inner);
  };
  for (const [sql, values] of seen) {
    const [row] = await store.query<{ 'QUERY PLAN': { Plan: Plan }[] }>(
      `explain (analyze, format json) ${sql}`,
      values,
    );
    if (!row?.['QUERY PLAN'][0]) throw new Error(`No plan was given for ${sql}`);
    add(row['QUERY PLAN'][0].Plan);
  }
  return { answer, read, statements: seen.length };
}
