import type { Transaction } from '../../store/store.ts';
import type { Services } from '../context.ts';
import { newId } from '../ids.ts';
import { eventTypeOfKind, sentKinds, type WebhookEventType } from './event-types.ts';
import { type FeedPlace, lockFeed, moveFeed } from './feeds.ts';

/** Sessions, and entries of each, that one transaction looks at. */
const batch = { sessions: 50, entries: 20 } as const;

/** What a batch came to; null in its place: another process reads this organization now, or nobody wants to hear of it. */
export interface Collected {
  readonly deliveries: number;
  /** Where to go on at once; null: everything has been read. */
  readonly next: FeedPlace | null;
}

interface Endpoint {
  readonly id: string;
  readonly eventTypes: readonly WebhookEventType[];
  readonly sinceAt: Date;
}

interface ChangedSession {
  readonly id: string;
  readonly xid: string;
  /** How far its log has been read; null: nothing of it was. */
  readonly seq: number | null;
  readonly isUnlisted: boolean;
}

interface Entry {
  readonly id: string;
  readonly sessionId: string;
  readonly seq: number;
  readonly kind: string;
  readonly createdAt: Date;
}

const none: Collected = { deliveries: 0, next: null };

/**
 * Makes deliveries of what the log of an organization's sessions has since it was last read: they, and how far was read, are
 * one transaction, so that a process that dies loses nothing and repeats nothing. Gives where to go on when there is more;
 * `from` is that place. The lock of the feed lets one process at a time do it.
 */
export function collectEvents(services: Services, organizationId: string, from: FeedPlace | null): Promise<Collected> {
  return services.store.transact(async (tx) => {
    const settled = await lockFeed(tx, organizationId);
    if (!settled) return none;
    const endpoints = await tx.query<Endpoint>(
      `select w.id, w.event_types as "eventTypes", w.since_at as "sinceAt" from webhook_endpoint w
        where w.organization_id = $1 and w.is_enabled`,
      [organizationId],
    );
    if (endpoints.length === 0) return none;
    const start = from && isBeyond(from, settled) ? from : settled;
    const { sessions, xmin } = await readChanged(tx, organizationId, start);
    if (sessions.length === 0) return none;
    const sinceAt = new Date(Math.min(...endpoints.map((endpoint) => endpoint.sinceAt.getTime())));
    const entries = await readEntries(tx, sessions, sinceAt);
    const listed = new Set(sessions.filter(({ isUnlisted }) => !isUnlisted).map(({ id }) => id));
    const heard = entries.filter(({ sessionId }) => listed.has(sessionId));
    const deliveries = await insertDeliveries(services, tx, organizationId, endpoints, heard);
    await saveProgress(tx, organizationId, entries);
    if (deliveries > 0) tx.afterCommit(() => services.bell.ring('deliveries'));

    const counts = new Map<string, number>();
    for (const { sessionId } of entries) counts.set(sessionId, (counts.get(sessionId) ?? 0) + 1);
    // The rest of a log that has more is read from the same place.
    if ([...counts.values()].some((count) => count === batch.entries)) return { deliveries, next: start };
    const isFull = sessions.length === batch.sessions;
    const [last] = sessions.slice(-1) as [ChangedSession];
    await settle(tx, organizationId, sessions, xmin, isFull);
    return { deliveries, next: isFull ? { xid: BigInt(last.xid), sessionId: last.id } : null };
  });
}

const isBeyond = (one: FeedPlace, other: FeedPlace) =>
  one.xid > other.xid || (one.xid === other.xid && one.sessionId > other.sessionId);

