import { manageOwnSessions, permissionFor } from '../../auth/permissions.ts';
import { organizationsWith, ownerOf } from '../../auth/viewer.ts';
import type { JsonValues } from '../../store/json-rows.ts';
import type { Store } from '../../store/store.ts';
import { columnsOf, namesOf } from '../../store/tables.ts';
import { insertAuditEntry } from '../audit/record-audit.ts';
import type { Context } from '../context.ts';
import { newId, parseId } from '../ids.ts';
import { type Batcher, createBatcher } from './batcher.ts';
import { childIds, type SessionWithChildren } from './children.ts';
import type { MessageEntry } from './log.ts';
import { defaultQueueLimit, needsNoRoom } from './queue-room.ts';
import { sessionWithChildrenInJson } from './session-json.ts';

/** Maximum length of a message on this path, in UTF-16 code units: all messages of a statement are one parameter. */
const maxFastPathLength = 16_384;

/** The fields of an entry that {@link PendingMessage} has. */
const messageFields = ['sessionId', 'id', 'userId', 'serviceUserId', 'serviceKeyId', 'createdAt'] as const;

// `locked` takes all locks of a session at once, by its first message, and skips a session that another transaction has
// locked. The statement therefore never waits, no session delays the messages to others, and a session that it has seen
// awake can't end meanwhile. It leaves a queued `run` as it is, unless the session has a pending question: then the run
// waits for a worker only from the answer on. The statement records the change of a session as `appendEntries` does.
const statement = `
  with asked as (
    select m.*, w.* from json_to_recordset($1::json) as m("index" int, "writer" int, "sessionId" text, "within" text, "nth" int,
        "count" int, "id" text, "message" text, "auditId" text, "address" text, "createdAt" timestamptz, "newest" timestamptz)
      join json_to_recordset($2::json) as w("key" int, "enterpriseId" text, "all" boolean, "ids" text[], "ownAll" boolean,
        "ownIds" text[], "userId" text, "serviceUserId" text, "serviceKeyId" text, "apiKeyId" text) on w."key" = m."writer"),
  locked as materialized (
    select a."sessionId", a."count", a."newest",
        s.status = 'running' and s.status_detail in ('waiting_for_user', 'waiting_for_approval') as "asks"
      from asked a join session s on s.id = a."sessionId" join organization o on o.id = s.organization_id
      join run r on r.session_id = s.id join session_head h on h.session_id = s.id
     where a."nth" = 1 and s.pending_question_id is null and o.enterprise_id = a."enterpriseId" and o.deleted_at is null
       and (a."within" is null or s.organization_id = a."within")
       and (a."all" or s.organization_id = any(a."ids")
            or ((s.user_id = a."userId" or s.service_user_id = a."serviceUserId")
                and (a."ownAll" or s.organization_id = any(a."ownIds"))))
       and s.status in ('new', 'claimed', 'running', 'resuming') and not s.is_archived
       and s.status_detail is distinct from 'waiting_for_quota' and ${needsNoRoom('$3')}
       and (s.ended_by is null or s.ended_by not in ('terminated', 'expired'))
       for no key update of r, h, s skip locked),
  queued as (
    update run set crash_count = 0,
        queued_at = greatest(queued_at, case when queued_at is null or locked."asks" then locked."newest" end)
      from locked where run.session_id = locked."sessionId"
       and (run.crash_count <> 0 or run.queued_at is null or locked."asks")),
  head as (
    update session_head h set next_seq = h.next_seq + locked."count" from locked where h.session_id = locked."sessionId"
    returning h.session_id, h.next_seq - locked."count" as first),
  moved as (
    update session s set updated_at = greatest(s.updated_at, locked."newest"), changed_xid = current_transaction()
      from locked where s.id = locked."sessionId"
    returning s.id, s.organization_id, ${sessionWithChildrenInJson.sql('s', { childIds })} as session),
  added as (
    insert into log_entry (seq, kind, message_type, body, ${columnsOf('LogEntry', messageFields)})
    select head.first + asked."nth" - 1, 'MESSAGE', 'user_message', asked."message", ${namesOf('asked', messageFields)}
      from asked join head on head.session_id = asked."sessionId"),
  audited as (
    ${insertAuditEntry}
    select asked."auditId", asked."enterpriseId", moved.organization_id, 'send_message', asked."userId",
        asked."serviceUserId", asked."apiKeyId", asked."address", asked."sessionId", asked."id", '{}'::jsonb, asked."createdAt"
      from asked join moved on moved.id = asked."sessionId")
  select asked."index", (head.first + asked."nth" - 1)::int as seq, moved.session
    from asked join moved on moved.id = asked."sessionId" join head on head.session_id = asked."sessionId"`;

/** A message of the viewer's own that has only a text, and that has been checked. */
export interface FastPathMessage {
  /** In any form. */
  readonly sessionId: string;
  readonly organizationId?: string | undefined;
  readonly message: string;
}

/** The written message, and its session after it. */
interface SentToAwake {
  readonly session: SessionWithChildren;
  readonly message: MessageEntry;
}

