import type { Store } from '../../store/store.ts';
import { type EventKind, type LogEntry, logColumns } from './log.ts';

/** A place in a log, and what is wanted after it. `kindsKey`: the same for whoever asks for the same kinds. */
export interface LogPosition {
  readonly sessionId: string;
  readonly after: number;
  readonly limit: number;
  readonly messagesOnly: boolean;
  readonly kinds: readonly EventKind[] | null;
  readonly kindsKey: string;
}

/** What is after a place, and where the session belongs, from which is told who may see it. */
export interface LogRead {
  readonly enterpriseId: string;
  readonly organizationId: string;
  readonly entries: readonly LogEntry[];
}

type Row = Omit<LogRead, 'entries'> & { readonly n: number } & (LogEntry | { readonly id: null });

/**
 * What is after each of these places, in their order and in one statement; null for a session that is gone, or whose
 * organization is. All must ask for the same kinds. For those only who may see the session: the caller must tell.
 */
export async function readLogsAt(store: Store, positions: readonly LogPosition[]): Promise<(LogRead | null)[]> {
  const [first] = positions;
  if (!first) return [];
  // What is not wanted is left out, not switched off: the planner must see the partial index fit.
  const ofKind = `${first.messagesOnly ? 'and e.message_type is not null' : ''} ${first.kinds ? 'and e.kind = any($4::text[])' : ''}`;
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
    ...(first.kinds ? [first.kinds] : []),
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
