import { isAfter, settledCursor, type TransactionCursor } from '../../realtime/transaction-cursor.ts';
import type { Transaction } from '../../store/store.ts';
import type { Services } from '../context.ts';
import type { LogEntry } from '../sessions/log.ts';
import { type FeedConsumer, lockFeed, moveFeed } from './feeds.ts';

/** Number of sessions, and of entries of each, that one transaction reads. */
const batch = { sessions: 50, entries: 20 } as const;

/** An entry of a log that consumers receive. */
export interface FeedEntry extends Pick<LogEntry, 'id' | 'sessionId' | 'seq' | 'kind' | 'data' | 'createdAt'> {
  readonly isUnlisted: boolean;
}

/** The consumers of an organization. */
export interface FeedHandler {
  /** Older entries are skipped. */
  readonly sinceAt: Date;
  /**
   * Handles entries, those of a session in the order of their numbers, and returns the number of handled ones from the
   * first: the rest is read again.
   */
  handle(entries: readonly FeedEntry[]): Promise<number>;
}

/** A {@link FeedConsumer} with its handler. */
export interface FeedProcessor extends FeedConsumer {
  /** The kinds of log entry that it reads. */
  readonly kinds: readonly string[];
  /** Null: there are no consumers. */
  loadHandler(services: Services, tx: Transaction, organizationId: string): Promise<FeedHandler | null>;
}

interface ChangedSession {
  readonly id: string;
  readonly xid: string;
  /** The number up to which its log has been read; null: none of it. */
  readonly seq: number | null;
  readonly isUnlisted: boolean;
}

/**
 * Reads what the logs of an organization's sessions have since they were last read. What the handler does and the new position are
 * one transaction, so that a process that dies loses nothing and repeats nothing. The lock of the feed lets one process at a time
 * read it. `from`: the result of the read before; null: the stored position. Returns where to continue at once; null: everything
 * has been read, another process reads now, or the consumer has nothing to do.
 */
export function readFeed(
  services: Services,
  processor: FeedProcessor,
  organizationId: string,
  from: TransactionCursor | null,
): Promise<TransactionCursor | null> {
  return services.store.transact(async (tx) => {
    const stored = await lockFeed(tx, processor, organizationId);
    const handler = stored && (await processor.loadHandler(services, tx, organizationId));
    if (!stored || !handler) return null;
    const isAhead = from !== null && isAfter(from, stored);
    const start = isAhead ? from : stored;
    const { sessions, xmin } = await readChanged(tx, processor, organizationId, start);
    const entries = sessions.length === 0 ? [] : await readEntries(tx, processor, sessions, handler.sinceAt);
    const count = entries.length === 0 ? 0 : await handler.handle(entries);
    await saveProgress(tx, processor, organizationId, entries.slice(0, count));

    const counts = new Map<string, number>();
    for (const { sessionId } of entries) counts.set(sessionId, (counts.get(sessionId) ?? 0) + 1);
    // The rest of a long log is read from the same position, and so are unhandled entries.
    if (count < entries.length || [...counts.values()].some((each) => each === batch.entries)) return start;
    const read = sessions.map(({ id, xid }): TransactionCursor => ({ xid: BigInt(xid), id }));
    const isFull = read.length === batch.sessions;
    if (isAhead) {
      if (isFull) return read.at(-1) ?? null;
      // A transaction may have committed a change before `start` since it was passed. Once none can, all is read again from the
      // stored position: the logs that have nothing new cost one row each.
      return start.xid < xmin ? stored : null;
    }
    const settled = read.length === 0 ? stored : settledCursor(stored, read, { xmin, hasMore: isFull });
    if (settled !== stored) await moveFeed(tx, processor, organizationId, settled);
    return isFull ? (read.at(-1) ?? null) : null;
  });
}

async function readChanged(
  tx: Transaction,
  { progressTable }: FeedConsumer,
  organizationId: string,
  { xid, id }: TransactionCursor,
): Promise<{ sessions: ChangedSession[]; xmin: bigint }> {
  const rows = await tx.query<(ChangedSession | { readonly id: null }) & { readonly xmin: string }>(
    `with now as (select oldest_transaction() as xmin)
     select now.xmin::text as xmin, c.* from now left join lateral (
       select s.id, c.changed_xid::text as xid, p.seq, s.is_unlisted as "isUnlisted"
         from session_change c join session s on s.id = c.session_id
         left join ${progressTable} p on p.session_id = c.session_id
        where c.organization_id = $1 and (c.changed_xid, c.session_id) > ($2::xid8, $3::text)
        order by c.changed_xid, c.session_id limit $4) c on true`,
    [organizationId, String(xid), id, batch.sessions],
  );
  const sessions = rows.filter((row): row is ChangedSession & { xmin: string } => row.id !== null);
  return { sessions, xmin: BigInt(rows[0]?.xmin ?? 0) };
}

// Of a session of which nothing was read, what is older than everybody's beginning is passed over from its end backwards.
function readEntries(
  tx: Transaction,
  { kinds }: FeedProcessor,
  sessions: readonly ChangedSession[],
  sinceAt: Date,
): Promise<FeedEntry[]> {
  return tx.query<FeedEntry>(
    `select e.*, wanted.unlisted as "isUnlisted"
       from unnest($1::text[], $2::int[], $6::boolean[]) with ordinality wanted(id, seq, unlisted, n) cross join lateral (
       select e.id, e.session_id as "sessionId", e.seq, e.kind, e.data, e.created_at as "createdAt" from log_entry e
        where e.session_id = wanted.id and e.kind = any($4::text[]) and e.seq > coalesce(wanted.seq, (
            select b.seq from log_entry b where b.session_id = wanted.id and b.created_at < $3::timestamptz
             order by b.seq desc limit 1), 0)
        order by e.seq limit $5) e
      order by wanted.n, e.seq`,
    [
      sessions.map(({ id }) => id),
      sessions.map(({ seq }) => seq),
      sinceAt,
      kinds,
      batch.entries,
      sessions.map(({ isUnlisted }) => isUnlisted),
    ],
  );
}

async function saveProgress(
  tx: Transaction,
  { progressTable }: FeedConsumer,
  organizationId: string,
  entries: readonly FeedEntry[],
): Promise<void> {
  // In the order of their numbers: the last of a session wins.
  const read = new Map(entries.map(({ sessionId, seq }) => [sessionId, seq]));
  if (read.size === 0) return;
  await tx.query(
    `insert into ${progressTable} (session_id, organization_id, seq)
     select n.id, $1, n.seq from unnest($2::text[], $3::int[]) n(id, seq)
     on conflict (session_id) do update set seq = greatest(${progressTable}.seq, excluded.seq)`,
    [organizationId, [...read.keys()], [...read.values()]],
  );
}
