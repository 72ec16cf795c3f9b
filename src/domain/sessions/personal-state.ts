import type { Viewer } from '../../auth/viewer.ts';
import { DomainError, refuse } from '../../common/errors.ts';
import type { Transaction } from '../../store/store.ts';
import type { Context } from '../context.ts';
import { prefixedId } from '../ids.ts';
import { getSession } from './find-session.ts';
import type { SessionRecord } from './session.ts';

/** Maximum number of sessions that a principal pins. */
const maxPins = 100;

/** Read marks and pins of a user or a service user for a session. */
export interface PersonalState {
  readonly isUnread: boolean;
  readonly isPinned: boolean;
  /** The last entry of its log that the principal has read; null: none was recorded. */
  readonly lastReadSeq: number | null;
}

/**
 * Returns the id of the user or service user that the viewer is; null: it is a service key or the service itself. The administrator of
 * the first start is a service user, and signs in to the console.
 */
export const principalIdOf = ({ principal }: Viewer): string | null =>
  principal.type === 'USER' || principal.type === 'SERVICE_USER' ? principal.id : null;

/** {@link principalIdOf}; throws FORBIDDEN, without a permission, for a service key. */
export function requirePrincipalId(viewer: Viewer): string {
  const id = principalIdOf(viewer);
  if (id !== null) return id;
  throw new DomainError(
    'FORBIDDEN',
    'Only users and service users have read marks, pins and saved views, but this is a service key.',
  );
}

// A session that nobody marked is unread for the principal that started it. All others only become unread after they were marked.
const states = `
  select s.id, s.updated_at > coalesce(r.read_at, case when $2 in (s.user_id, s.service_user_id) then '-infinity' else 'infinity' end::timestamptz) as "isUnread",
      p.session_id is not null as "isPinned", r.seq as "lastReadSeq"
    from session s left join session_read r on r.principal_id = $2 and r.session_id = s.id
    left join session_pin p on p.principal_id = $2 and p.session_id = s.id
   where s.id = any($1::text[])`;

/**
 * Returns what the viewer has read and pinned of sessions that it may see, in the order of their unprefixed ids. For a
 * service key: nothing.
 */
export async function readPersonalStates(
  { store, viewer }: Context,
  sessionIds: readonly string[],
): Promise<PersonalState[]> {
  const principalId = principalIdOf(viewer);
  const rows =
    principalId === null
      ? []
      : await store.query<PersonalState & { readonly id: string }>(states, [sessionIds, principalId]);
  const found = new Map(rows.map(({ id, ...state }) => [id, state]));
  return sessionIds.map((id) => found.get(id) ?? { isUnread: false, isPinned: false, lastReadSeq: null });
}

// The last entry is not older than the last change of the session, so that the whole log is read. Nothing becomes unread again.
const mark = `
  insert into session_read (principal_id, session_id, seq, read_at)
  select $2, s.id, e.seq, case when e.seq = h.next_seq - 1 then greatest(e.created_at, s.updated_at) else e.created_at end
    from session s join session_head h on h.session_id = s.id
    join log_entry e on e.session_id = s.id and e.seq = least($3::int, h.next_seq - 1)
   where s.id = $1
  on conflict (principal_id, session_id) do update set seq = excluded.seq, read_at = excluded.read_at
   where session_read.read_at < excluded.read_at`;

/**
 * Records that the viewer has read the log of a session up to an entry; without `seq`, all of it. Writes nothing if the viewer has read
 * that far. Throws NOT_FOUND, FORBIDDEN (also for a service key), and INVALID_INPUT for a number below 1.
 */
export async function markSessionRead(
  context: Context,
  { sessionId, seq }: { readonly sessionId: string; readonly seq?: number | null | undefined },
): Promise<SessionRecord> {
  const session = await getSession(context, sessionId);
  const principalId = requirePrincipalId(context.viewer);
  if (seq != null && seq < 1) throw refuse(['seq'], `"seq" must be at least 1, but was ${seq}.`);
  const [before] = await readPersonalStates(context, [session.id]);
  if (before?.isUnread || before?.lastReadSeq === null) {
    await context.store.execute(mark, [session.id, principalId, seq ?? 2_147_483_647]);
  }
  return session;
}

const keep = `
  update session_read r set seq = h.next_seq - 1, read_at = greatest(r.read_at, $4::timestamptz)
    from session_head h where h.session_id = $2 and r.session_id = $2 and r.principal_id = $1 and r.read_at >= $3::timestamptz`;

/**
 * Keeps a session read for the viewer who has changed it from `before` to `after` in this transaction: one's own change is no news. If
 * the viewer had not read all of it before, nothing happens.
 */
export async function keepRead(
  { viewer }: Pick<Context, 'viewer'>,
  tx: Transaction,
  before: Pick<SessionRecord, 'id' | 'updatedAt'>,
  after: Pick<SessionRecord, 'updatedAt'>,
): Promise<void> {
  const principalId = principalIdOf(viewer);
  if (principalId !== null) await tx.query(keep, [principalId, before.id, before.updatedAt, after.updatedAt]);
}

const lockUser = 'select id from user_account where id = $1 for no key update';
const lockServiceUser = 'select id from service_user where id = $1 for no key update';

/** Returns the statement that locks the row of a viewer, so that writes that count its pins or views wait for each other. */
export const lockPrincipal = ({ principal }: Viewer): string =>
  principal.type === 'USER' ? lockUser : lockServiceUser;

/**
 * Pins a session for the viewer. Throws NOT_FOUND, FORBIDDEN (also for a service key), and LIMIT_EXCEEDED beyond 100
 * pinned sessions.
 */
export async function pinSession(context: Context, sessionId: string): Promise<SessionRecord> {
  const session = await getSession(context, sessionId);
  const principalId = requirePrincipalId(context.viewer);
  await context.store.transact(async (tx) => {
    await tx.query(lockPrincipal(context.viewer), [principalId]);
    const [row] = await tx.query<{ count: number; has: boolean }>(
      'select count(*)::int as count, coalesce(bool_or(session_id = $2), false) as has from session_pin where principal_id = $1',
      [principalId, session.id],
    );
    if (row?.has) return;
    if ((row?.count ?? 0) >= maxPins) {
      const message = `You can pin at most ${maxPins} sessions: unpin one before you pin ${prefixedId('session', session.id)}.`;
      throw refuse(['sessionId'], message, 'LIMIT_EXCEEDED');
    }
    await tx.query('insert into session_pin (principal_id, session_id, created_at) values ($1, $2, $3::timestamptz)', [
      principalId,
      session.id,
      context.now(),
    ]);
  });
  return session;
}

/** Removes the viewer's pin of a session. Throws NOT_FOUND and FORBIDDEN as {@link pinSession}. */
export async function unpinSession(context: Context, sessionId: string): Promise<SessionRecord> {
  const session = await getSession(context, sessionId);
  const principalId = requirePrincipalId(context.viewer);
  await context.store.execute('delete from session_pin where principal_id = $1 and session_id = $2', [
    principalId,
    session.id,
  ]);
  return session;
}
