import type { Context } from '../../context.ts';

/** Times without a change after which sessions lose their workspaces, in ms; null: never. */
export interface WorkspaceTimes {
  /** Of a session that is over: terminated, expired, archived, or of a deleted organization. */
  readonly workspaceRetentionMs: number | null;
  /** Of a finished or failed session, which a message would resume. */
  readonly workspaceInactiveMs: number | null;
}

/** Time after its end in which a lease is still respected: the agents of its worker must have stopped by then. */
const graceMs = 5_000;

const isUnused = `
  r.queued_at is null and not exists (
    select 1 from lease l where l.session_id = r.session_id and l.expires_at > now() - ${graceMs} * interval '1 millisecond')`;

const isOver = `(s.ended_by in ('terminated', 'expired') or s.is_archived or o.deleted_at is not null)`;

// A workspace that was already deleted on the last worker is a stale copy on another one.
const isDue = `(
  r.workspace_deletion_requested_at is not null or r.workspace_deleted_at is not null
  or (${isOver} and greatest(s.updated_at, o.deleted_at) < $2::timestamptz)
  or (s.status in ('exit', 'error') and s.updated_at < $3::timestamptz))`;

const due = `
  select r.session_id, r.home_worker_id from run r
    join session s on s.id = r.session_id join organization o on o.id = s.organization_id
   where r.session_id = any($1::text[]) and ${isUnused} and ${isDue} for update of r skip locked`;

// Recorded before anything is deleted: a session that is resumed after a crash in between knows that its workspace is
// gone. Only the session's last worker has the workspace that the record refers to.
const takeDue = `
  with due as (${due}), marked as (
    update run r set workspace_deleted_at = $4::timestamptz, workspace_deletion_requested_at = null
      from due where r.session_id = due.session_id and (r.home_worker_id = $5 or r.home_worker_id is null)
    returning r.session_id)
  select session_id as "sessionId", session_id in (select session_id from marked) as "isHome" from due`;

/** A workspace that is to be deleted now. */
export interface DueWorkspace {
  readonly sessionId: string;
  /** True if this worker had the session last: the database now records that the workspace is deleted. */
  readonly isHome: boolean;
}

/** Selects those of the sessions whose workspaces are to be deleted, and records the deletion. */
export function takeDueWorkspaces(
  context: Context,
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
    `select session_id as id from run where workspace_deletion_requested_at is not null and home_worker_id = $1 limit 1000`,
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
