import { type JsonValues, jsonRow } from '../../store/json-rows.ts';
import type { Store } from '../../store/store.ts';
import { columnsOf, fieldsOf } from '../../store/tables.ts';
import type { Bind } from '../nested-pages.ts';
import type { EventKind, LogEntry } from './log.ts';

/** A part of a session's log: `after` and `before` are exclusive numbers. */
export interface LogRange {
  readonly after: number;
  readonly before: number | null;
  readonly limit: number;
  readonly backward: boolean;
  readonly messagesOnly: boolean;
  readonly kinds: readonly EventKind[] | null;
  /** True: edited messages have their current text, and withdrawn messages are left out. Otherwise the log as it is. */
  readonly isCurrent?: boolean | undefined;
}

const entryInJson = jsonRow<'LogEntry', LogEntry>('LogEntry')({
  fields: fieldsOf('LogEntry', ['sessionId']),
  known: ['sessionId'],
});

const currentEntries = `
  select ${columnsOf('LogEntry', fieldsOf('LogEntry', ['body']), 'e')}, coalesce(c.body, e.body) as body
    from log_entry e left join message_change c on c.session_id = e.session_id and c.seq = e.seq`;

/** The value of {@link rangeAsJson}. */
export type EntriesInJson = readonly JsonValues<LogEntry>[] | null;

/**
 * SQL expression for a range of a session's log as one JSON array, null if it is empty; {@link toEntries} turns it into
 * entries. For a client, a hundred rows of ten columns cost several times as much. `session`: SQL of the session's id.
 */
export function rangeAsJson(session: string, range: LogRange, bind: Bind): string {
  // Unused conditions are omitted, not switched off: the planner must see that the partial index fits.
  const conditions = [
    `e.session_id = ${session}`,
    `e.seq > ${bind(range.after)}::int`,
    ...(range.messagesOnly ? ['e.message_type is not null'] : []),
    ...(range.kinds ? [`e.kind = any(${bind(range.kinds)}::text[])`] : []),
    ...(range.before !== null ? [`e.seq < ${bind(range.before)}::int`] : []),
  ];
  const entries = range.isCurrent ? currentEntries : 'select * from log_entry e';
  if (range.isCurrent) conditions.push('c.is_withdrawn is not true');
  return `(select json_agg(${entryInJson.sql('e')}) from (
    ${entries} where ${conditions.join(' and ')}
     order by e.seq ${range.backward ? 'desc' : 'asc'} limit ${bind(range.limit)}) e)`;
}

/** Turns the value of {@link rangeAsJson} of a session into entries. */
export function toEntries(sessionId: string, values: EntriesInJson): LogEntry[] {
  const known = { sessionId };
  return (values ?? []).map((each) => entryInJson.read(each, known));
}

/**
 * Reads the same range of several sessions' logs, in the sessions' order and in one statement: at most `limit` entries
 * of each, newest first if backward.
 */
export async function readLogs(store: Store, sessionIds: readonly string[], range: LogRange): Promise<LogEntry[][]> {
  const values: unknown[] = [sessionIds];
  const entries = rangeAsJson('wanted.id', range, (value) => `$${values.push(value)}`);
  const rows = await store.query<{ entries: EntriesInJson }>(
    `select ${entries} as entries from unnest($1::text[]) with ordinality as wanted(id, n) order by wanted.n`,
    values,
  );
  return sessionIds.map((id, n) => toEntries(id, rows[n]?.entries ?? null));
}
