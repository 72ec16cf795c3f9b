import type { Store } from '../../store/store.ts';
import { type EventKind, type LogEntry, logColumns } from './log.ts';

/** A position in a log: the entries after a number. */
export interface LogPosition {
  readonly sessionId: string;
  readonly after: number;
  readonly limit: number;
}

/** The entries to read. `kinds` null: all kinds. */
export interface EntryKinds {
  readonly messagesOnly: boolean;
  readonly kinds: readonly EventKind[] | null;
}

/** The entries after a position, and where the session belongs, which decides who may see it. */
export interface LogRead {
  readonly enterpriseId: string;
  readonly organizationId: string;
  readonly entries: readonly LogEntry[];
}

type Row = Omit<LogRead, 'entries'> & { readonly n: number } & (LogEntry | { readonly id: null });

/**
 * Reads the entries after each of these positions, in their order and in one statement; null for a session that is gone, or whose
 * organization is. The caller must check who may see the session.
 */
export async function readLogsAt(
  store: Store,
  positions: readonly LogPosition[],
  { messagesOnly, kinds }: EntryKinds,
): Promise<(LogRead | null)[]> {
  // Unused conditions are omitted, not switched off: the planner must see that the partial index fits.
  const ofKind = `${messagesOnly ? 'and e.message_type is not null' : ''} ${kinds ? 'and e.kind = any($4::text[])' : ''}`;
  const sql = `
    select wanted.n::int, s.organization_id as "organizationId", o.enterprise_id as "enterpriseId", p.*
      from unnest($1::text[], $2::int[], $3::int[]) with ordinality as wanted(id, after, max_rows, n)
      join session s on s.id = wanted.id
      join organization o on o.id = s.organization_id and o.deleted_at is null
      left join lateral (
        select ${logColumns} from log_entry e
         where e.session_id = wanted.id and e.seq > wanted.after ${ofKind} order by e.seq limit wanted.max_rows) p on true
     order by wanted.n, p.seq`;
  const rows = await store.query<Row>(sql, [
    positions.map(({ sessionId }) => sessionId),
    positions.map(({ after }) => after),
    positions.map(({ limit }) => limit),
    ...(kinds ? [kinds] : []),
  ]);
  const found: (({ -readonly [K in keyof LogRead]: LogRead[K] } & { entries: LogEntry[] }) | null)[] = positions.map(
    () => null,
  );
  for (const row of rows) {
    const { n, enterpriseId, organizationId } = row;
    const read = found[n - 1] ?? { enterpriseId, organizationId, entries: [] };
    found[n - 1] = read;
    if (row.id !== null) read.entries.push(row);
  }
  return found;
}
