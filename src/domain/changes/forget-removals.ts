import type { Services } from '../context.ts';

/** How long it is remembered that a resource was removed, in ms: a cursor from before is refused then. */
const retentionMs = 30 * 24 * 60 * 60 * 1_000;
/** Rows that are deleted at once. */
const batchSize = 500;

/**
 * Forgets the removals of resources that are past {@link retentionMs}, and notes the last transaction of them, before which a cursor is
 * of no use. May run in several processes at once.
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
