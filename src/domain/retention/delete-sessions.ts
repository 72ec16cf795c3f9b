import type { Transaction } from '../../store/store.ts';
import { audit } from '../audit/record-audit.ts';
import { isKept } from '../checkpoints/kept-checkpoints.ts';
import type { Services } from '../context.ts';
import { isUnused } from '../execution/workspaces/deletable.ts';
import { isSessionHeld } from '../legal-holds/held.ts';
import { asSystem } from '../sessions/as-system.ts';

/** Sessions in one transaction. */
const batchSize = 50;
/** Entries of logs in one statement. */
const entryBatchSize = 1_000;

// Archiving a session writes an entry, and does not change the time of its last activity. A session goes after its children, and after the
// snapshots and the results of set-ups that have its files.
const isDue = `(
  s.updated_at < $2::timestamptz and (s.status in ('exit', 'error') or s.is_archived or o.deleted_at is not null)
  and coalesce((select e.created_at from log_entry e where e.session_id = s.id order by e.seq desc limit 1) < $2::timestamptz, true)
  and ${isUnused} and not ${isSessionHeld}
  and not exists (select 1 from session k where k.parent_id = s.id)
  and not exists (select 1 from environment_build b where b.session_id = s.id and b.state in ('QUEUED', 'BUILDING'))
  and not exists (select 1 from checkpoint c where c.session_id = s.id and ${isKept}))`;

// From the newest session backwards: children are newer than their parents.
const page = `
  select s.id, s.created_at as "createdAt" from session s
   where s.created_at < $1::timestamptz and ($2::timestamptz is null or (s.created_at, s.id) < ($2::timestamptz, $3::text))
   order by s.created_at desc, s.id desc limit $4`;

// All code that changes a session, forks it or makes a snapshot of it locks its run. The check of $1 is a statement of its own, after the lock: it
// sees what others have committed before.
const lockFree = `
  select session_id as id from run where session_id = any($1::text[]) order by session_id for update skip locked`;

const due = `
  select s.id, s.organization_id as "organizationId", o.enterprise_id as "enterpriseId"
    from run r join session s on s.id = r.session_id join organization o on o.id = s.organization_id
   where s.id = any($1::text[]) and ${isDue} order by s.id`;

/**
 * The tables with a bounded number of rows for each session, which are deleted with it. The log and the attachments follow, see
 * `clearDeletedSessions`. Usage, audit entries and the runs of automations stay.
 */
export const sessionTables: readonly string[] = [
  ...['session_head', 'session_change', 'session_tag', 'session_read', 'session_pin', 'session_secret'],
  ...[
    'session_repository',
    'session_review',
    'pull_request',
    'pull_request_intent',
    'repository_change',
    'message_change',
  ],
  ...['follow_up', 'following_session', 'automation_progress', 'webhook_progress', 'webhook_delivery', 'mention'],
  ...['checkpoint', 'lease', 'run'],
];
const deleteRows = `
  with free as materialized (select s.id from session s where s.id = any($1::text[]) and not ${isSessionHeld}),
  ${sessionTables.map((table) => `of_${table} as (delete from ${table} t using free where t.session_id = free.id)`).join(', ')},
  gone as (
    delete from session s using free where s.id = free.id
    returning s.id, s.organization_id, s.is_unlisted, s.user_id, s.service_user_id, s.created_at)
  insert into deleted_session (session_id, organization_id, is_unlisted, user_id, service_user_id, created_at, deleted_at)
  select gone.*, $2::timestamptz from gone returning session_id as id`;

interface DueSession {
  readonly id: string;
  readonly organizationId: string;
  readonly enterpriseId: string;
}

/**
 * Deletes, as the service itself, the sessions that ended before the retention time and that no legal hold covers, with all they have except their usage. Returns their
 * number. From the commit on, a session is not found and in no list; its log and files are deleted then, in batches. May run in several
 * processes at once: they skip each other's sessions. A process that dies leaves nothing that the next one does not delete.
 */
export async function deleteOldSessions(services: Services, isStopped: () => boolean): Promise<number> {
  const { sessionMs } = services.retention;
  let count = 0;
  if (sessionMs !== null) {
    const before = new Date(services.now().getTime() - sessionMs);
    let last: { id: string; createdAt: Date } | null = null;
    while (!isStopped()) {
      const values = [before, last?.createdAt ?? null, last?.id ?? null, batchSize];
      const rows: { id: string; createdAt: Date }[] = await services.store.query(page, values);
      const ids = rows.map(({ id }) => id);
      // A parent is due as soon as its children are gone.
      for (let deleted = -1; deleted !== 0; count += deleted) deleted = await deleteBatch(services, ids, before);
      last = rows.at(-1) ?? null;
      if (rows.length < batchSize) break;
    }
  }
  await clearDeletedSessions(services, isStopped);
  return count;
}

async function deleteBatch(services: Services, ids: readonly string[], before: Date): Promise<number> {
  const { store } = services;
  const likely = await store.query<DueSession>(due, [ids, before]);
  if (likely.length === 0) return 0;
  return store.transact(async (tx) => {
    const free = await tx.query<{ id: string }>(lockFree, [likely.map(({ id }) => id)]);
    const sessions = await tx.query<DueSession>(due, [free.map(({ id }) => id), before]);
    if (sessions.length === 0) return 0;
    const values = [sessions.map(({ id }) => id), services.now()];
    // A hold may have been put on one since the check.
    const rows = await tx.query<{ id: string }>(deleteRows, values);
    const deleted = new Set(rows.map(({ id }) => id));
    for (const session of sessions) if (deleted.has(session.id)) await announce(services, tx, session);
    return deleted.size;
  });
}

async function announce(
  services: Services,
  tx: Transaction,
  { id, organizationId, enterpriseId }: DueSession,
): Promise<void> {
  const context = asSystem(services, enterpriseId);
  await audit(context, tx, 'delete_session', { organizationId, sessionId: id, targetId: id });
  tx.afterCommit(() => {
    services.notifier.notify(`session:${id}`);
    services.notifier.notify(`organization:${organizationId}`);
  });
}

const uncleared = `select session_id as id from deleted_session where cleared_at is null order by deleted_at limit $1`;

const deleteEntries = `
  delete from log_entry where (session_id, seq) in (
    select e.session_id, e.seq from log_entry e where e.session_id = $1 limit $2) returning 1 as gone`;

const setCleared = `
  update deleted_session d set cleared_at = $2::timestamptz
   where d.session_id = $1 and not exists (select 1 from log_entry e where e.session_id = d.session_id) returning d.session_id`;

/**
 * Deletes the logs of deleted sessions. Their attachments are deleted with others that nobody can use (`deleteOrphanedAttachments`), and
 * their segments with those that no checkpoint needs (`sweepCheckpoints`).
 */
async function clearDeletedSessions({ store, now }: Services, isStopped: () => boolean): Promise<void> {
  while (!isStopped()) {
    const rows = await store.query<{ id: string }>(uncleared, [batchSize]);
    for (const { id } of rows) {
      while ((await store.execute(deleteEntries, [id, entryBatchSize])).length === entryBatchSize) {
        if (isStopped()) return;
      }
      await store.execute(setCleared, [id, now()]);
    }
    if (rows.length < batchSize) return;
  }
}
