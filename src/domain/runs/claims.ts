import type { Context } from '../context.ts';
import { changeSession, lockSession } from '../sessions/change-session.ts';
import type { NewEntry } from '../sessions/log.ts';

/** How long after its end a lease is still left alone: its worker must have stopped its agents by then. */
const graceMs = 5_000;

/** A session that this worker holds, under its generation. */
export interface ClaimedRun {
  readonly sessionId: string;
  readonly generation: number;
  readonly workerId: string;
  /** The agent's profile; null: the default. */
  readonly agent: string | null;
  readonly agentSessionId: string | null;
  /** Another worker held it before, and has its workspace. */
  readonly isMoved: boolean;
  /** A turn was sent by an earlier holder and its end was never written. */
  readonly isTurnOpen: boolean;
}

// What waits for a worker. A deleted organization's sessions wait to be terminated, and for nothing else.
const waiting = `
    from run r join session s on s.id = r.session_id join organization o on o.id = s.organization_id and o.deleted_at is null
    left join lease l on l.session_id = r.session_id`;

// A session whose question is open and not answered has nothing for an agent to do: it is claimed when an answer is there.
const isForUserToAnswer = `
  s.status = 'running' and s.status_detail in ('waiting_for_user', 'waiting_for_approval')
  and not exists (select 1 from log_entry e where e.session_id = r.session_id and e.message_type is not null
    and e.message_type <> 'agent_message' and e.seq > r.delivered_seq and not e.seq = any(r.answered_seqs))`;

// Whoever has the workspace is waited for, from when the session began to wait or its last lease ended; as long as it is
// alive it will come to this, also between two of its sessions, when it has no lease: another would begin with nothing.
const candidates = `
  select r.session_id as "sessionId", r.generation + 1 as generation, r.home_worker_id as "homeWorkerId", s.agent ${waiting}
   where r.queued_at <= $1::timestamptz and (l.session_id is null or l.expires_at < now() - $2::int * interval '1 millisecond')
     and not (${isForUserToAnswer})
     and (r.home_worker_id is null or r.home_worker_id = $3
          or (r.queued_at <= $1::timestamptz - $4::int * interval '1 millisecond'
              and (l.session_id is null or l.expires_at < now() - ($2::int + $4::int) * interval '1 millisecond')
              and not exists (select 1 from worker h where h.id = r.home_worker_id
                                and h.expires_at > now() - $4::int * interval '1 millisecond')))`;

const oldestFirst = `${candidates} order by r.queued_at limit $5 for update of r skip locked`;

// The lease is the arbiter: a second worker may have read `lease` before the first one committed, so the condition is
// asked again here, on the row itself.
const takeLease = `
  insert into lease as l (session_id, worker_id, generation, expires_at)
  values ($1, $2, $3, now() + $4::int * interval '1 millisecond')
  on conflict (session_id) do update
     set worker_id = excluded.worker_id, generation = excluded.generation, expires_at = excluded.expires_at
   where l.expires_at < now() - $5::int * interval '1 millisecond'
  returning session_id`;

const takeRun = `
  update run set generation = $2, home_worker_id = $3 where session_id = $1
  returning session_id as "sessionId", generation, agent_session_id as "agentSessionId", is_turn_open as "isTurnOpen"`;

// A worker counts as alive as long as the leases that it took or extended last, whether it still has them or not: one that
// has nothing to do writes nothing.
const liveOn = `
  insert into worker (id, expires_at) values ($1, now() + $2::int * interval '1 millisecond')
  on conflict (id) do update set expires_at = excluded.expires_at`;

interface Candidate {
  sessionId: string;
  generation: number;
  homeWorkerId: string | null;
  agent: string | null;
}

/** A worker that claims, and what it has room for. */
export interface Claimant {
  readonly workerId: string;
  readonly leaseMs: number;
  /** How long a session waits for the worker that has its workspace, and is not alive, before another may take it. */
  readonly affinityMs: number;
}

/** What a worker has room for. */
export interface Room {
  readonly slots: number;
  readonly memoryMb: number;
  /** Whether it runs nothing: then the first session fits, however large it is. */
  readonly isEmpty: boolean;
  /** What a session with this agent takes. */
  memoryOf(agent: string | null): number;
}

const movedNotice: NewEntry = {
  kind: 'NOTICE',
  body: 'Another worker has taken the session over. Its workspace stayed with the first one; this one begins empty.',
};

/**
 * Claims waiting sessions, oldest first, as far as there is room, with a lease by the database's clock. Taking one moves its
 * generation, so that nothing an earlier holder still writes is accepted. `isShort`: the next one needs more memory than there
 * is, and those after it wait with it.
 */
