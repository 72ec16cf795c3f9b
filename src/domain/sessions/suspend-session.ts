import { permissionFor } from '../../auth/permissions.ts';
import { DomainError } from '../../common/errors.ts';
import type { Transaction } from '../../store/store.ts';
import { audit } from '../audit/record-audit.ts';
import type { Context } from '../context.ts';
import { changeSession, lockSession } from './change-session.ts';
import { getSessionFor, type SessionTarget } from './find-session.ts';
import { waiting } from './inbox.ts';
import type { NewEntry } from './log.ts';
import { openToolCalls } from './open-tool-calls.ts';
import { requireRoomToWake } from './queue-room.ts';
import type { SessionRecord } from './session.ts';

/** Returns the origin of a request, which `status_enum` of version 1 shows (docs/wire/status.md#values). */
export function requestOriginOf(context: Context): 'api' | 'console' {
  return context.isConsole === true ? 'console' : 'api';
}

/**
 * Suspends a session for its user: stops the agent and ends its turn. The next message starts the next turn. A session that
 * is suspended already does not change. NOT_FOUND, FORBIDDEN, and INVALID_STATE for a session that has ended.
 */
export async function suspendSession(context: Context, input: SessionTarget): Promise<SessionRecord> {
  const seen = await getSessionFor(context, permissionFor.changeSession, input);
  return context.store.transact(async (tx) => suspendLocked(context, tx, await lockRunAndSession(tx, seen.id)));
}

/** Locks run, head and session, in that order, and reads the session. */
export async function lockRunAndSession(tx: Transaction, sessionId: string): Promise<SessionRecord> {
  await tx.query('select 1 from run where session_id = $1 for update', [sessionId]);
  return lockSession(tx, sessionId, null);
}

/**
 * {@link suspendSession} on a session that {@link lockRunAndSession} has locked, without a permission check. Without `isActivity`, the
 * time of its last activity stays.
 */
export async function suspendLocked(
  context: Context,
  tx: Transaction,
  session: SessionRecord,
  isActivity = true,
): Promise<SessionRecord> {
  if (session.status === 'suspended') return session;
  if (session.status === 'exit' || session.status === 'error') {
    throw new DomainError('INVALID_STATE', `A session in status "${session.status}" has no agent to suspend.`);
  }
  const { id, organizationId } = session;
  const next = await sleepLocked(context, tx, session, {
    statusDetail: 'user_request',
    requestFrom: requestOriginOf(context),
    endsTurn: true,
    isActivity,
  });
  await audit(context, tx, 'sleep_session', { organizationId, sessionId: id, targetId: id });
  return next;
}

/** The reason for a suspension. */
export interface Suspension extends Pick<SessionRecord, 'statusDetail' | 'requestFrom'> {
  /**
   * True if an open turn ends. A user who suspends a session ends its turn. A suspension by the service itself (a limit, no
   * activity) leaves the turn open, and the next holder of the session resumes it.
   */
  readonly endsTurn: boolean;
  /** False if the time of the last activity stays; omitted: it is now. */
  readonly isActivity?: boolean;
}

// The subquery reads the row as it was before the update. A turn that its user has stopped is not resumed either.
const suspendRun = `
  with r as (
    update run set generation = run.generation + 1, queued_at = null, command = null, command_data = null,
           is_turn_open = run.is_turn_open and not before.ends_turn
      from (select is_turn_open, turn_count, $2::boolean or command is not null as ends_turn from run where session_id = $1) before
     where session_id = $1 returning run.generation, before.is_turn_open, before.turn_count, before.ends_turn)
  update session_head h set generation = r.generation from r where h.session_id = $1
  returning r.is_turn_open as "wasTurnOpen", r.turn_count as turn, r.ends_turn as "endsTurn"`;

/**
 * Suspends a session that {@link lockRunAndSession} has locked; `entries` state the reason. The session must be awake.
 * Increments the generation, so that nothing more from its agent is accepted. Keeps the lease: the worker deletes it
 * after it has stopped the agent, and until then no other worker starts an agent in the same workspace.
 */
