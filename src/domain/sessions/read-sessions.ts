import type { Reader } from '../../store/reader.ts';
import type { SessionRecord } from './session.ts';

/**
 * Reads the rows of a statement that selects `sessionColumns` and possibly more columns, in order. Each row comes as
 * one JSON value, which costs a fraction of reading its columns (docs/performance.md). A single value for all rows may
 * exceed the maximum string length, which ends the process in the driver.
 */
export async function readSessions<R extends SessionRecord>(
  { store }: { readonly store: Pick<Reader, 'query'> },
  sql: string,
  values: readonly unknown[],
): Promise<R[]> {
  const rows = await store.query<{ session: InJson<R> }>(`select row_to_json(p) as session from (${sql}) p`, values);
  return rows.map(({ session }) => fromJson(session));
}

/** A session as JSON: its times are text. */
export type InJson<R extends SessionRecord> = Omit<R, 'createdAt' | 'updatedAt'> & {
  createdAt: string;
  updatedAt: string;
};

/** Converts a JSON value to a session, in place. */
export function fromJson<R extends SessionRecord>(value: InJson<R>): R {
  const session = value as unknown as { createdAt: Date; updatedAt: Date };
  session.createdAt = new Date(value.createdAt);
  session.updatedAt = new Date(value.updatedAt);
  return value as unknown as R;
}