/**
 * Sends a message to a session whose agent works or waits for a message, in one statement that it shares with other
 * messages of the same moment. Returns null if nothing was written: the message is longer than 16,384 UTF-16 units,
 * another sender writes to the session in the same batch, or the session is finished, suspended, in error, waits for a
 * limit of its provider or with a question, needs room in a limited queue, is gone, is locked or is not writable for the viewer. The result
 * does not show which.
 */
export async function sendToAwake(
  context: Context,
  { sessionId, organizationId, message }: FastPathMessage,
): Promise<SentToAwake | null> {
  const bare = parseId('session', sessionId);
  if (bare === null || message.length > maxFastPathLength) return null;
  const within = organizationId ?? null;
  const createdAt = context.now();
  return batcherOf(context.store).take({ context, sessionId: bare, within, id: newId(), message, createdAt });
}

/** A message to send. */
interface PendingMessage {
  readonly context: Context;
  readonly sessionId: string;
  readonly within: string | null;
  readonly id: string;
  readonly message: string;
  readonly createdAt: Date;
}

const batchers = new WeakMap<Store, Batcher<PendingMessage, SentToAwake | null>>();

/** Returns the batcher of the messages that this process sends to one database. */
function batcherOf(store: Store): Batcher<PendingMessage, SentToAwake | null> {
  const cached = batchers.get(store);
  if (cached) return cached;
  const made = createBatcher<PendingMessage, SentToAwake | null>(
    ({ sessionId }) => sessionId,
    (messages) => send(store, messages),
  );
  batchers.set(store, made);
  return made;
}

async function send(store: Store, messages: readonly PendingMessage[]): Promise<(SentToAwake | null)[]> {
  const sent: (SentToAwake | null)[] = messages.map(() => null);
  const rows = await store.execute<SentRow>(statement, parametersOf(messages)).catch(unlessRefused);
  for (const row of rows) {
    const { context, id, message, createdAt } = messages[row.index] as PendingMessage;
    const { notifier, viewer } = context;
    const session = sessionWithChildrenInJson.read(row.session);
    notifier.notify(`session:${session.id}`);
    notifier.notify(`command:${session.id}`);
    notifier.notify(`organization:${session.organizationId}`);
    notifier.notify('runs');
    const entry: MessageEntry = {
      sessionId: session.id,
      seq: row.seq,
      id,
      kind: 'MESSAGE',
      messageType: 'user_message',
      body: message,
      data: null,
      ...ownerOf(viewer),
      createdAt,
    };
    sent[row.index] = { session, message: entry };
  }
  return sent;
}

interface SentRow {
  readonly index: number;
  readonly seq: number;
  readonly session: JsonValues<SessionWithChildren>;
}

/** The messages of one session and one writer: the statement takes all of them or none. */
interface MessageGroup {
  readonly first: PendingMessage;
  readonly indexes: number[];
  newest: Date;
}

/**
 * Returns the statement's parameters: the messages, the writers with their permissions, each viewer once, and the limit of queues. If
 * several viewers write to the same session at once, only the first one's messages are sent.
 */
function parametersOf(messages: readonly PendingMessage[]): [messages: string, writers: string, queueLimit: number] {
  const viewers = [...new Set(messages.map(({ context }) => context.viewer))];
  const writers = viewers.map((viewer, key) => {
    const { enterpriseId, all, ids } = organizationsWith(viewer, permissionFor.sendMessage);
    const own = organizationsWith(viewer, manageOwnSessions);
    const { apiKeyId } = viewer;
    return { key, enterpriseId, all, ids, ownAll: own.all, ownIds: own.ids, ...ownerOf(viewer), apiKeyId };
  });
  const sessions = new Map<string, MessageGroup>();
  for (const [index, message] of messages.entries()) {
    const group = sessions.get(message.sessionId);
    if (!group) sessions.set(message.sessionId, { first: message, indexes: [index], newest: message.createdAt });
    else if (message.context.viewer === group.first.context.viewer && message.within === group.first.within) {
      group.indexes.push(index);
      if (message.createdAt > group.newest) group.newest = message.createdAt;
    }
  }
  const rows = [...sessions.values()].flatMap(({ indexes, newest }) =>
    indexes.map((index, n) => {
      const { context, sessionId, within, id, message, createdAt } = messages[index] as PendingMessage;
      const writer = viewers.indexOf(context.viewer);
      const about = { index, writer, sessionId, within, nth: n + 1, count: indexes.length };
      return { ...about, id, message, auditId: newId(), address: context.address, createdAt, newest };
    }),
  );
  // All of them come from one process.
  const { organizationQuotas } = (messages[0] as PendingMessage).context;
  return [JSON.stringify(rows), JSON.stringify(writers), defaultQueueLimit(organizationQuotas)];
}

/** Nothing has been written: a user or an organization was deleted meanwhile, or the database asks for a retry. */
function unlessRefused(error: unknown): [] {
  const { code } = error as { code?: unknown };
  if (typeof code === 'string' && /^(?:22|23|40)/.test(code)) return [];
  throw error;
}
