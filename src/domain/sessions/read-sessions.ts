import type { Context } from '../context.ts';
import type { SessionRecord } from './session.ts';

/**
 * The rows of a statement that selects `sessionColumns`, and what it likes beside them, in their order. Each comes as one JSON
 * value, which costs a fraction of reading its columns (docs/performance.md). Not all of them as one: that may be longer than a
 * text can be, and where the driver finds out, it ends the process.
 */
export async function readSessions<R extends SessionRecord>(
  { store }: Pick<Context, 'store'>,
  sql: string,
  values: readonly unknown[],
): Promise<R[]> {
  const rows = await store.query<{ session: InJson<R> }>(`select row_to_json(p) as session from (${sql}) p`, values);
  return rows.map(({ session }) => fromJson(session));
}

/** A session as JSON has it: with its times as text. */
export type InJson<R extends SessionRecord> = Omit<R, 'createdAt' | 'updatedAt'> & {
  createdAt: string;
  updatedAt: string;
};

/** The session that a JSON value is; it is that value, changed. */
export function fromJson<R extends SessionRecord>(value: InJson<R>): R {
  const session = value as unknown as { createdAt: Date; updatedAt: Date };
  session.createdAt = new Date(value.createdAt);
  session.updatedAt = new Date(value.updatedAt);
  return value as unknown as R;
}
