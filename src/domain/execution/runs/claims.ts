import { type Field, type Row, selectFields } from '../../../store/tables.ts';
import type { Context } from '../../context.ts';
import { changeSession, lockSession } from '../../sessions/change-session.ts';
import type { NewEntry } from '../../sessions/log.ts';
import { graceMs, type QueueCursor, type QueuePoller, readCandidates } from './fair-queue.ts';

/** A session that this worker has claimed, with its generation. */
export interface ClaimedRun {
  readonly sessionId: string;
  readonly generation: number;
  readonly workerId: string;
  /** The agent's profile; null: the default. */
  readonly agent: string | null;
  readonly agentSessionId: string | null;
  /** True if another worker had claimed it before: a workspace of it here may be of an earlier time. */
  readonly isMoved: boolean;
  /** True if its workspace and home were deleted: remains of them must not be used. */
  readonly isWorkspaceDeleted: boolean;
  /** The newest checkpoint; null: none. */
  readonly checkpointId: string | null;
  /** True if the checkpoint, or an empty workspace, replaces what this worker may have. */
  readonly isRestoreRequested: boolean;
  /** True if an earlier worker sent a turn whose end was never written. */
  readonly isTurnOpen: boolean;
  /** `interrupt`: a user has stopped that turn. */
  readonly command: string | null;
}

/** Maximum number of sessions of one claim. */
const batchSize = 8;

// One claim at a time, over all processes: each counts the sessions of the one before it, so that no limit is exceeded.
const takeTurn = `select pg_advisory_xact_lock(hashtext('switchyard:claims'))`;

const isDrained = 'select 1 from worker where id = $1 and drain_requested_at is not null';

// Takes all locks of a session at once, in the usual lock order, and skips a session that is locked: a claim never
// waits for a session, and so does not delay other claims.
const lockCandidates = `
  select r.session_id as "sessionId", r.generation + 1 as generation, r.home_worker_id as "homeWorkerId", s.agent,
         r.workspace_deleted_at is not null or r.workspace_deletion_requested_at is not null as "isWorkspaceDeleted"
    from unnest($1::text[], $2::int[]) with ordinality as c(session_id, generation, rank)
    join run r on r.session_id = c.session_id and r.generation = c.generation
    join session_head h on h.session_id = r.session_id join session s on s.id = r.session_id
   where r.queued_at is not null order by c.rank for update of r, h, s skip locked`;

// The lease decides: a second worker may have read `lease` before the first one committed, so the condition is checked
// again here, on the row itself.
const takeLease = `
  insert into lease as l (session_id, worker_id, generation, expires_at)
  values ($1, $2, $3, now() + $4::int * interval '1 millisecond')
  on conflict (session_id) do update
     set worker_id = excluded.worker_id, generation = excluded.generation, expires_at = excluded.expires_at
   where l.expires_at < now() - $5::int * interval '1 millisecond'
  returning session_id`;

const takenFields = [
  'sessionId',
  'generation',
  'agentSessionId',
  'isTurnOpen',
  'command',
  'checkpointId',
  'isRestoreRequested',
] as const satisfies readonly Field<'Run'>[];

// A worker may end between the claim and the restore: the request stays until the workspace is the right one. A session that was
// handed over has no home; neither has one that has never run, which has no checkpoint. The checkpoints of a deleted workspace
// are deleted with it.
const takeRun = `
  update run set generation = $2, home_worker_id = $3, workspace_deleted_at = null, workspace_deletion_requested_at = null,
         checkpoint_id = case when $4::boolean then null else checkpoint_id end,
         is_restore_requested = is_restore_requested or $4::boolean
           or coalesce(home_worker_id <> $3, checkpoint_id is not null)
   where session_id = $1
  returning ${selectFields('Run', 'run', takenFields)}`;

// A worker counts as alive until the end of the leases that it last took or extended, whether it still has them or not:
// an idle worker writes nothing.
const liveOn = `
  insert into worker (id, expires_at) values ($1, now() + $2::int * interval '1 millisecond')
  on conflict (id) do update set expires_at = excluded.expires_at`;

type LockedCandidate = Pick<Row<'Run'>, 'sessionId' | 'generation' | 'homeWorkerId'> &
  Pick<Row<'Session'>, 'agent'> & { readonly isWorkspaceDeleted: boolean };

/** A worker that claims, and its free capacity. */
export interface Claimant {
  readonly workerId: string;
  readonly leaseMs: number;
  /** Time that a session waits for a dead worker with its workspace before another worker may claim it. */
  readonly affinityMs: number;
  /** The same if a checkpoint can be restored instead; missing: the same time. */
  readonly storedAffinityMs?: number;
  /** If omitted: every claim starts at the beginning of the queue. */
  readonly cursor?: QueueCursor;
}

/** The free capacity of a worker. */
export interface Room {
  readonly slots: number;
  readonly memoryMb: number;
  /** True if it runs nothing: then the first session fits, however large it is. */
  readonly isEmpty: boolean;
  /** Returns the memory of a session with this agent. */
  memoryOf(agent: string | null): number;
}

const deletedNotice: NewEntry = {
  kind: 'NOTICE',
  body: 'The workspace of this session was deleted while the session was over or inactive. The agent starts with an empty one.',
};

/** The result of a claim. */
export interface Claim {
  readonly claimed: ClaimedRun[];
  /** The next session needs more memory than is free, and the sessions after it wait with it. */
  readonly isShort: boolean;
  /** More sessions can be claimed at once. */
  readonly hasMore: boolean;
}

/**
 * Claims waiting sessions by fair shares, up to the free capacity, with a lease by the database's clock. A claim
 * increments the generation, so that later writes of an earlier worker are refused.
 */
