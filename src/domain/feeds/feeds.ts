import type { TransactionCursor } from '../../realtime/transaction-cursor.ts';
import type { Transaction } from '../../store/store.ts';
import type { Services } from '../context.ts';

/**
 * A consumer of the session events of organizations: it reads the logs as they grow, each consumer at its own pace, and
 * its position is in its own tables. All SQL here is constant.
 */
export interface FeedConsumer {
  readonly feedTable: string;
  readonly progressTable: string;
  /** SQL condition: the organization of a feed aliased `f` has consumers. */
  readonly isWanted: string;
}

/**
 * Ensures that the changes of an organization's sessions are read for a consumer, from now on if they were not read
 * before. Changes from before, when there were no consumers, are skipped, unless a read is under way.
 */
export async function ensureFeed(tx: Transaction, consumer: FeedConsumer, organizationId: string): Promise<void> {
  const { feedTable, isWanted } = consumer;
  await tx.query(
    `insert into ${feedTable} (organization_id, changed_xid) values ($1, oldest_transaction())
     on conflict (organization_id) do nothing`,
    [organizationId],
  );
  // Waits for no lock, so that it can run under any locks.
  await tx.query(
    `update ${feedTable} set changed_xid = oldest_transaction(), session_id = ''
      where organization_id in (select f.organization_id from ${feedTable} f
        where f.organization_id = $1 and not (${isWanted}) for update skip locked)`,
    [organizationId],
  );
}

/**
 * {@link ensureFeed}, and locks the feed until the transaction ends: the next read is for the consumers of that time.
 * Lock it before any row that the read locks.
 */
export async function beginFeed(tx: Transaction, consumer: FeedConsumer, organizationId: string): Promise<void> {
  await ensureFeed(tx, consumer, organizationId);
  await tx.query(`select organization_id from ${consumer.feedTable} where organization_id = $1 for update`, [
    organizationId,
  ]);
}

/** An organization whose session events have consumers. */
export interface Feed {
  readonly organizationId: string;
  /** True if a session of it has changed since the last read. */
  readonly isBehind: boolean;
}

/** Lists every organization with consumers. */
export async function listFeeds({ store }: Pick<Services, 'store'>, consumer: FeedConsumer): Promise<Feed[]> {
  return store.query<Feed>(
    `select f.organization_id as "organizationId", exists (
         select 1 from session_change c where c.organization_id = f.organization_id
            and (c.changed_xid, c.session_id) > (f.changed_xid, f.session_id)) as "isBehind"
       from ${consumer.feedTable} f join organization o on o.id = f.organization_id and o.deleted_at is null
      where ${consumer.isWanted}`,
    [],
  );
}

/** Locks a feed. Returns the position up to which it was read; null if another process has it, or if there is none. */
export async function lockFeed(
  tx: Transaction,
  { feedTable }: FeedConsumer,
  organizationId: string,
): Promise<TransactionCursor | null> {
  const [row] = await tx.query<{ xid: string; id: string }>(
    `select f.changed_xid::text as xid, f.session_id as id from ${feedTable} f
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