export async function sleepLocked(
  context: Context,
  tx: Transaction,
  session: SessionRecord,
  { endsTurn: isToEnd, isActivity = true, ...reason }: Suspension,
  entries: readonly NewEntry[] = [],
): Promise<SessionRecord> {
  const [run] = await tx.query<{ wasTurnOpen: boolean; turn: number; endsTurn: boolean }>(suspendRun, [
    session.id,
    isToEnd,
  ]);
  const endsTurn = run?.endsTurn ?? isToEnd;
  const closed = run?.wasTurnOpen ? await openToolCalls(tx, session.id) : [];
  if (run?.wasTurnOpen && endsTurn) closed.push(suspendedTurn(run.turn));
  tx.afterCommit(() => context.notifier.notify(`command:${session.id}`));
  // The table has no transition from claimed to suspended: a claimed session is first returned to the queue.
  const free =
    session.status === 'claimed'
      ? await changeSession(context, tx, session, { status: 'new' }, [], isActivity)
      : session;
  const pendingQuestionId = endsTurn ? null : session.pendingQuestionId;
  const asleep = { status: 'suspended', request: null, isFresh: false, pendingQuestionId, ...reason } as const;
  return changeSession(context, tx, free, asleep, [...closed, ...entries], isActivity);
}

function suspendedTurn(turn: number): NewEntry {
  return { kind: 'TURN', data: { turn, phase: 'stopped', stopReason: 'suspended' } };
}

// A turn whose end was never written, or messages of the user that the agent has not received.
const findWork = `
  select r.is_turn_open or exists (select 1 from log_entry e where e.session_id = r.session_id and ${waiting}) as "hasWork"
    from run r where r.session_id = $1`;

async function hasWorkLeft(tx: Transaction, { id }: Pick<SessionRecord, 'id'>): Promise<boolean> {
  const [run] = await tx.query<{ hasWork: boolean }>(findWork, [id]);
  return run?.hasWork === true;
}

/**
 * Resumes a suspended session. Messages that the agent has not received, and a turn that the service itself suspended, go
 * back to the queue. Without either, the session waits for the user and has no process. A session that is being resumed
 * does not change. NOT_FOUND, FORBIDDEN, INVALID_STATE for any other, and LIMIT_EXCEEDED if it has work and the queue of its organization is full.
 */
export async function resumeSession(context: Context, input: SessionTarget): Promise<SessionRecord> {
  const seen = await getSessionFor(context, permissionFor.changeSession, input);
  return context.store.transact(async (tx) => {
    const session = await lockRunAndSession(tx, seen.id);
    if (session.isArchived) throw new DomainError('INVALID_STATE', 'The session is archived. Unarchive it first.');
    if (session.status === 'resuming') return session;
    if (session.status !== 'suspended') {
      throw new DomainError('INVALID_STATE', `A session in status "${session.status}" is not suspended.`);
    }
    if (await hasWorkLeft(tx, session)) await requireRoomToWake(context, tx, session.id);
    return resumeLocked(context, tx, session);
  });
}

/**
 * {@link resumeSession} on a suspended session that {@link lockRunAndSession} has locked, without a permission check. The time of the
 * last activity stays if there is no work: nothing happens then.
 */
export async function resumeLocked(context: Context, tx: Transaction, session: SessionRecord): Promise<SessionRecord> {
  const hasWork = await hasWorkLeft(tx, session);
  const request = { request: 'resume', requestFrom: requestOriginOf(context) } as const;
  const resuming = { status: 'resuming', statusDetail: null, ...request } as const;
  const woken = await changeSession(context, tx, session, resuming, [], hasWork);
  if (!hasWork) {
    const waiting = {
      status: 'running',
      statusDetail: 'waiting_for_user',
      request: null,
      requestFrom: null,
    } as const;
    return changeSession(context, tx, woken, waiting, [], false);
  }
  await tx.query('update run set queued_at = $2::timestamptz, crash_count = 0 where session_id = $1', [
    session.id,
    context.now(),
  ]);
  tx.afterCommit(() => context.notifier.notify('runs'));
  return woken;
}