export async function claimRuns(context: Context, { leaseMs, ...poller }: Claimant, room: Room): Promise<Claim> {
  const { workerId } = poller;
  const max = Math.min(room.slots, batchSize);
  // Usually no session waits, which is checked without a lock.
  const after = poller.cursor?.after ?? null;
  if ((await readCandidates(context, context.store.query, poller, 1)).length === 0)
    return { claimed: [], isShort: false, hasMore: false };
  return context.store.transact(async (tx) => {
    const claimed: ClaimedRun[] = [];
    let leftMb = room.memoryMb;
    let isShort = false;
    await tx.query(takeTurn);
    // Its drain may have been requested since its last report.
    if ((await tx.query(isDrained, [workerId])).length > 0) return { claimed, isShort, hasMore: false };
    if (poller.cursor) poller.cursor.after = after;
    const candidates = await readCandidates(context, (sql, values) => tx.query(sql, values), poller, max);
    const found = await tx.query<LockedCandidate>(lockCandidates, [
      candidates.map((candidate) => candidate.sessionId),
      candidates.map((candidate) => candidate.generation),
    ]);
    for (const { sessionId, generation, homeWorkerId, agent, isWorkspaceDeleted } of found) {
      const needsMb = room.memoryOf(agent);
      isShort = needsMb > leftMb && !(room.isEmpty && claimed.length === 0);
      if (isShort) break;
      const taken = await tx.query(takeLease, [sessionId, workerId, generation, leaseMs, graceMs]);
      if (taken.length === 0) continue;
      const [run] = await tx.query<Pick<Row<'Run'>, (typeof takenFields)[number]>>(takeRun, [
        sessionId,
        generation,
        workerId,
        isWorkspaceDeleted,
      ]);
      await tx.query('update session_head set generation = $2 where session_id = $1', [sessionId, generation]);
      const session = await lockSession(tx, sessionId, generation);
      const isClaimable = session.status === 'new' || session.status === 'running';
      const isMoved = homeWorkerId !== null && homeWorkerId !== workerId;
      await changeSession(
        context,
        tx,
        session,
        isClaimable ? { status: 'claimed', statusDetail: null } : {},
        isWorkspaceDeleted ? [deletedNotice] : [],
      );
      leftMb -= needsMb;
      if (run) claimed.push({ ...run, workerId, agent, isMoved, isWorkspaceDeleted });
    }
    // Done last: renewals write the same row, after the leases. If it were locked earlier while another transaction has
    // a session locked, it would delay the renewals until all leases have expired, and two such transactions would be a
    // deadlock.
    if (claimed.length > 0) await tx.query(liveOn, [workerId, leaseMs]);
    return { claimed, isShort, hasMore: candidates.length === max && max < room.slots };
  });
}

/** Counts the sessions that this worker could claim now, up to `max`. */
export async function countWaiting(context: Context, poller: QueuePoller, max: number): Promise<number> {
  return (await readCandidates(context, context.store.query, poller, max)).length;
}

/**
 * Extends this worker's leases and the time for which it counts as alive. Returns the sessions that it still leases; a
 * missing one was claimed by another worker, suspended or ended, or its organization was deleted.
 */
export async function renewLeases(
  context: Context,
  workerId: string,
  leaseMs: number,
  runs: readonly Pick<ClaimedRun, 'sessionId' | 'generation'>[],
): Promise<ReadonlySet<string>> {
  const rows = await context.store.executeUrgent<{ sessionId: string }>(
    `with alive as (${liveOn})
     update lease l set expires_at = now() + $2::int * interval '1 millisecond'
       from unnest($3::text[], $4::int[]) as h(session_id, generation)
       join run r on r.session_id = h.session_id and r.generation = h.generation
       join session s on s.id = h.session_id join organization o on o.id = s.organization_id and o.deleted_at is null
      where l.session_id = h.session_id and l.generation = h.generation and l.worker_id = $1 returning l.session_id as "sessionId"`,
    [workerId, leaseMs, runs.map((run) => run.sessionId), runs.map((run) => run.generation)],
  );
  return new Set(rows.map((row) => row.sessionId));
}

/**
 * Releases a session, unless another worker has claimed it or it has ended. The agent must have been stopped before.
 * Its remaining work waits for this worker first, before another may claim it. With `isHandedOver`, any worker may claim it at
 * once: the state of its workspace is stored.
 */
export async function releaseLease(
  context: Context,
  run: Pick<ClaimedRun, 'sessionId' | 'generation'>,
  isHandedOver = false,
): Promise<void> {
  await context.store.execute(
    `with given as (delete from lease where session_id = $1 and generation = $2 returning session_id)
     update run r set queued_at = case when r.queued_at is null then null else greatest(r.queued_at, $3::timestamptz) end,
            home_worker_id = case when $4::boolean and r.checkpoint_id is not null then null else r.home_worker_id end
       from given
      where r.session_id = given.session_id and (r.queued_at is not null or $4::boolean) returning r.session_id`,
    [run.sessionId, run.generation, context.now(), isHandedOver],
  );
  context.notifier.notify('runs');
}

/**
 * Deletes a worker's own leases at its start: its data directory is locked, so no other process holds them. Also
 * deletes workers that have not been alive for a day.
 */
export async function voidOwnLeases(context: Context, workerId: string): Promise<void> {
  await context.store.execute('delete from lease where worker_id = $1', [workerId]);
  await context.store.execute(
    `delete from worker where greatest(expires_at, seen_at, drain_requested_at) < now() - interval '1 day'`,
  );
}

/** Records that a worker stops: sessions with their workspaces on it wait from now on as for a worker that has died. */
export async function leaveQueue(context: Context, workerId: string): Promise<void> {
  await context.store.execute('update worker set expires_at = least(expires_at, now()), seen_at = null where id = $1', [
    workerId,
  ]);
}
