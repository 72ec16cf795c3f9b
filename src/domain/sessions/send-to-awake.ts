import { manageOwnSessions, permissionFor } from '../../auth/permissions.ts';
import { organizationsWith, ownerOf } from '../../auth/viewer.ts';
import type { Store } from '../../store/store.ts';
import { insertAuditEntry } from '../audit.ts';
import type { Context } from '../context.ts';
import { newId, parseId } from '../ids.ts';
import { childIds, type SessionWithChildren } from './children.ts';
import { createGathering, type Gathering } from './gathering.ts';
import type { MessageEntry } from './log.ts';
import { type SessionValues, sessionAsJson, toSession } from './session-json.ts';

/** The longest message that is sent so, in UTF-16 code units: all of a statement are one parameter. */
const maxPlainLength = 16_384;

// `locked` takes all locks of a session at once, by its first message, and leaves out a session of which somebody else has
// one: the statement waits for nobody, so that no session holds up the messages to others, and nothing ends what it has seen
// awake. A `run` that is queued already is left as it is, unless its session asks something: it waits for a worker only from
// the answer on. That a session changed is said as in `appendEntries`.
const statement = `
  with asked as (
    select m.*, w.* from json_to_recordset($1::json) as m("place" int, "writer" int, "sessionId" text, "within" text, "nth" int,
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
    update session s set updated_at = greatest(s.updated_at, locked."newest"), changed_xid = pg_current_xact_id()
      from locked where s.id = locked."sessionId"
    returning s.id, s.organization_id, ${sessionAsJson(childIds)} as session),
  added as (
    insert into log_entry (session_id, seq, id, kind, message_type, body, user_id, service_user_id, service_key_id, created_at)
    select asked."sessionId", head.first + asked."nth" - 1, asked."id", 'MESSAGE', 'user_message', asked."message",
        asked."userId", asked."serviceUserId", asked."serviceKeyId", asked."createdAt"
      from asked join head on head.session_id = asked."sessionId"),
  audited as (
    ${insertAuditEntry}
    select asked."auditId", asked."enterpriseId", moved.organization_id, 'send_message', asked."userId",
        asked."serviceUserId", asked."apiKeyId", asked."address", asked."sessionId", asked."id", '{}'::jsonb, asked."createdAt"
      from asked join moved on moved.id = asked."sessionId")
  select asked."place", (head.first + asked."nth" - 1)::int as seq, moved.session
    from asked join moved on moved.id = asked."sessionId" join head on head.session_id = asked."sessionId"`;

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
 * or the session sleeps, waits with a question, has ended, is gone, is busy with something else or is not the viewer's to
 * write to; which of these, is not said.
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
  const rows = await store.execute<SentRow>(statement, parametersOf(messages)).catch(unlessRefused);
  for (const row of rows) {
    const { context, id, message, createdAt } = messages[row.place] as Waiting;
    const { bell, viewer } = context;
    const session = Object.assign(toSession(row.session), { childIds: row.session[29] });
    bell.ring(`session:${session.id}`);
    bell.ring(`command:${session.id}`);
    bell.ring(`organization:${session.organizationId}`);
    bell.ring('runs');
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
    sent[row.place] = { session, message: entry };
  }
  return sent;
}

interface SentRow {
  readonly place: number;
  readonly seq: number;
  readonly session: SessionValues<[childIds: readonly string[]]>;
}

/** The messages of one session and one writer: the statement takes all of them or none. */
interface Together {
  readonly first: Waiting;
  readonly places: number[];
  newest: Date;
}

/**
 * The messages, and who writes them: each viewer once, whose rights may be many. Of a session to which several write at the
 * same time only the first one's messages are asked for.
 */
function parametersOf(messages: readonly Waiting[]): [messages: string, writers: string] {
  const viewers = [...new Set(messages.map(({ context }) => context.viewer))];
  const writers = viewers.map((viewer, key) => {
    const { enterpriseId, all, ids } = organizationsWith(viewer, permissionFor.sendMessage);
    const own = organizationsWith(viewer, manageOwnSessions);
    const { apiKeyId } = viewer;
    return { key, enterpriseId, all, ids, ownAll: own.all, ownIds: own.ids, ...ownerOf(viewer), apiKeyId };
  });
  const sessions = new Map<string, Together>();
  for (const [place, message] of messages.entries()) {
    const known = sessions.get(message.sessionId);
    if (!known) sessions.set(message.sessionId, { first: message, places: [place], newest: message.createdAt });
    else if (message.context.viewer === known.first.context.viewer && message.within === known.first.within) {
      known.places.push(place);
      if (message.createdAt > known.newest) known.newest = message.createdAt;
    }
  }
  const rows = [...sessions.values()].flatMap(({ places, newest }) =>
    places.map((place, n) => {
      const { context, sessionId, within, id, message, createdAt } = messages[place] as Waiting;
      const writer = viewers.indexOf(context.viewer);
      const about = { place, writer, sessionId, within, nth: n + 1, count: places.length };
      return { ...about, id, message, auditId: newId(), address: context.address, createdAt, newest };
    }),
  );
  return [JSON.stringify(rows), JSON.stringify(writers)];
}

/** Nothing has been written: a user or an organization went meanwhile, or the database would have it again. */
function unlessRefused(error: unknown): [] {
  const { code } = error as { code?: unknown };
  if (typeof code === 'string' && /^(?:22|23|40)/.test(code)) return [];
  throw error;
}
