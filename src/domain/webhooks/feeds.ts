import type { Transaction } from '../../store/store.ts';
import type { Services } from '../context.ts';

/**
 * Makes sure that the changes of an organization's sessions are read for its endpoints, from now on where nobody read them,
 * and holds the reading up until the transaction ends: what is read next is read for the endpoints as they are then.
 */
export async function beginFeed(tx: Transaction, organizationId: string): Promise<void> {
  await tx.query(
    `insert into webhook_feed (organization_id, changed_xid) values ($1, pg_snapshot_xmin(pg_current_snapshot()))
     on conflict (organization_id) do nothing`,
    [organizationId],
  );
  await tx.query('select organization_id from webhook_feed where organization_id = $1 for update', [organizationId]);
  // Nobody hears of what happened while all were disabled.
  await tx.query(
    `update webhook_feed set changed_xid = pg_snapshot_xmin(pg_current_snapshot()), session_id = ''
      where organization_id = $1
        and not exists (select 1 from webhook_endpoint w where w.organization_id = $1 and w.is_enabled)`,
    [organizationId],
  );
}

/** An organization whose sessions somebody wants to hear of. */
export interface Feed {
  readonly organizationId: string;
  /** A session of it has changed since it was last read. */
  readonly isBehind: boolean;
}

// After a restore into another cluster what was read is another's: only what is to come there can be said.
const place = 'least(f.changed_xid, pg_snapshot_xmin(pg_current_snapshot()))';

/** Every organization that has an enabled endpoint. */
export async function listFeeds({ store }: Pick<Services, 'store'>): Promise<Feed[]> {
  return store.query<Feed>(
    `select f.organization_id as "organizationId", exists (
         select 1 from session s where s.organization_id = f.organization_id
            and (s.changed_xid, s.id) > (${place}, f.session_id)) as "isBehind"
       from webhook_feed f join organization o on o.id = f.organization_id and o.deleted_at is null
      where exists (select 1 from webhook_endpoint w where w.organization_id = f.organization_id and w.is_enabled)`,
    [],
  );
}

/** Where the reading of an organization's changes stands: all that lies at or before it has been read. */
export interface FeedPlace {
  readonly xid: bigint;
  readonly sessionId: string;
}

/** Locks a feed; null when another process has it, or when there is none. */
export async function lockFeed(tx: Transaction, organizationId: string): Promise<FeedPlace | null> {
  const [row] = await tx.query<{ xid: string; sessionId: string }>(
    `select ${place}::text as xid, f.session_id as "sessionId" from webhook_feed f
       join organization o on o.id = f.organization_id and o.deleted_at is null
      where f.organization_id = $1 for update of f skip locked`,
    [organizationId],
  );
  return row ? { xid: BigInt(row.xid), sessionId: row.sessionId } : null;
}

/** Writes where a locked feed stands. */
export async function moveFeed(tx: Transaction, organizationId: string, to: FeedPlace): Promise<void> {
  await tx.query('update webhook_feed set changed_xid = $2::xid8, session_id = $3 where organization_id = $1', [
    organizationId,
    String(to.xid),
    to.sessionId,
  ]);
}
