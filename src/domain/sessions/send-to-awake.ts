import { manageOwnSessions, permissionFor } from '../../auth/permissions.ts';
import { organizationsWith, ownerOf } from '../../auth/viewer.ts';
import { insertAuditEntry } from '../audit.ts';
import type { Context } from '../context.ts';
import { newId, parseId } from '../ids.ts';
import { childIdsColumn, type SessionWithChildren } from './children.ts';
import type { MessageEntry } from './log.ts';
import { sessionColumns } from './session.ts';

/**
 * What a message changes of a `run`; `now` is an expression. A session whose question is open is in the queue already, but
 * waits for a worker only from its answer on.
 */
export const queueing = (now: string): string => `
  crash_count = 0, queued_at = greatest(queued_at, case when queued_at is null or exists (
      select 1 from session s where s.id = run.session_id and s.status = 'running'
         and s.status_detail in ('waiting_for_user', 'waiting_for_approval')) then ${now} end)`;

const isAwake = `s.status in ('new', 'claimed', 'running', 'resuming') and not s.is_archived
     and (s.ended_by is null or s.ended_by not in ('terminated', 'expired'))`;

// Each part takes its lock after the one before it, in the order that holds everywhere: run, head, session. `seen` is of the
// statement's beginning; `moved` asks again, of the row that it has waited for. Where that has ended meanwhile, `added` has no
// session, which its table refuses, and with it the whole statement. That the session changed is said as in `appendEntries`.
const statement = `
  with seen as (
    select s.id from session s join organization o on o.id = s.organization_id
     where s.id = $1 and o.enterprise_id = $2 and o.deleted_at is null and ($3::text is null or s.organization_id = $3)
       and ($4::boolean or s.organization_id = any($5::text[])
            or ((s.user_id = $8 or s.service_user_id = $9) and ($6::boolean or s.organization_id = any($7::text[]))))
       and ${isAwake}),
  queued as (
    update run set ${queueing('$12::timestamptz')} from seen where run.session_id = seen.id returning run.session_id),
  head as (
    update session_head h set next_seq = h.next_seq + 1 from queued where h.session_id = queued.session_id
    returning h.session_id, h.next_seq - 1 as seq),
  moved as (
    update session s set updated_at = greatest(s.updated_at, $12::timestamptz), changed_xid = pg_current_xact_id()
      from head where s.id = head.session_id and ${isAwake}
    returning ${sessionColumns}, ${childIdsColumn}),
  added as (
    insert into log_entry (session_id, seq, id, kind, message_type, body, user_id, service_user_id, created_at)
    select moved.id, head.seq, $10, 'MESSAGE', 'user_message', $11, $8, $9, $12::timestamptz from head left join moved on true
    returning seq),
  audited as (
    ${insertAuditEntry}
    select $13, $2, moved."organizationId", 'send_message', $8, $9, $14, $15, moved.id, $10, '{}'::jsonb, $12::timestamptz
      from moved)
  select moved.*, added.seq from moved cross join added`;

/** A message of the viewer's own that says nothing but its text, and that has been checked. */
export interface PlainMessage {
  /** In any form. */
  readonly sessionId: string;
  readonly organizationId?: string | undefined;
  readonly message: string;
}

/**
 * Sends a message to a session that is awake, as most are that are written to: in one statement, with all that belongs to
 * it. Null when it has written nothing: the session sleeps, has ended, is gone, or is not the viewer's to write to; which of
 * these, is not said.
 */
export async function sendToAwake(
  context: Context,
  { sessionId, organizationId, message }: PlainMessage,
): Promise<{ session: SessionWithChildren; message: MessageEntry } | null> {
  const bare = parseId('session', sessionId);
  if (bare === null) return null;
  const { viewer } = context;
  const [id, owner, createdAt] = [newId(), ownerOf(viewer), context.now()];
  const all = organizationsWith(viewer, permissionFor.sendMessage);
  const own = organizationsWith(viewer, manageOwnSessions);
  const values = [
    ...[bare, viewer.enterpriseId, organizationId ?? null, all.all, all.ids, own.all, own.ids],
    ...[owner.userId, owner.serviceUserId, id, message, createdAt, newId(), viewer.apiKeyId, context.address],
  ];
  const [row] = await context.store
    .execute<SessionWithChildren & { seq: number }>(statement, values)
    .catch(unlessEnded);
  if (!row) return null;
  const { seq, ...session } = row;
  for (const topic of ['session', 'command'] as const) context.bell.ring(`${topic}:${session.id}`);
  context.bell.ring(`organization:${session.organizationId}`);
  context.bell.ring('runs');
  const entry = {
    sessionId: session.id,
    seq,
    id,
    kind: 'MESSAGE',
    messageType: 'user_message',
    body: message,
  } as const;
  return { session, message: { ...entry, data: null, ...owner, createdAt } };
}

/** not_null_violation: the session ended, or fell asleep, while the statement waited for it. */
function unlessEnded(error: unknown): [] {
  if ((error as { code?: unknown }).code === '23502') return [];
  throw error;
}
