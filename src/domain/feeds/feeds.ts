import type { TransactionCursor } from '../../realtime/transaction-cursor.ts';
import type { Transaction } from '../../store/store.ts';
import type { Services } from '../context.ts';

/**
 * A reader of what happens in the sessions of organizations: it reads their logs as they grow, each at its own pace, and where
 * it stands is in tables of its own. The words are SQL of this program, and never anybody's input.
 */
export interface FeedConsumer {
  readonly feedTable: string;
  readonly progressTable: string;
  /** Whether an organization has somebody who wants to hear, of a feed aliased `f`. */
  readonly isWanted: string;
}

/**
 * Makes sure that the changes of an organization's sessions are read for a reader, from now on where nobody read them. What
 * happened while nobody wanted to hear is passed over, unless it is being read just now.
 */
export async function ensureFeed(tx: Transaction, consumer: FeedConsumer, organizationId: string): Promise<void> {
  const { feedTable, isWanted } = consumer;
  await tx.query(
    `insert into ${feedTable} (organization_id, changed_xid) values ($1, pg_snapshot_xmin(pg_current_snapshot()))
     on conflict (organization_id) do nothing`,
    [organizationId],
  );
  // It waits for nobody, so that it can be done under any locks.
  await tx.query(
    `update ${feedTable} set changed_xid = pg_snapshot_xmin(pg_current_snapshot()), session_id = ''
      where organization_id in (select f.organization_id from ${feedTable} f
        where f.organization_id = $1 and not (${isWanted}) for update skip locked)`,
    [organizationId],
  );
}

/**
 * {@link ensureFeed}, and holds the reading up until the transaction ends: what is read next is read for those who want to hear
 * then. To be locked before anything that the reading locks.
 */
export async function beginFeed(tx: Transaction, consumer: FeedConsumer, organizationId: string): Promise<void> {
  await ensureFeed(tx, consumer, organizationId);
  await tx.query(`select organization_id from ${consumer.feedTable} where organization_id = $1 for update`, [
    organizationId,
  ]);
}

/** An organization whose sessions somebody wants to hear of. */
export interface Feed {
  readonly organizationId: string;
  /** A session of it has changed since it was last read. */
  readonly isBehind: boolean;
}

// After a restore into another cluster what was read is another's: only what is to come there can be said.
const changedXid = 'least(f.changed_xid, pg_snapshot_xmin(pg_current_snapshot()))';

/** Every organization in which somebody wants to hear. */
export async function listFeeds({ store }: Pick<Services, 'store'>, consumer: FeedConsumer): Promise<Feed[]> {
  return store.query<Feed>(
    `select f.organization_id as "organizationId", exists (
         select 1 from session_change c where c.organization_id = f.organization_id
            and (c.changed_xid, c.session_id) > (${changedXid}, f.session_id)) as "isBehind"
       from ${consumer.feedTable} f join organization o on o.id = f.organization_id and o.deleted_at is null
      where ${consumer.isWanted}`,
    [],
  );
}

/** Locks a feed. Returns the position up to which it was read; null when another process has it, or when there is none. */
export async function lockFeed(
  tx: Transaction,
  { feedTable }: FeedConsumer,
  organizationId: string,
): Promise<TransactionCursor | null> {
  const [row] = await tx.query<{ xid: string; id: string }>(
    `select ${changedXid}::text as xid, f.session_id as id from ${feedTable} f
       join organization o on o.id = f.organization_id and o.deleted_at is null
      where f.organization_id = $1 for update of f skip locked`,
    [organizationId],
  );
  return row ? { xid: BigInt(row.xid), id: row.id } : null;
}

/** Writes the position up to which a locked feed was read. */
export async function moveFeed(
  tx: Transaction,
  { feedTable }: FeedConsumer,
  organizationId: string,
  to: TransactionCursor,
): Promise<void> {
  await tx.query(`update ${feedTable} set changed_xid = $2::xid8, session_id = $3 where organization_id = $1`, [
    organizationId,
    String(to.xid),
    to.id,
  ]);
}