async function readChanged(
  tx: Transaction,
  organizationId: string,
  { xid, sessionId }: FeedPlace,
): Promise<{ sessions: ChangedSession[]; xmin: bigint }> {
  const rows = await tx.query<ChangedSession & { xmin: string }>(
    `with now as (select pg_snapshot_xmin(pg_current_snapshot()) as xmin)
     select now.xmin::text as xmin, s.id, s.changed_xid::text as xid, p.seq, s.is_unlisted as "isUnlisted"
       from now cross join session s left join webhook_progress p on p.session_id = s.id
      where s.organization_id = $1 and (s.changed_xid, s.id) > ($2::xid8, $3::text)
      order by s.changed_xid, s.id limit $4`,
    [organizationId, String(xid), sessionId, batch.sessions],
  );
  return { sessions: rows, xmin: BigInt(rows[0]?.xmin ?? 0) };
}

// Of a session of which nothing was read, what is older than every endpoint is passed over from its end backwards.
function readEntries(tx: Transaction, sessions: readonly ChangedSession[], sinceAt: Date): Promise<Entry[]> {
  return tx.query<Entry>(
    `select e.* from unnest($1::text[], $2::int[]) wanted(id, seq) cross join lateral (
       select e.id, e.session_id as "sessionId", e.seq, e.kind, e.created_at as "createdAt" from log_entry e
        where e.session_id = wanted.id and e.kind = any($4::text[]) and e.seq > coalesce(wanted.seq, (
            select b.seq from log_entry b where b.session_id = wanted.id and b.created_at < $3::timestamptz
             order by b.seq desc limit 1), 0)
        order by e.seq limit $5) e`,
    [sessions.map(({ id }) => id), sessions.map(({ seq }) => seq), sinceAt, sentKinds, batch.entries],
  );
}

async function insertDeliveries(
  services: Services,
  tx: Transaction,
  organizationId: string,
  endpoints: readonly Endpoint[],
  entries: readonly Entry[],
): Promise<number> {
  const rows = entries.flatMap((entry) => {
    const eventType = eventTypeOfKind(entry.kind);
    return endpoints
      .filter((each) => eventType !== null && each.eventTypes.includes(eventType) && entry.createdAt >= each.sinceAt)
      .map((each) => ({
        id: newId(),
        endpointId: each.id,
        eventType,
        eventId: entry.id,
        sessionId: entry.sessionId,
        seq: entry.seq,
      }));
  });
  if (rows.length === 0) return 0;
  await tx.query(
    `insert into webhook_delivery (id, organization_id, endpoint_id, event_type, event_id, session_id, seq, status,
       next_attempt_at, begun_at, created_at)
     select n.id, $1, n."endpointId", n."eventType", n."eventId", n."sessionId", n.seq, 'pending', $2::timestamptz,
            $2::timestamptz, $2::timestamptz
       from jsonb_to_recordset($3::jsonb) as n(id text, "endpointId" text, "eventType" text, "eventId" text,
         "sessionId" text, seq int)
     on conflict (endpoint_id, event_id) do nothing`,
    [organizationId, services.now(), JSON.stringify(rows)],
  );
  return rows.length;
}

async function saveProgress(tx: Transaction, organizationId: string, entries: readonly Entry[]): Promise<void> {
  // In the order of their numbers: the last of a session wins.
  const read = new Map(entries.map(({ sessionId, seq }) => [sessionId, seq]));
  if (read.size === 0) return;
  await tx.query(
    `insert into webhook_progress (session_id, organization_id, seq)
     select n.id, $1, n.seq from unnest($2::text[], $3::int[]) n(id, seq)
     on conflict (session_id) do update set seq = greatest(webhook_progress.seq, excluded.seq)`,
    [organizationId, [...read.keys()], [...read.values()]],
  );
}

// What is below `xmin` can change no more, and nothing can come to lie there.
async function settle(
  tx: Transaction,
  organizationId: string,
  sessions: readonly ChangedSession[],
  xmin: bigint,
  isFull: boolean,
): Promise<void> {
  const last = sessions.findLast(({ xid }) => BigInt(xid) < xmin);
  if (!isFull) return moveFeed(tx, organizationId, { xid: xmin, sessionId: '' });
  if (last) await moveFeed(tx, organizationId, { xid: BigInt(last.xid), sessionId: last.id });
}
