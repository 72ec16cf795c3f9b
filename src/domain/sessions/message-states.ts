import { permissionFor } from '../../auth/permissions.ts';
import { requirePermission } from '../../auth/viewer.ts';
import type { Context } from '../context.ts';
import { waiting } from './inbox.ts';
import { logColumns, type MessageEntry } from './log.ts';
import type { SessionRecord } from './session.ts';

/** The delivery of a user's message to the agent. */
export const messageDeliveries = ['queued', 'delivered', 'withdrawn'] as const;
/** See {@link messageDeliveries}. */
export type MessageDelivery = (typeof messageDeliveries)[number];

/** The current state of a user's message. */
export interface MessageState {
  readonly delivery: MessageDelivery;
  /** The text after the last edit; null: never edited. */
  readonly editedBody: string | null;
}

/** The columns of a {@link MessageState} of `log_entry` e, `run` r and `message_change` c. */
export const stateColumns = `
  case when c.is_withdrawn then 'withdrawn' when ${waiting} then 'queued' else 'delivered' end as delivery,
  c.body as "editedBody"`;

/** The tables of {@link stateColumns}. */
export const stateTables = `
  log_entry e join run r on r.session_id = e.session_id
    left join message_change c on c.session_id = e.session_id and c.seq = e.seq`;

/** Reads the states of messages that the viewer has already read, by their unprefixed ids and in their order. */
export async function readMessageStates(
  context: Pick<Context, 'store'>,
  ids: readonly string[],
): Promise<(MessageState | null)[]> {
  const rows = await context.store.query<MessageState & { id: string }>(
    `select e.id, ${stateColumns} from ${stateTables} where e.id = any($1::text[])`,
    [ids],
  );
  const found = new Map(rows.map(({ id, ...state }) => [id, state]));
  return ids.map((id) => found.get(id) ?? null);
}

/** SQL condition: a message has neither answered nor cancelled a question. */
export const isWithoutQuestion = "e.data->>'questionId' is null and e.data->>'cancelledQuestionId' is null";

/** Maximum number of messages in {@link readQueuedMessages}. */
export const maxQueuedMessages = 100;

/**
 * Reads the first {@link maxQueuedMessages} messages of each session that wait for the agent and can be changed, oldest
 * first. Throws FORBIDDEN without the permission to view one of the sessions.
 */
export async function readQueuedMessages(
  { store, viewer }: Context,
  sessions: readonly Pick<SessionRecord, 'id' | 'organizationId'>[],
): Promise<MessageEntry[][]> {
  for (const { organizationId } of sessions) requirePermission(viewer, permissionFor.viewSession, organizationId);
  const rows = await store.query<MessageEntry>(
    `select m.* from unnest($1::text[]) as wanted(id) join run r on r.session_id = wanted.id
      cross join lateral (
        select ${logColumns} from log_entry e
         where e.session_id = wanted.id and ${waiting} and ${isWithoutQuestion} order by e.seq limit ${maxQueuedMessages}) m`,
    [sessions.map(({ id }) => id)],
  );
  return sessions.map(({ id }) => rows.filter(({ sessionId }) => sessionId === id).sort((a, b) => a.seq - b.seq));
}
