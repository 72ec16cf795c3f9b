import { z } from 'zod';
import { permissionFor } from '../../auth/permissions.ts';
import { ownerOf, requirePermission } from '../../auth/viewer.ts';
import { notFound } from '../../common/errors.ts';
import type { Transaction } from '../../store/store.ts';
import type { Context } from '../context.ts';
import type { CreateOptions } from '../idempotency.ts';
import { enterOrganization } from '../identity/organizations/use-organization.ts';
import { parseId } from '../ids.ts';
import { parseInput, text } from '../input.ts';
import { chooseOwner } from './as-user.ts';
import { attachmentsNamedIn } from './attachments/attach.ts';
import { maxPromptLength } from './create-session.ts';
import { getSessionFor, isOwn } from './find-session.ts';
import type { MessageMode } from './log.ts';
import { cancelQuestion, closingOf } from './questions.ts';
import { sendToAwake } from './send-to-awake.ts';
import type { SessionRecord } from './session.ts';
import { type SentMessage, sendOnce, writeMessage } from './write-message.ts';

const messageSchema = text('message', { min: 1, max: maxPromptLength, isBlankRefused: true });

export type { SentMessage };

/** A message to a session: its id in any form, the text, and the organization that the path named, if any. */
export interface SendMessageInput extends CreateOptions {
  readonly sessionId: string;
  readonly organizationId?: string | undefined;
  readonly message: string;
  /** The member in whose name the message is sent; the viewer itself if omitted. */
  readonly messageAsUserId?: string | null | undefined;
  readonly attachmentIds?: readonly string[] | null | undefined;
  /**
   * True: a message never answers a permission request, but cancels it and belongs to the next turn. If omitted, the
   * message is the answer, as in REST, which has no other way to answer.
   */
  readonly cancelsPermission?: boolean | undefined;
  /**
   * `interrupt`: the message ends the current turn, cancels its open question, and belongs to the next turn. `queue`: it
   * does not end the turn. If omitted, the agent's profile decides.
   */
  readonly mode?: MessageMode | null | undefined;
}

/**
 * Writes a user's message to the log, which the agent gets as its next turn, and wakes a session that is suspended,
 * finished or in error. If a question was open when the message arrived, the message is its answer. Throws NOT_FOUND,
 * FORBIDDEN, INVALID_INPUT, UNKNOWN_REFERENCE, IDEMPOTENCY_CONFLICT, and INVALID_STATE for a session that accepts no
 * messages.
 */
export async function sendMessage(context: Context, input: SendMessageInput): Promise<SentMessage> {
  const sent = canUseFastPath(input) ? await sendToAwake(context, input) : null;
  return sent ?? sendAnyMessage(context, input);
}

/**
 * {@link sendMessage} to a session of an organization, whose id is in any form. Also throws the errors of
 * `enterOrganization`. In most cases one statement: see {@link sendToAwake}.
 */
export async function sendMessageWithin(
  context: Context,
  organizationId: string,
  input: Omit<SendMessageInput, 'organizationId'>,
): Promise<SentMessage> {
  const bare = parseId('organization', organizationId);
  const isOneStatement = bare !== null && canUseFastPath(input);
  const sent = isOneStatement ? await sendToAwake(context, { ...input, organizationId: bare }) : null;
  if (sent) return sent;
  const { id } = await enterOrganization(context, organizationId);
  return sendAnyMessage(context, { ...input, organizationId: id });
}

/** The general path for messages that the single statement did not send: it reports the error, or wakes the session. */
async function sendAnyMessage(context: Context, input: SendMessageInput): Promise<SentMessage> {
  const seen = await getSessionFor(context, permissionFor.sendMessage, input);
  const { messageAsUserId, attachmentIds, mode, cancelsPermission = false } = input;
  const owner = await chooseOwner(context, seen.organizationId, {
    userId: messageAsUserId,
    argument: 'messageAsUserId',
    permission: permissionFor.sendMessageAsUser,
  });
  const { message } = parseInput(messageInputSchema, { message: input.message });
  const same = {
    message,
    ...(messageAsUserId == null ? {} : { userId: owner.userId }),
    ...(attachmentIds?.length ? { attachmentIds } : {}),
    ...(mode == null ? {} : { mode }),
  };
  return sendOnce(
    context,
    seen,
    { operation: 'sendMessage', options: input, input: same },
    {
      text: message,
      attachmentIds,
      owner,
      mode,
      closing: mode === 'interrupt' ? cancelQuestion : closingOf(seen, cancelsPermission),
    },
  );
}

/** A message in inputs. */
export const messageInputSchema = z.object({ message: messageSchema });

/** Tells if a single statement can send the message: it has only a text. */
function canUseFastPath(input: SendMessageInput): boolean {
  const isBare =
    input.messageAsUserId == null && input.idempotencyKey == null && input.mode == null && !input.attachmentIds?.length;
  return isBare && messageSchema.safeParse(input.message).success && attachmentsNamedIn(input.message).length === 0;
}

/**
 * Sends a message within a transaction, as the viewer's own, to a session of an organization that the viewer may write
 * to. It never answers a permission request, because no user has read the request. Throws NOT_FOUND, FORBIDDEN,
 * INVALID_INPUT, and INVALID_STATE for a session that accepts no messages.
 */
export async function insertMessage(
  context: Context,
  tx: Transaction,
  input: { readonly sessionId: string; readonly organizationId: string; readonly message: string },
): Promise<void> {
  const { organizationId } = input;
  const { message } = parseInput(messageInputSchema, { message: input.message });
  const [session] = await tx.query<Pick<SessionRecord, 'userId' | 'serviceUserId' | 'pendingQuestionId'>>(
    `select user_id as "userId", service_user_id as "serviceUserId", pending_question_id as "pendingQuestionId"
       from session where id = $1 and organization_id = $2`,
    [input.sessionId, organizationId],
  );
  if (!session) throw notFound('session');
  requirePermission(context.viewer, permissionFor.sendMessage, organizationId, isOwn(context, session));
  const owner = ownerOf(context.viewer);
  await writeMessage(context, tx, input.sessionId, { text: message, owner, closing: closingOf(session, true) });
}
