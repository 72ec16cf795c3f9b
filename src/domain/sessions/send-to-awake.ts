import { manageOwnSessions, permissionFor } from '../../auth/permissions.ts';
import { organizationsWith, ownerOf } from '../../auth/viewer.ts';
import type { Store } from '../../store/store.ts';
import { insertAuditEntry } from '../audit.ts';
import type { Context } from '../context.ts';
import { newId, parseId } from '../ids.ts';
import { childIdsColumn, type SessionWithChildren } from './children.ts';
import { createGathering, type Gathering } from './gathering.ts';
import type { MessageEntry } from './log.ts';
import { sessionColumns } from './session.ts';

/** The longest message that is sent so, in UTF-16 code units: all of a statement are one parameter. */
const maxPlainLength = 16_384;

// `locked` takes all locks of a session at once, and leaves out a session of which somebody else has one: the statement waits
// for nobody, so that no session holds up the messages to others, and nothing ends what it has seen awake. A `run` that is
// queued already is left as it is, unless its session asks something: it waits for a worker only from the answer on. That
// a session changed is said as in `appendEntries`.
const statement = `
  with asked as (
    select m.*, w.* from json_to_recordset($1::json) as m("place" int, "writer" int, "sessionId" text, "within" text,
        "id" text, "message" text, "auditId" text, "address" text, "createdAt" timestamptz)
      join json_to_recordset($2::json) as w("key" int, "enterpriseId" text, "all" boolean, "ids" text[], "ownAll" boolean,
        "ownIds" text[], "userId" text, "serviceUserId" text, "apiKeyId" text) on w."key" = m."writer"),
  locked as materialized (
    select a.*, s.status = 'running' and s.status_detail in ('waiting_for_user', 'waiting_for_approval') as "asks"
      from asked a join session s on s.id = a."sessionId" join organization o on o.id = s.organization_id
      join run r on r.session_id = s.id join session_head h on h.session_id = s.id
     where o.enterprise_id = a."enterpriseId" and o.deleted_at is null
       and (a."within" is null or s.organization_id = a."within")
       and (a."all" or s.organization_id = any(a."ids")
            or ((s.user_id = a."userId" or s.service_user_id = a."serviceUserId")
                and (a."ownAll" or s.organization_id = any(a."ownIds"))))
       and s.status in ('new', 'claimed', 'running', 'resuming') and not s.is_archived
       and (s.ended_by is null or s.ended_by not in ('terminated', 'expired'))
       for no key update of r, h, s skip locked),
  sent as materialized (
    select locked.*, row_number() over (partition by "sessionId" order by "place") as "nth",
        count(*) over (partition by "sessionId") as "count", max("createdAt") over (partition by "sessionId") as "newest"
      from locked),
  queued as (
    update run set crash_count = 0,
        queued_at = greatest(queued_at, case when queued_at is null or sent."asks" then sent."newest" end)
      from sent where run.session_id = sent."sessionId" and sent."nth" = 1
       and (run.crash_count <> 0 or run.queued_at is null or sent."asks")),
  head as (
    update session_head h set next_seq = h.next_seq + sent."count" from sent
     where h.session_id = sent."sessionId" and sent."nth" = 1
    returning h.session_id, h.next_seq - sent."count" as first),
  moved as (
    update session s set updated_at = greatest(s.updated_at, sent."newest"), changed_xid = pg_current_xact_id()
      from sent where s.id = sent."sessionId" and sent."nth" = 1
    returning ${sessionColumns}, ${childIdsColumn}),
  added as (
    insert into log_entry (session_id, seq, id, kind, message_type, body, user_id, service_user_id, created_at)
    select sent."sessionId", head.first + sent."nth" - 1, sent."id", 'MESSAGE', 'user_message', sent."message",
        sent."userId", sent."serviceUserId", sent."createdAt"
      from sent join head on head.session_id = sent."sessionId"),
  audited as (
    ${insertAuditEntry}
    select sent."auditId", sent."enterpriseId", moved."organizationId", 'send_message', sent."userId",
        sent."serviceUserId", sent."apiKeyId", sent."address", sent."sessionId", sent."id", '{}'::jsonb, sent."createdAt"
      from sent join moved on moved.id = sent."sessionId")
  select moved.*, sent."place", (head.first + sent."nth" - 1)::int as seq
    from sent join moved on moved.id = sent."sessionId" join head on head.session_id = sent."sessionId"`;

