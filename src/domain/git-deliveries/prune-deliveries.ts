import type { Services } from '../context.ts';

/** Retention time of deliveries, in ms. It is also the time in which a body is recognized under another id. */
const retentionMs = 7 * 24 * 60 * 60 * 1_000;
/** Maximum number of finished deliveries of a connection that are kept. */
const maxKept = 100_000;
/** Number of rows that are deleted at once. */
const batchSize = 500;

/**
 * Deletes the webhooks of forges that are older than a week, those of deleted connections, and the oldest finished ones of a
 * connection with more than {@link maxKept}. May run in several processes at once.
 */
export async function pruneGitDeliveries(
  { store, now }: Pick<Services, 'store' | 'now'>,
  isStopped: () => boolean,
): Promise<void> {
  const before = new Date(now().getTime() - retentionMs);
  const statements: readonly [string, unknown[]][] = [
    [
      'delete from git_delivery where id in (select d.id from git_delivery d where d.received_at < $1::timestamptz limit $2) returning id',
      [before, batchSize],
    ],
    [
      `delete from git_delivery where id in (
         select d.id from git_connection c join git_delivery d on d.git_connection_id = c.id
          where c.deleted_at is not null limit $1) returning id`,
      [batchSize],
    ],
    [
      `delete from git_delivery where id in (
         select old.id from git_connection c cross join lateral (
           select d.id, d.next_attempt_at from git_delivery d where d.git_connection_id = c.id
            order by d.received_at desc, d.id desc offset $1 limit $2) old
          where old.next_attempt_at is null limit $2) returning id`,
      [maxKept, batchSize],
    ],
  ];
  for (const [sql, values] of statements) {
    for (;;) {
      const rows = await store.execute(sql, values);
      if (rows.length < batchSize || isStopped()) break;
    }
  }
}
