import type { Services } from '../context.ts';

/** Retention time of removals of resources, in ms: older cursors are refused. */
const retentionMs = 30 * 24 * 60 * 60 * 1_000;
/** Number of rows that are deleted at once. */
const batchSize = 500;

/**
 * Deletes the removals of resources older than {@link retentionMs}, and records the last of their transactions: older
 * cursors are invalid. May run in several processes at once.
 */
export async function forgetRemovals(
  { store, now }: Pick<Services, 'store' | 'now'>,
  isStopped: () => boolean,
): Promise<void> {
  const before = new Date(now().getTime() - retentionMs);
  for (;;) {
    const [row] = await store.execute<{ count: number }>(
      `with gone as (
         delete from resource_change where (kind, id) in (
           select c.kind, c.id from resource_change c where c.removed_at < $1::timestamptz limit $2)
         returning changed_xid)
       update installation set forgotten_changes_xid = greatest(forgotten_changes_xid, (select max(changed_xid) from gone))
        where exists (select 1 from gone) returning (select count(*)::int from gone) as count`,
      [before, batchSize],
    );
    if ((row?.count ?? 0) < batchSize || isStopped()) return;
  }
}
