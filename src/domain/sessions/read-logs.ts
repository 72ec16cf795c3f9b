import type { Store } from '../../store/store.ts';
import type { Bind } from '../nested-pages.ts';
import { timeAsNumber } from '../times.ts';
import type { EventKind, LogEntry, MessageType } from './log.ts';

/** A part of a session's log: `after` and `before` are exclusive numbers. */
export interface LogRange {
  readonly after: number;
  readonly before: number | null;
  readonly limit: number;
  readonly backward: boolean;
  readonly messagesOnly: boolean;
  readonly kinds: readonly EventKind[] | null;
}

const entryColumns = `e.seq, e.id, e.kind, e.message_type, e.body, e.data, e.user_id, e.service_user_id,
  e.service_key_id, ${timeAsNumber('e.created_at')}`;

/** The values of an entry, in the order of the columns. */
export type EntryValues = readonly [
  seq: number,
  id: string,
  kind: EventKind,
  messageType: MessageType | null,
  body: string | null,
  data: Record<string, unknown> | null,
  userId: string | null,
  serviceUserId: string | null,
  serviceKeyId: string | null,
  createdAtMs: number,
];

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
  return `(select json_agg(json_build_array(${entryColumns})) from (
    select * from log_entry e where ${conditions.join(' and ')}
     order by e.seq ${range.backward ? 'desc' : 'asc'} limit ${bind(range.limit)}) e)`;
}

/** Turns the value of {@link rangeAsJson} of a session into entries. */
export function toEntries(sessionId: string, values: readonly EntryValues[] | null): LogEntry[] {
  return (values ?? []).map((each) => ({
    sessionId,
    seq: each[0],
    id: each[1],
    kind: each[2],
    messageType: each[3],
    body: each[4],
    data: each[5],
    userId: each[6],
    serviceUserId: each[7],
    serviceKeyId: each[8],
    createdAt: new Date(each[9]),
  }));
}

/**
 * Reads the same range of several sessions' logs, in the sessions' order and in one statement: at most `limit` entries
 * of each, newest first if backward.
 */
export async function readLogs(store: Store, sessionIds: readonly string[], range: LogRange): Promise<LogEntry[][]> {
  const values: unknown[] = [sessionIds];
  const entries = rangeAsJson('wanted.id', range, (value) => `$${values.push(value)}`);
  const rows = await store.query<{ entries: readonly EntryValues[] | null }>(
    `select ${entries} as entries from unnest($1::text[]) with ordinality as wanted(id, n) order by wanted.n`,
    values,
  );
  return sessionIds.map((id, n) => toEntries(id, rows[n]?.entries ?? null));
}
