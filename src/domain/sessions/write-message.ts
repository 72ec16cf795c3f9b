import type { Owner } from '../../auth/viewer.ts';
import { DomainError } from '../../common/errors.ts';
import type { Transaction } from '../../store/store.ts';
import { audit } from '../audit/record-audit.ts';
import type { Context } from '../context.ts';
import { type CreateOptions, checkIdempotencyKey, findReplay } from '../idempotency.ts';
import { newId } from '../ids.ts';
import { attach } from './attachments/attach.ts';
import { changeSession, lockSession, type StatusChange } from './change-session.ts';
import type { SessionWithChildren } from './children.ts';
import { logColumns, type MessageEntry, type MessageMode } from './log.ts';
import { oneAtATime } from './one-at-a-time.ts';
import { lockRunToWake } from './queue-room.ts';
import { endQuotaWait } from './quota-wait.ts';
import type { SessionRecord } from './session.ts';
import { requestOriginOf } from './suspend-session.ts';

/** A message in the log, and its session after it. Some paths have also read the session's children. */
export interface SentMessage {
  readonly session: SessionRecord & Partial<SessionWithChildren>;
  readonly message: MessageEntry;
}

/**
 * The way in which a message closes the pending question of its session: as the answer, with an option or with the
 * message's text; or by cancelling it, so that the message belongs to the next turn. Written with the message.
 */
export type Closing =
  | { readonly questionId: string; readonly optionId?: string }
  | { readonly cancelledQuestionId: string };

/** A checked message of a user. */
export interface MessageToWrite {
  readonly text: string;
  readonly attachmentIds?: readonly string[] | null | undefined;
  readonly owner: Owner;
  /** Null: as the agent's profile says. */
  readonly mode?: MessageMode | null | undefined;
  /** More members of the entry's data. */
  readonly data?: Readonly<Record<string, unknown>>;
  /** Called with the locked session; null: the question stays open. If it throws, the message is refused. */
  readonly closing: (tx: Transaction, session: SessionRecord) => Promise<Closing | null>;
}

/** The idempotency key of an act, if it has one, and the values that identify equal acts. */
export interface KeyedAct {
  readonly operation: string;
  readonly options: CreateOptions;
  readonly input: object;
}

/** Throws INVALID_STATE for a session that takes no messages (docs/wire/status.md#messages-to-a-session). */
export function requireTaking(
  { isArchived, endedBy }: SessionRecord,
  consequence: string = 'takes no further messages',
): void {
  if (!isArchived && endedBy !== 'terminated' && endedBy !== 'expired') return;
  const why = isArchived ? 'is archived' : endedBy === 'expired' ? 'has expired' : 'has been terminated';
  throw new DomainError('INVALID_STATE', `The session ${why} and ${consequence}.`);
}

/**
 * Writes a message in its own transaction, once per idempotency key. Throws INVALID_INPUT, UNKNOWN_REFERENCE,
 * IDEMPOTENCY_CONFLICT, INVALID_STATE for a session that accepts no messages, LIMIT_EXCEEDED for one that would wait in a full queue, and the
 * errors of `closing`.
 */
export async function sendOnce(
  context: Context,
  seen: SessionRecord,
  { operation, options, input }: KeyedAct,
  message: MessageToWrite,
): Promise<SentMessage> {
  if (options.idempotencyKey != null) checkIdempotencyKey(options.idempotencyKey);
  const id = newId();
  const { organizationId } = seen;
  const send = async (tx: Transaction) => {
    const claim = { scope: organizationId, operation, input: { sessionId: seen.id, ...input }, resultId: id };
    const replay = await findReplay(context, tx, options, claim);
    if (replay !== null) return { messageId: replay, session: seen };
    return { messageId: id, session: await writeMessage(context, tx, seen.id, message, id) };
  };
  const { messageId, session } = await oneAtATime(context.store, seen.id, () => context.store.transact(send));
  const [entry] = await context.store.query<MessageEntry>(`select ${logColumns} from log_entry e where e.id = $1`, [
    messageId,
  ]);
  return { session, message: entry as MessageEntry };
}

// A session with a pending question is in the queue already, but waits for a worker only from the answer on.
const enqueue = `
  update run set crash_count = 0, queued_at = greatest(queued_at, case when queued_at is null or exists (
      select 1 from session s where s.id = run.session_id and s.status = 'running'
         and s.status_detail in ('waiting_for_user', 'waiting_for_approval')) then $2::timestamptz end)
   where session_id = $1`;

/** Writes a message within a transaction and wakes its session. Throws the errors of {@link sendOnce}. */
export async function writeMessage(
  context: Context,
  tx: Transaction,
  sessionId: string,
  { text, attachmentIds, owner, mode, closing, data: more }: MessageToWrite,
  id: string = newId(),
): Promise<SessionRecord> {
  const requireRoom = await lockRunToWake(context, tx, sessionId);
  const locked = await lockSession(tx, sessionId, null);
  requireTaking(locked);
  await requireRoom();
  await tx.query(enqueue, [sessionId, context.now()]);
  const closed = await closing(tx, locked);
  const body = await attach(context, tx, locked, { text, attachmentIds });
  const waking = { ...wakeChange(context, locked), ...(await endQuotaWait(context, tx, locked)) };
  const change = { ...waking, ...(closed && { pendingQuestionId: null }) };
  const data = { ...more, ...closed, ...(mode != null && { mode }) };
  const next = await changeSession(context, tx, locked, change, [
    {
      id,
      kind: 'MESSAGE',
      messageType: 'user_message',
      body,
      ...owner,
      ...(Object.keys(data).length > 0 && { data }),
    },
  ]);
  await audit(context, tx, 'send_message', { organizationId: locked.organizationId, sessionId, targetId: id });
  tx.afterCommit(() => {
    context.notifier.notify(`command:${sessionId}`);
    context.notifier.notify('runs');
  });
  return next;
}

/** Returns the change that resumes a session that is finished, suspended or in error. */
export function wakeChange(context: Context, session: SessionRecord): StatusChange {
  const isStopped = session.status === 'exit' || session.status === 'error' || session.status === 'suspended';
  return isStopped
    ? {
        status: 'resuming',
        statusDetail: null,
        request: 'resume',
        requestFrom: requestOriginOf(context),
        endedBy: null,
      }
    : {};
}
