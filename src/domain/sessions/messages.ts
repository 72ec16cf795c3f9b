import { z } from 'zod';
import { permissionFor } from '../../auth/permissions.ts';
import { type Owner, ownerOf, requirePermission } from '../../auth/viewer.ts';
import type { Transaction } from '../../store/store.ts';
import { attach, attachmentsNamedIn } from '../attachments/attach.ts';
import { audit } from '../audit.ts';
import type { Context } from '../context.ts';
import { DomainError, notFound } from '../errors.ts';
import { checkIdempotencyKey, claimIdempotencyKey } from '../idempotency.ts';
import { newId, parseId } from '../ids.ts';
import { parseInput, text } from '../input.ts';
import { enterOrganization } from '../organizations/use-organization.ts';
import { chooseOwner } from './as-user.ts';
import { changeSession, lockSession, type StatusChange } from './change-session.ts';
import type { SessionWithChildren } from './children.ts';
import { maxPromptLength } from './create-session.ts';
import { getSessionFor, isOwn } from './find-session.ts';
import { logColumns, type MessageEntry } from './log.ts';
import { oneAtATime } from './one-at-a-time.ts';
import { sendToAwake } from './send-to-awake.ts';
import type { SessionRecord } from './session.ts';
import { placeOf } from './suspend-session.ts';

const messageSchema = text('message', { min: 1, max: maxPromptLength, isBlankRefused: true });

/** Whether a session takes messages: neither archived, nor terminated or expired (pinned 3). */
export function takesMessages(session: Pick<SessionRecord, 'isArchived' | 'endedBy'>): boolean {
  return !session.isArchived && session.endedBy !== 'terminated' && session.endedBy !== 'expired';
}

/** A message to a session: its id in any form, the text, and the organization that the path named, if any. */
export interface SendMessageInput {
  readonly sessionId: string;
  readonly organizationId?: string | undefined;
  readonly message: string;
  /** The member whose message it shall be; the viewer's own when left out. */
  readonly messageAsUserId?: string | null | undefined;
  readonly attachmentIds?: readonly string[] | null | undefined;
  readonly idempotencyKey?: string | null | undefined;
}

/** A message that is in the log, and its session after it; some ways of sending have also read what that has started. */
export interface SentMessage {
  readonly session: SessionRecord & Partial<SessionWithChildren>;
  readonly message: MessageEntry;
}

/**
 * Puts a user's message into the log, from where the agent gets it as its next turn, and wakes a session that is
 * suspended, finished or in error. NOT_FOUND, FORBIDDEN, INVALID_INPUT, UNKNOWN_REFERENCE, IDEMPOTENCY_CONFLICT, and INVALID_STATE for a
 * session that takes none.
 */
export async function sendMessage(context: Context, input: SendMessageInput): Promise<SentMessage> {
  const sent = isPlain(input) ? await sendToAwake(context, input) : null;
  return sent ?? sendAnyMessage(context, input);
}

/**
 * {@link sendMessage} to a session of an organization, whose id is in any form. The errors of `enterOrganization` too; one
 * statement for a session that is awake.
 */
export async function sendMessageWithin(
  context: Context,
  organizationId: string,
  input: Omit<SendMessageInput, 'organizationId'>,
): Promise<SentMessage> {
  const bare = parseId('organization', organizationId);
  const isOneStatement = bare !== null && isPlain(input);
  const sent = isOneStatement ? await sendToAwake(context, { ...input, organizationId: bare }) : null;
  if (sent) return sent;
  const { id } = await enterOrganization(context, organizationId);
  return sendAnyMessage(context, { ...input, organizationId: id });
}

