import { isKept } from '../../checkpoints/kept-checkpoints.ts';
import type { Context } from '../../context.ts';
import { isSessionHeld } from '../../legal-holds/held.ts';

/** Times without a change after which sessions lose their workspaces, in ms; null: never. */
export interface WorkspaceTimes {
  /** Of a session that is over: terminated, expired, archived, or of a deleted organization. */
  readonly workspaceRetentionMs: number | null;
  /** Of a finished or failed session, which a message would resume. */
  readonly workspaceInactiveMs: number | null;
  /** Of any inactive session whose newest state is stored: its space on the disk only, the session keeps its files. */
  readonly workspaceReleaseMs: number | null;
}

/** Time after its end in which a lease is still respected: the agents of its worker must have stopped by then. */
const graceMs = 5_000;

/** True of a run `r` that neither waits nor is leased. */
export const isUnused = `
  r.queued_at is null and not exists (
    select 1 from lease l where l.session_id = r.session_id and l.expires_at > now() - ${graceMs} * interval '1 millisecond')`;

const isOver = `(s.ended_by in ('terminated', 'expired') or s.is_archived or o.deleted_at is not null)`;

// Archiving a session writes an entry, and does not change the time of its last activity.
const lastEntryAt = '(select e.created_at from log_entry e where e.session_id = s.id order by e.seq desc limit 1)';

// A workspace that was already deleted on the last worker is a stale copy on another one.
const isDue = `(
  r.workspace_deletion_requested_at is not null or r.workspace_deleted_at is not null
  or (${isOver} and greatest(s.updated_at, o.deleted_at) < $2::timestamptz
      and (not s.is_archived or ${lastEntryAt} < $2::timestamptz))
  or (s.status in ('exit', 'error') and s.updated_at < $3::timestamptz))`;

const due = `
  select r.session_id, false as is_lost from run r
    join session s on s.id = r.session_id join organization o on o.id = s.organization_id
   where r.session_id = any($1::text[]) and ${isUnused} and ${isDue} and not ${isSessionHeld} for update of r skip locked`;

// Recorded before anything is deleted: a session that is resumed after a crash in between knows that its workspace is
// gone. Only the session's last worker has the workspace that the record refers to. Its checkpoints have the same files, so they
// go too, except those of snapshots. A job deletes the segments that nobody needs.
const marked = `
  marked as (
    update run r set workspace_deleted_at = $4::timestamptz, workspace_deletion_requested_at = null,
           checkpoint_id = null, is_restore_requested = false
      from due where r.session_id = due.session_id and (r.home_worker_id = $5 or r.home_worker_id is null or due.is_lost)
    returning r.session_id),
  unsaved as (
    delete from checkpoint c using marked where c.session_id = marked.session_id and not ${isKept} returning c.id)`;

const takeDue = `
  with due as (${due}), ${marked}
  select session_id as "sessionId", session_id in (select session_id from marked) as "isHome" from due`;

// No worker has the workspaces of released sessions, and nobody knows those of workers that are gone.
const takeStored = `
  with due as (
    select r.session_id, true as is_lost from run r
      join session s on s.id = r.session_id join organization o on o.id = s.organization_id
     where r.checkpoint_id is not null and ${isUnused} and ${isDue} and not ${isSessionHeld}
       and not exists (select 1 from worker w where w.id = r.home_worker_id
             and greatest(w.expires_at, w.seen_at) > now() - interval '1 day')
     limit $1 for update of r skip locked), ${marked}
  select count(*)::int as count from marked`;

/** A workspace that is to be deleted now. */
export interface DueWorkspace {
  readonly sessionId: string;
  /** True if this worker had the session last: the database now records that the workspace is deleted. */
  readonly isHome: boolean;
}

/** Selects those of the sessions whose workspaces are to be deleted, and records the deletion. */
export function takeDueWorkspaces(
  context: Pick<Context, 'store' | 'now'>,
  workerId: string,
  { workspaceRetentionMs, workspaceInactiveMs }: WorkspaceTimes,
  sessionIds: readonly string[],
): Promise<DueWorkspace[]> {
  const now = context.now();
  const before = (ms: number | null) => (ms === null ? null : new Date(now.getTime() - ms));
  return context.store.execute<DueWorkspace>(takeDue, [
    sessionIds,
    before(workspaceRetentionMs),
    before(workspaceInactiveMs),
    now,
    workerId,
  ]);
}

/** Maximum number of sessions in one statement. */
const maxStored = 500;

/**
 * Deletes the checkpoints of sessions that no running worker has a workspace of, if these are to be deleted. Returns the number of
 * sessions, at most 500.
 */
export async function deleteDueCheckpoints(
  context: Context,
  { workspaceRetentionMs, workspaceInactiveMs }: WorkspaceTimes,
): Promise<number> {
  const now = context.now();
  const before = (ms: number | null) => (ms === null ? null : new Date(now.getTime() - ms));
  const values = [maxStored, before(workspaceRetentionMs), before(workspaceInactiveMs), now, null];
  const [row] = await context.store.execute<{ count: number }>(takeStored, values);
  return row?.count ?? 0;
}

/** Reverts the record of {@link takeDueWorkspaces}, for a directory that could not be moved away. */
export async function keepWorkspace(context: Context, sessionId: string): Promise<void> {
  await context.store.execute(
    'update run set workspace_deleted_at = null, workspace_deletion_requested_at = $2::timestamptz where session_id = $1',
    [sessionId, context.now()],
  );
}

/** Lists the sessions last run by this worker whose workspaces have been requested to be deleted. */
export async function listRequestedWorkspaces(context: Context, workerId: string): Promise<string[]> {
  const rows = await context.store.query<{ id: string }>(
    `select session_id as id from run where workspace_deletion_requested_at is not null and (home_worker_id = $1 or home_worker_id is null) limit 1000`,
    [workerId],
  );
  return rows.map(({ id }) => id);
}

/** Returns those of the ids that belong to no session in this database. */
export async function findUnknownSessions(context: Context, ids: readonly string[]): Promise<string[]> {
  const rows = await context.store.query<{ id: string }>(
    'select w.id from unnest($1::text[]) w(id) where not exists (select 1 from session s where s.id = w.id)',
    [ids],
  );
  return rows.map(({ id }) => id);
}
