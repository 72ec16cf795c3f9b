import { permissionFor } from '../../auth/permissions.ts';
import { ownerOf } from '../../auth/viewer.ts';
import { DomainError } from '../../common/errors.ts';
import type { Transaction } from '../../store/store.ts';
import { audit } from '../audit/record-audit.ts';
import type { Context } from '../context.ts';
import { type CreateOptions, findReplay } from '../idempotency.ts';
import { changeSession } from './change-session.ts';
import { getSessionFor, type SessionTarget } from './find-session.ts';
import { isUsers, waiting } from './inbox.ts';
import { requireRoomToWake } from './queue-room.ts';
import { endQuotaWait, isWaitingForQuota } from './quota-wait.ts';
import type { SessionRecord } from './session.ts';
import { lockRunAndSession } from './suspend-session.ts';
import { requireTaking, wakeChange } from './write-message.ts';

interface LastTurn {
  readonly turn: number;
  readonly hasWork: boolean;
  readonly hasMessages: boolean;
  /** True if messages wait for the next turn. */
  readonly hasWaiting: boolean;
  /** Null: the end of the turn was not written, because the session failed. */
  readonly stopReason: string | null;
}

const lastTurn = `
  select r.turn_count as turn, r.is_turn_open or r.queued_at is not null as "hasWork", r.turn_seqs <> '{}' as "hasMessages",
         exists (select 1 from log_entry e where e.session_id = r.session_id and ${waiting}) as "hasWaiting",
         (select e.data->>'stopReason' from log_entry e where e.session_id = r.session_id and e.kind = 'TURN'
           order by e.seq desc limit 1) as "stopReason"
    from run r where r.session_id = $1`;

// The messages of the turn are in the inbox again. Other messages since its start that are not in the inbox stay outside.
const takeBack = `
  update run r set queued_at = $2::timestamptz, crash_count = 0, inbox_version = inbox_version + 1, delivered_seq = r.turn_after_seq,
         answered_seqs = array(
           select e.seq from log_entry e
            where e.session_id = r.session_id and ${isUsers} and e.seq > r.turn_after_seq and not e.seq = any(r.turn_seqs)
              and (e.seq <= r.delivered_seq or e.seq = any(r.answered_seqs)) order by e.seq)
   where r.session_id = $1`;

const queueWaiting = 'update run set queued_at = $2::timestamptz, crash_count = 0 where session_id = $1';

/**
 * Sends the messages of the last turn again, as a new turn together with messages that wait, after the turn was stopped or
 * failed. If the session failed or was stopped before a turn began, only the messages that wait are sent. A session that waits for a limit of its
 * model's provider continues at once. Throws NOT_FOUND, FORBIDDEN, IDEMPOTENCY_CONFLICT, INVALID_STATE if the session has
 * other work, takes no messages, or has completed its last turn, and LIMIT_EXCEEDED if the queue of its organization is full. Needs the permissions of `sendMessage`.
 */
export async function retryTurn(context: Context, input: SessionTarget & CreateOptions): Promise<SessionRecord> {
  const seen = await getSessionFor(context, permissionFor.sendMessage, input);
  const { id, organizationId } = seen;
  const claim = { scope: organizationId, operation: 'retryTurn', input: { sessionId: id }, resultId: id };
  return context.store.transact(async (tx) => {
    const replay = await findReplay(context, tx, input, claim);
    const session = await lockRunAndSession(tx, id);
    return replay === null ? retryLocked(context, tx, session) : session;
  });
}

async function retryLocked(context: Context, tx: Transaction, session: SessionRecord): Promise<SessionRecord> {
  const { id } = session;
  requireTaking(session);
  if (isWaitingForQuota(session)) return continueLocked(context, tx, session);
  const [last] = await tx.query<LastTurn>(lastTurn, [id]);
  if (!last || last.hasWork) throw new DomainError('INVALID_STATE', 'The session is working or waiting for a worker.');
  // The agent could not be started for the messages that wait, or the session was stopped before their turn.
  const isTurnOver = session.status === 'error' ? last.stopReason !== null : last.stopReason === 'end_turn';
  if (last.hasWaiting && (isTurnOver || !last.hasMessages)) return startLocked(context, tx, session);
  const isFailed = session.status === 'error' || (last.stopReason !== null && last.stopReason !== 'end_turn');
  if (!last.hasMessages || !isFailed) {
    throw new DomainError('INVALID_STATE', 'The last turn of the session was not stopped and did not fail.');
  }
  await requireRoomToWake(context, tx, id);
  await tx.query(takeBack, [id, context.now()]);
  await recordRetry(context, tx, session);
  const change = { ...wakeChange(context, session), pendingQuestionId: null };
  const body = 'The last turn’s messages were sent to the agent again.';
  return changeSession(context, tx, session, change, [
    { kind: 'NOTICE', body, data: { retriedTurn: last.turn }, ...ownerOf(context.viewer) },
  ]);
}

async function startLocked(context: Context, tx: Transaction, session: SessionRecord): Promise<SessionRecord> {
  await requireRoomToWake(context, tx, session.id);
  await tx.query(queueWaiting, [session.id, context.now()]);
  await recordRetry(context, tx, session);
  const body = 'The agent restarts with the queued messages.';
  const change = { ...wakeChange(context, session), pendingQuestionId: null };
  return changeSession(context, tx, session, change, [{ kind: 'NOTICE', body, ...ownerOf(context.viewer) }]);
}

// The open turn is still the last one, and its worker sends its messages again.
async function continueLocked(context: Context, tx: Transaction, session: SessionRecord): Promise<SessionRecord> {
  const change = await endQuotaWait(context, tx, session);
  await recordRetry(context, tx, session);
  const body = 'The session continues without waiting for the model provider’s limit.';
  return changeSession(context, tx, session, change, [{ kind: 'NOTICE', body, ...ownerOf(context.viewer) }]);
}

async function recordRetry(context: Context, tx: Transaction, { id, organizationId }: SessionRecord): Promise<void> {
  await audit(context, tx, 'retry_turn', { organizationId, sessionId: id, targetId: id });
  tx.afterCommit(() => {
    context.notifier.notify(`command:${id}`);
    context.notifier.notify('runs');
  });
}