/** Whatever one statement was not good for: here it is found out why, and what sleeps is woken. */
async function sendAnyMessage(context: Context, input: SendMessageInput): Promise<SentMessage> {
  const seen = await getSessionFor(context, permissionFor.sendMessage, input);
  const owner = await chooseOwner(context, seen.organizationId, {
    userId: input.messageAsUserId,
    argument: 'messageAsUserId',
    permission: permissionFor.sendMessageAsUser,
  });
  const { message } = parseInput(messageInput, { message: input.message });
  if (input.idempotencyKey != null) checkIdempotencyKey(input.idempotencyKey);

  const id = newId();
  const send = async (tx: Transaction) => {
    if (input.idempotencyKey != null) {
      const { replay } = await claimIdempotencyKey(context, tx, {
        organizationId: seen.organizationId,
        operation: 'sendMessage',
        key: input.idempotencyKey,
        input: {
          sessionId: seen.id,
          message,
          ...(input.messageAsUserId == null ? {} : { userId: owner.userId }),
          ...(input.attachmentIds?.length ? { attachmentIds: input.attachmentIds } : {}),
        },
        resultId: id,
      });
      if (replay !== null) return { messageId: replay, session: seen };
    }
    const { attachmentIds } = input;
    const next = await writeMessage(context, tx, { id, sessionId: seen.id, message, attachmentIds, owner });
    return { messageId: id, session: next };
  };
  const { messageId, session } = await oneAtATime(context.store, seen.id, () => context.store.transact(send));
  const [entry] = await context.store.query<MessageEntry>(`select ${logColumns} from log_entry e where e.id = $1`, [
    messageId,
  ]);
  return { session, message: entry as MessageEntry };
}

const messageInput = z.object({ message: messageSchema });

/** Whether a message is one as most are, which a single statement can send. */
function isPlain(input: SendMessageInput): boolean {
  const isBare = input.messageAsUserId == null && input.idempotencyKey == null && !input.attachmentIds?.length;
  return isBare && messageSchema.safeParse(input.message).success && attachmentsNamedIn(input.message).length === 0;
}

/**
 * Sends a message within a transaction, as the viewer's own, to a session of an organization that the viewer may write to.
 * NOT_FOUND, FORBIDDEN, INVALID_INPUT, and INVALID_STATE for a session that takes none.
 */
export async function insertMessage(
  context: Context,
  tx: Transaction,
  input: { readonly sessionId: string; readonly organizationId: string; readonly message: string },
): Promise<void> {
  const { organizationId } = input;
  const { message } = parseInput(messageInput, { message: input.message });
  const [session] = await tx.query<Pick<Owner, 'userId' | 'serviceUserId'>>(
    'select user_id as "userId", service_user_id as "serviceUserId" from session where id = $1 and organization_id = $2',
    [input.sessionId, organizationId],
  );
  if (!session) throw notFound('session');
  requirePermission(context.viewer, permissionFor.sendMessage, organizationId, isOwn(context, session));
  const owner = ownerOf(context.viewer);
  await writeMessage(context, tx, { id: newId(), sessionId: input.sessionId, message, owner });
}

interface MessageToWrite {
  readonly id: string;
  readonly sessionId: string;
  readonly message: string;
  readonly attachmentIds?: readonly string[] | null | undefined;
  readonly owner: Owner;
}

// A session whose question is open is in the queue already, but waits for a worker only from its answer on.
const enqueue = `
  update run set crash_count = 0, queued_at = greatest(queued_at, case when queued_at is null or exists (
      select 1 from session s where s.id = run.session_id and s.status = 'running'
         and s.status_detail in ('waiting_for_user', 'waiting_for_approval')) then $2::timestamptz end)
   where session_id = $1`;

async function writeMessage(
  context: Context,
  tx: Transaction,
  { id, sessionId, message, attachmentIds, owner }: MessageToWrite,
): Promise<SessionRecord> {
  await tx.query(enqueue, [sessionId, context.now()]);
  const locked = await lockSession(tx, sessionId, null);
  if (!takesMessages(locked)) {
    const isExpired = locked.endedBy === 'expired';
    const why = locked.isArchived ? 'is archived' : isExpired ? 'has expired' : 'has been terminated';
    throw new DomainError('INVALID_STATE', `The session ${why} and takes no further messages.`);
  }
  const body = await attach(context, tx, locked, { text: message, attachmentIds });
  const next = await changeSession(context, tx, locked, wakeChange(context, locked), [
    { id, kind: 'MESSAGE', messageType: 'user_message', body, ...owner },
  ]);
  await audit(context, tx, 'send_message', { organizationId: locked.organizationId, sessionId, targetId: id });
  tx.afterCommit(() => {
    context.bell.ring(`command:${sessionId}`);
    context.bell.ring('runs');
  });
  return next;
}

function wakeChange(context: Context, session: SessionRecord): StatusChange {
  const sleeps = session.status === 'exit' || session.status === 'error' || session.status === 'suspended';
  return sleeps
    ? { status: 'resuming', statusDetail: null, request: 'resume', requestFrom: placeOf(context), endedBy: null }
    : {};
}
