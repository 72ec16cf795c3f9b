import type { TestApp } from './app.ts';
import { watchReads } from './test-store.ts';

interface Plan {
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Shared Hit Blocks'?: number;
  readonly 'Shared Read Blocks'?: number;
  readonly 'Relation Name'?: string;
  readonly Plans?: readonly Plan[];
}

/** The reads of a request: its response, the rows per table including discarded ones, and its statements. */
export interface RowsRead<T> {
  readonly answer: T;
  readonly read: Readonly<Record<string, number>>;
  /** Includes the statements of the service's own background work. */
  readonly statements: readonly string[];
  /** The number of 8 KiB blocks that were read, including indexes. */
  readonly blocks: number;
}

/** Runs a request, and explains all of its reads. */
export async function rowsRead<T>(test: Pick<TestApp, 'app'>, request: () => Promise<T>): Promise<RowsRead<T>> {
  const { store } = test.app.services;
  const seen: [string, readonly unknown[]][] = [];
  const stop = watchReads(store, (sql, values) => seen.push([sql, values]));
  const answer = await request().finally(stop);
  const read: Record<string, number> = {};
  const add = (plan: Plan) => {
    const table = plan['Relation Name'];
    const rows = (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0)) * plan['Actual Loops'];
    if (table) read[table] = (read[table] ?? 0) + Math.round(rows);
    for (const inner of plan.Plans ?? []) add(inner);
  };
  let blocks = 0;
  for (const [sql, values] of seen) {
    const [row] = await store.query<{ 'QUERY PLAN': { Plan: Plan }[] }>(
      `explain (analyze, buffers, format json) ${sql}`,
      values,
    );
    if (!row?.['QUERY PLAN'][0]) throw new Error(`No plan was given for ${sql}`);
    const { Plan: plan } = row['QUERY PLAN'][0];
    add(plan);
    // The blocks of a plan's root include those of its children.
    blocks += (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0);
  }
  return { answer, read, statements: seen.map(([sql]) => sql), blocks };
}
