import type { Owner } from '../../auth/viewer.ts';
import type { Store, Transaction } from '../../store/store.ts';
import { columnsOf, type Field, fieldsOf, type Narrowed, namesOf, recordOf, selectFields } from '../../store/tables.ts';
import { newId } from '../ids.ts';

/** The kinds of log entry, with the names of the GraphQL enum SessionEventKind. */
export const eventKinds = [
  'MESSAGE',
  'MESSAGE_CHANGED',
  'STATUS',
  'TURN',
  'THOUGHT',
  'PLAN',
  'TOOL_CALL',
  'QUESTION',
  'PERMISSION',
  'NOTICE',
  'USAGE',
  'LIMIT',
  'REPOSITORY',
  'PUSH',
  'PULL_REQUEST',
  'STRUCTURED_OUTPUT',
  'ATTACHMENT',
  'REWIND',
  'ERROR',
] as const;
/** See {@link eventKinds}. */
export type EventKind = (typeof eventKinds)[number];

/** The message types. The agent's type is written `devin_message` on the wire of v1. */
export const messageTypes = ['initial_user_message', 'user_message', 'agent_message'] as const;
/** See {@link messageTypes}. */
export type MessageType = (typeof messageTypes)[number];

/** The values of the fields whose columns have a wider type. */
interface EntryValues {
  readonly kind: EventKind;
  readonly messageType: MessageType | null;
  readonly data: Record<string, unknown> | null;
}

/** The effect of a message that arrives while the agent works, if its sender chose it. */
export const messageModes = ['queue', 'interrupt'] as const;
/** See {@link messageModes}. */
export type MessageMode = (typeof messageModes)[number];

/** An entry of a session's log. `body` is text for people, `data` has the kind's own fields. */
export type LogEntry = Narrowed<'LogEntry', Field<'LogEntry'>, EntryValues>;

/** A log entry with a message type. */
export type MessageEntry = LogEntry & { readonly messageType: MessageType; readonly body: string };

/** A new entry. {@link appendEntries} assigns its number, id and time. */
export type NewEntry = Pick<LogEntry, 'kind'> &
  Partial<Pick<LogEntry, 'id' | keyof Owner>> & {
    readonly messageType?: MessageType;
    readonly body?: string;
    readonly data?: Record<string, unknown>;
  };

/** The columns of a {@link LogEntry} of a `log_entry` aliased `e`. */
export const logColumns = selectFields('LogEntry', 'e', fieldsOf('LogEntry'));

/** The fields of an entry that {@link appendEntries} takes from its input; the others have values of their own. */
const ownFields = fieldsOf('LogEntry', ['sessionId', 'seq', 'createdAt']);

// Assigns the number and checks the fence in one statement. `moved` updates the listed session only for activity, and once when a resumed agent first streams. It depends on `head`, so the lock order head, session holds. The
// statement records the change itself and doesn't leave it to the trigger: if the clock has not advanced, no column of
// the row differs.
const append = `
  with head as (
    update session_head set next_seq = next_seq + $2::int
     where session_id = $1 and ($3::int is null or generation = $3::int)
    returning next_seq - $2::int as first_seq),
  moved as (
    update session set is_fresh = is_fresh and not $6::boolean,
           updated_at = case when $5::boolean then greatest(updated_at, $4::timestamptz) else updated_at end,
           changed_xid = current_transaction()
      from head where session.id = $1 and ($5::boolean or ($6::boolean and session.is_fresh))
    returning session.id),
  added as (
    insert into log_entry (session_id, seq, created_at, ${columnsOf('LogEntry', ownFields)})
    select $1, head.first_seq + n.n, $4::timestamptz, ${namesOf('n', ownFields)}
      from head cross join jsonb_to_recordset($7::jsonb) as n(n int, ${recordOf('LogEntry', ownFields)})
    returning seq)
  select seq from added order by seq`;

/** Thrown if a writer's generation is no longer the session's: it must stop, and its agent with it. */
export class FencedError extends Error {
  constructor(sessionId: string) {
    super(`Session ${sessionId} was taken over or ended: this writer's generation is stale.`);
    this.name = 'FencedError';
  }
}

/**
 * Appends entries and returns their numbers. Messages and statuses are activity of the session, unless `isActivity` is false. Outside a transaction (a {@link Store}) it is one statement that commits
 * by itself: the caller notifies after it. `generation` null: the writer is not a worker, so it is not fenced.
 */
export async function appendEntries(
  writer: Store | Transaction,
  sessionId: string,
  generation: number | null,
  entries: readonly NewEntry[],
  now: Date,
  isActivity = true,
): Promise<number[]> {
  const rows = entries.map((entry, n) => ({ n, ...entry, id: entry.id ?? newId() }));
  const touches = isActivity && entries.some((entry) => entry.kind === 'MESSAGE' || entry.kind === 'STATUS');
  const streams = generation !== null && entries.some((entry) => entry.kind !== 'STATUS' && entry.kind !== 'TURN');
  const values = [sessionId, rows.length, generation, now, touches, streams, JSON.stringify(rows)];
  const run = 'execute' in writer ? writer.execute<{ seq: number }> : writer.query<{ seq: number }>;
  const added = await run.call(writer, append, values);
  if (added.length !== rows.length) throw new FencedError(sessionId);
  return added.map((row) => row.seq);
}