/** A message of the viewer's own that says nothing but its text, and that has been checked. */
export interface PlainMessage {
  /** In any form. */
  readonly sessionId: string;
  readonly organizationId?: string | undefined;
  readonly message: string;
}

/** What has been written, and its session after it. */
interface SentToAwake {
  readonly session: SessionWithChildren;
  readonly message: MessageEntry;
}

/**
 * Sends a message to a session that is awake, as most are that are written to: with all that belongs to it, in one statement
 * that it shares with the messages that come at the same time. Null when it has written nothing: the message is very long,
 * or the session sleeps, has ended, is gone, is busy with something else or is not the viewer's to write to; which of these,
 * is not said.
 */
export async function sendToAwake(
  context: Context,
  { sessionId, organizationId, message }: PlainMessage,
): Promise<SentToAwake | null> {
  const bare = parseId('session', sessionId);
  if (bare === null || message.length > maxPlainLength) return null;
  const within = organizationId ?? null;
  const createdAt = context.now();
  return gatheringOf(context.store).take({ context, sessionId: bare, within, id: newId(), message, createdAt });
}

/** What is to be sent. */
interface Waiting {
  readonly context: Context;
  readonly sessionId: string;
  readonly within: string | null;
  readonly id: string;
  readonly message: string;
  readonly createdAt: Date;
}

const gatherings = new WeakMap<Store, Gathering<Waiting, SentToAwake | null>>();

/** Where the messages gather that one process sends to one database. */
function gatheringOf(store: Store): Gathering<Waiting, SentToAwake | null> {
  const known = gatherings.get(store);
  if (known) return known;
  const made = createGathering<Waiting, SentToAwake | null>(
    ({ sessionId }) => sessionId,
    (messages) => send(store, messages),
  );
  gatherings.set(store, made);
  return made;
}

async function send(store: Store, messages: readonly Waiting[]): Promise<(SentToAwake | null)[]> {
  const sent: (SentToAwake | null)[] = messages.map(() => null);
  // A row is a session: taking the two other columns off would be a copy.
  const rows = await store
    .execute<SessionWithChildren & { place: number; seq: number }>(statement, parametersOf(messages))
    .catch(unlessRefused);
  for (const session of rows) {
    const { context, id, message, createdAt } = messages[session.place] as Waiting;
    const { bell, viewer } = context;
    bell.ring(`session:${session.id}`);
    bell.ring(`command:${session.id}`);
    bell.ring(`organization:${session.organizationId}`);
    bell.ring('runs');
    const { userId, serviceUserId } = ownerOf(viewer);
    const entry: MessageEntry = {
      sessionId: session.id,
      seq: session.seq,
      id,
      kind: 'MESSAGE',
      messageType: 'user_message',
      body: message,
      data: null,
      userId,
      serviceUserId,
      createdAt,
    };
    sent[session.place] = { session, message: entry };
  }
  return sent;
}

/** The messages, and who writes them: each viewer once, whose rights may be many. */
function parametersOf(messages: readonly Waiting[]): [messages: string, writers: string] {
  const viewers = [...new Set(messages.map(({ context }) => context.viewer))];
  const writers = viewers.map((viewer, key) => {
    const { enterpriseId, all, ids } = organizationsWith(viewer, permissionFor.sendMessage);
    const own = organizationsWith(viewer, manageOwnSessions);
    const { apiKeyId } = viewer;
    return { key, enterpriseId, all, ids, ownAll: own.all, ownIds: own.ids, ...ownerOf(viewer), apiKeyId };
  });
  const rows = messages.map(({ context, sessionId, within, id, message, createdAt }, place) => {
    const writer = viewers.indexOf(context.viewer);
    return { place, writer, sessionId, within, id, message, auditId: newId(), address: context.address, createdAt };
  });
  return [JSON.stringify(rows), JSON.stringify(writers)];
}

/** Nothing has been written: a user or an organization went meanwhile, or the database would have it again. */
function unlessRefused(error: unknown): [] {
  const { code } = error as { code?: unknown };
  if (typeof code === 'string' && /^(?:22|23|40)/.test(code)) return [];
  throw error;
}
