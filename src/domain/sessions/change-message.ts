import { permissionFor } from '../../auth/permissions.ts';
import { ownerOf } from '../../auth/viewer.ts';
import { DomainError, notFound, refuse } from '../../common/errors.ts';
import type { Transaction } from '../../store/store.ts';
import { audit } from '../audit/record-audit.ts';
import type { Context } from '../context.ts';
import { parseGlobalId, parseId } from '../ids.ts';
import { parseInput } from '../input.ts';
import { attach } from './attachments/attach.ts';
import { changeSession } from './change-session.ts';
import { getSessionFor, missingSession } from './find-session.ts';
import { isUsers } from './inbox.ts';
import { endWork, readRun } from './interrupt-session.ts';
import { logColumns, type MessageEntry, type NewEntry } from './log.ts';
import { isWithoutQuestion, type MessageState, stateColumns, stateTables } from './message-states.ts';
import { messageInputSchema } from './messages.ts';
import { requireRoomToWake } from './queue-room.ts';
import type { SessionRecord } from './session.ts';
import { lockRunAndSession } from './suspend-session.ts';
import { requireTaking } from './write-message.ts';

/** A message that waits for the agent: its id, unprefixed, with a prefix, or global. */
export interface QueuedMessageTarget {
  readonly messageId: string;
}

/** A message after a change, and its session. */
export interface ChangedMessage {
  readonly session: SessionRecord;
  readonly message: MessageEntry;
}

/**
 * Replaces the text of a message that the agent has not received. A session that its user has stopped continues with its
 * messages. Throws NOT_FOUND, FORBIDDEN, INVALID_INPUT, INVALID_STATE for a message that was delivered or withdrawn, that answers
 * a question, or whose session takes no messages, and LIMIT_EXCEEDED if a stopped session would wait in a full queue. Needs the permissions of `sendMessage`.
 */
export async function updateQueuedMessage(
  context: Context,
  input: QueuedMessageTarget & { readonly message: string },
): Promise<ChangedMessage> {
  const { message } = parseInput(messageInputSchema, { message: input.message });
  const found = await findMessage(context, input.messageId);
  return changeMessage(context, found, async (tx, session, state) => {
    if (state.delivery === 'withdrawn') throw refuse(['messageId'], 'The message was withdrawn.', 'INVALID_STATE');
    requireTaking(session);
    const body = await attach(context, tx, session, { text: message });
    if (body === (state.editedBody ?? found.message.body)) return null;
    await tx.query(change, [session.id, found.message.seq, body, false]);
    if (session.status === 'running') await requireRoomToWake(context, tx, session.id);
    await tx.query(continueStopped, [session.id, context.now()]);
    return { change: 'edited', body };
  });
}

/**
 * Withdraws a message that the agent has not received. A session without other work leaves the queue. A message that was
 * withdrawn does not change. Throws NOT_FOUND, FORBIDDEN, and INVALID_STATE for a message that was delivered, or that
 * answers a question. Needs the permissions of `sendMessage`.
 */
export async function withdrawMessage(context: Context, input: QueuedMessageTarget): Promise<ChangedMessage> {
  const found = await findMessage(context, input.messageId);
  const { seq } = found.message;
  return changeMessage(context, found, async (tx, { id }, { delivery }) => {
    if (delivery === 'withdrawn') return null;
    await tx.query(change, [id, seq, null, true]);
    return { change: 'withdrawn' };
  });
}

interface FoundMessage {
  readonly session: SessionRecord;
  readonly message: MessageEntry;
}

async function findMessage(context: Context, messageId: string): Promise<FoundMessage> {
  const global = parseGlobalId(messageId.trim());
  const id = global?.type === 'SessionMessage' ? global.id : parseId('message', messageId);
  const [message] = await context.store.query<MessageEntry>(
    `select ${logColumns} from log_entry e where e.id = $1 and ${isUsers}`,
    [id],
  );
  const noSession = () => missingSession(context, permissionFor.sendMessage);
  const missing = (error: DomainError) => (error.code === 'NOT_FOUND' ? notFound('message') : error);
  if (!message) throw missing(noSession());
  const target = { sessionId: message.sessionId };
  const session = await getSessionFor(context, permissionFor.sendMessage, target).catch((error: unknown) => {
    throw error instanceof DomainError ? missing(error) : error;
  });
  return { session, message };
}

const change = `
  insert into message_change (session_id, seq, body, is_withdrawn) values ($1, $2::int, $3, $4::boolean)
  on conflict (session_id, seq) do update
     set body = coalesce(excluded.body, message_change.body), is_withdrawn = excluded.is_withdrawn`;

// Only a session that its user has stopped waits outside the queue with messages.
const continueStopped = `
  update run set queued_at = $2::timestamptz from session s
   where run.session_id = $1 and s.id = $1 and run.queued_at is null and s.status = 'running'`;

const stateOf = `select ${stateColumns}, ${isWithoutQuestion} as "isWithoutQuestion" from ${stateTables} where e.session_id = $1 and e.seq = $2`;

// A withdrawn message is not in the inbox. A trigger for older processes takes the number for an answer unless the version changes.
const changeInbox = `
  update run set inbox_version = inbox_version + 1,
         answered_seqs = case when $2::int is null then answered_seqs else array_append(answered_seqs, $2::int) end
   where session_id = $1`;

/** The kind of a change, and the new text. */
interface Change {
  readonly change: 'edited' | 'withdrawn';
  readonly body?: string;
}

// The start of a turn locks the run too, so a message is either changed or delivered. `act` null: nothing changes.
async function changeMessage(
  context: Context,
  { session: seen, message }: FoundMessage,
  act: (tx: Transaction, session: SessionRecord, state: MessageState) => Promise<Change | null>,
): Promise<ChangedMessage> {
  const session = await context.store.transact(async (tx) => {
    const locked = await lockRunAndSession(tx, seen.id);
    const [state] = await tx.query<MessageState & { isWithoutQuestion: boolean }>(stateOf, [seen.id, message.seq]);
    if (!state) throw notFound('message');
    if (state.delivery === 'delivered')
      throw refuse(['messageId'], 'The agent has received the message.', 'INVALID_STATE');
    if (!state.isWithoutQuestion) {
      throw refuse(['messageId'], 'The message closed a question of the agent and cannot be changed.', 'INVALID_STATE');
    }
    const changed = await act(tx, locked, state);
    if (changed === null) return locked;
    const { change: kind, body } = changed;
    await tx.query(changeInbox, [seen.id, kind === 'withdrawn' ? message.seq : null]);
    const entry: NewEntry = {
      kind: 'MESSAGE_CHANGED',
      data: { messageId: message.id, change: kind },
      ...(body !== undefined && { body }),
      ...ownerOf(context.viewer),
    };
    const next = await changeSession(context, tx, locked, {}, [entry]);
    const { id, organizationId } = seen;
    const action = kind === 'edited' ? 'edit_message' : 'withdraw_message';
    await audit(context, tx, action, { organizationId, sessionId: id, targetId: message.id });
    tx.afterCommit(() => {
      context.notifier.notify(`command:${id}`);
      context.notifier.notify('runs');
    });
    const run = await readRun(tx, next);
    return run?.isQueued && !run.isTurnOpen && !run.hasMessages ? endWork(context, tx, next, run) : next;
  });
  return { session, message };
}