export async function claimRuns(
  context: Context,
  { workerId, leaseMs, affinityMs }: Claimant,
  room: Room,
): Promise<{ claimed: ClaimedRun[]; isShort: boolean }> {
  return context.store.transact(async (tx) => {
    const claimed: ClaimedRun[] = [];
    let leftMb = room.memoryMb;
    let isShort = false;
    const found = await tx.query<Candidate>(oldestFirst, [context.now(), graceMs, workerId, affinityMs, room.slots]);
    for (const { sessionId, generation, homeWorkerId, agent } of found) {
      const needsMb = room.memoryOf(agent);
      isShort = needsMb > leftMb && !(room.isEmpty && claimed.length === 0);
      if (isShort) break;
      const taken = await tx.query(takeLease, [sessionId, workerId, generation, leaseMs, graceMs]);
      if (taken.length === 0) continue;
      const [run] = await tx.query<Pick<ClaimedRun, 'sessionId' | 'generation' | 'agentSessionId' | 'isTurnOpen'>>(
        takeRun,
        [sessionId, generation, workerId],
      );
      await tx.query('update session_head set generation = $2 where session_id = $1', [sessionId, generation]);
      const session = await lockSession(tx, sessionId, generation);
      const isClaimable = session.status === 'new' || session.status === 'running';
      const isMoved = homeWorkerId !== null && homeWorkerId !== workerId;
      await changeSession(
        context,
        tx,
        session,
        isClaimable ? { status: 'claimed', statusDetail: null } : {},
        isMoved ? [movedNotice] : [],
      );
      leftMb -= needsMb;
      if (run) claimed.push({ ...run, workerId, agent, isMoved });
    }
    // Last of all: renewals write the same row, after the leases. Whoever held it here while another has a session locked
    // would hold them up until all leases have run out, and two that wait for each other's would be a deadlock.
    if (claimed.length > 0) await tx.query(liveOn, [workerId, leaseMs]);
    return { claimed, isShort };
  });
}

/** How many sessions wait for this worker, of at most so many. Cheap: an index on what is queued. */
export async function countWaiting(
  context: Context,
  { workerId, affinityMs }: Omit<Claimant, 'leaseMs'>,
  most: number,
): Promise<number> {
  const values = [context.now(), graceMs, workerId, affinityMs, most];
  return (await context.store.query(`${candidates} limit $5`, values)).length;
}

/**
 * Extends this worker's leases, and how long it counts as alive, and says which sessions it still holds; one that is missing
 * was taken, put to sleep or ended, or its organization was deleted.
 */
export async function renewLeases(
  context: Context,
  workerId: string,
  leaseMs: number,
  held: readonly Pick<ClaimedRun, 'sessionId' | 'generation'>[],
): Promise<ReadonlySet<string>> {
  const rows = await context.store.execute<{ sessionId: string }>(
    `with alive as (${liveOn})
     update lease l set expires_at = now() + $2::int * interval '1 millisecond'
       from unnest($3::text[], $4::int[]) as h(session_id, generation)
       join run r on r.session_id = h.session_id and r.generation = h.generation
       join session s on s.id = h.session_id join organization o on o.id = s.organization_id and o.deleted_at is null
      where l.session_id = h.session_id and l.generation = h.generation and l.worker_id = $1 returning l.session_id as "sessionId"`,
    [workerId, leaseMs, held.map((run) => run.sessionId), held.map((run) => run.generation)],
  );
  return new Set(rows.map((row) => row.sessionId));
}

/**
 * Gives a session back, unless it was already taken or ended. The agent must have been stopped before. What is left to do
 * waits for this worker from now on, before another takes it.
 */
export async function releaseLease(context: Context, run: Pick<ClaimedRun, 'sessionId' | 'generation'>): Promise<void> {
  await context.store.execute(
    `with given as (delete from lease where session_id = $1 and generation = $2 returning session_id)
     update run r set queued_at = greatest(r.queued_at, $3::timestamptz) from given
      where r.session_id = given.session_id and r.queued_at is not null returning r.session_id`,
    [run.sessionId, run.generation, context.now()],
  );
  context.bell.ring('runs');
}

/**
 * At a worker's start its own leases are void at once: it lives in a locked directory, so no other process holds them. Workers
 * that nobody has heard of for a day are forgotten.
 */
export async function voidOwnLeases(context: Context, workerId: string): Promise<void> {
  await context.store.execute('delete from lease where worker_id = $1', [workerId]);
  await context.store.execute(`delete from worker where expires_at < now() - interval '1 day'`);
}

/** A worker that stops says so: what waits for its workspaces waits from now on as for one that has died. */
export async function leaveQueue(context: Context, workerId: string): Promise<void> {
  await context.store.execute('update worker set expires_at = now() where id = $1 and expires_at > now()', [workerId]);
}
