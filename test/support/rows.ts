import type { TestApp } from './app.ts';

const tables = [
  'organization',
  'user_account',
  'service_user',
  'role_assignment',
  'api_key',
  'session',
  'session_secret',
  'session_tag',
  'run',
  'log_entry',
  'idempotency_key',
  'audit_entry',
] as const;

/** Counts the rows of every table that a mutation writes to: a refused mutation must not change them. */
export async function countRows(test: Pick<TestApp, 'app'>): Promise<Record<(typeof tables)[number], number>> {
  const columns = tables.map((table) => `(select count(*)::int from ${table}) as "${table}"`).join(', ');
  const [row] = await test.app.services.store.query<Record<(typeof tables)[number], number>>(`select ${columns}`);
  if (!row) throw new Error('A select without a table gave no row.');
  return row;
}
