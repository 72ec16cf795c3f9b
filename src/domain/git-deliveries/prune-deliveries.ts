import type { Services } from '../context.ts';
import { isOfHeldSession, isRecordHeld } from '../legal-holds/held.ts';

/** Retention time of deliveries, in ms. It is also the time in which a body is recognized under another id. */
const retentionMs = 7 * 24 * 60 * 60 * 1_000;
/** Retention time of mentions, in ms: the same text starts nothing twice within it. */
const mentionRetentionMs = 90 * 24 * 60 * 60 * 1_000;
/** Maximum number of finished deliveries of a connection that are kept. */
const maxKept = 100_000;
/** Number of rows that are deleted at once. */
const batchSize = 500;

/** The rest of deleted connections. */
const ofDeletedConnections = [
  `delete from git_delivery where id in (
     select d.id from git_connection c join git_delivery d on d.git_connection_id = c.id
      where c.deleted_at is not null limit $1) returning id`,
  `delete from forge_event where id in (
     select e.id from git_connection c join forge_event e on e.git_connection_id = c.id
      where c.deleted_at is not null limit $1) returning id`,
  `delete from mention where id in (
     select t.id from git_connection c join mention t on t.git_connection_id = c.id
      where c.deleted_at is not null and not ${isRecordHeld} limit $1) returning id`,
  `delete from following_session where (followed_pull_request_id, session_id) in (
     select t.followed_pull_request_id, t.session_id from git_connection c
       join followed_pull_request f on f.git_connection_id = c.id
       join following_session t on t.followed_pull_request_id = f.id
      where c.deleted_at is not null and not ${isOfHeldSession} limit $1) returning session_id`,
  `delete from followed_pull_request where id in (
     select f.id from git_connection c join followed_pull_request f on f.git_connection_id = c.id
      where c.deleted_at is not null and not exists (
        select 1 from following_session l where l.followed_pull_request_id = f.id) limit $1) returning id`,
  `delete from git_connection_pause where git_connection_id in (
     select p.git_connection_id from git_connection c join git_connection_pause p on p.git_connection_id = c.id
      where c.deleted_at is not null limit $1) returning git_connection_id`,
] as const;

/**
 * Deletes the webhooks of forges that are older than a week, the oldest finished ones of a connection with more than
 * {@link maxKept}, mentions, and what deleted connections leave behind. Mentions and pull requests of sessions stay if a legal hold covers
 * them; a webhook of a forge belongs to no session. May run in several processes at once.
 */
export async function pruneGitDeliveries(
  { store, now }: Pick<Services, 'store' | 'now'>,
  isStopped: () => boolean,
): Promise<void> {
  const before = new Date(now().getTime() - retentionMs);
  const mentionsBefore = new Date(now().getTime() - mentionRetentionMs);
  const statements: readonly [string, unknown[]][] = [
    [
      'delete from git_delivery where id in (select d.id from git_delivery d where d.received_at < $1::timestamptz limit $2) returning id',
      [before, batchSize],
    ],
    [
      'delete from forge_event where id in (select e.id from forge_event e where e.received_at < $1::timestamptz limit $2) returning id',
      [before, batchSize],
    ],
    [
      `delete from mention where id in (
         select t.id from mention t where t.created_at < $1::timestamptz and not ${isRecordHeld} limit $2) returning id`,
      [mentionsBefore, batchSize],
    ],
    [
      `delete from git_delivery where id in (
         select old.id from git_connection c cross join lateral (
           select d.id, d.next_attempt_at from git_delivery d where d.git_connection_id = c.id
            order by d.received_at desc, d.id desc offset $1 limit $2) old
          where old.next_attempt_at is null limit $2) returning id`,
      [maxKept, batchSize],
    ],
    ...ofDeletedConnections.map((sql): [string, unknown[]] => [sql, [batchSize]]),
  ];
  for (const [sql, values] of statements) {
    for (;;) {
      const rows = await store.execute(sql, values);
      if (rows.length < batchSize || isStopped()) break;
    }
  }
}
