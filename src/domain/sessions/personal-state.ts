import type { Viewer } from '../../auth/viewer.ts';
import { DomainError, refuse } from '../../common/errors.ts';
import type { Context } from '../context.ts';
import { prefixedId } from '../ids.ts';
import { getSession } from './find-session.ts';
import type { SessionRecord } from './session.ts';

/** Maximum number of sessions that a user pins. */
const maxPins = 100;

/** Read marks and pins of a user for a session. */
export interface PersonalState {
  readonly isUnread: boolean;
  readonly isPinned: boolean;
  /** The last entry of its log that the user has read; null: none was recorded. */
  readonly lastReadSeq: number | null;
}

/** Returns the id of the user that the viewer is; null: it is a service user, a service key or the service itself. */
export const userIdOf = ({ principal }: Viewer): string | null => (principal.type === 'USER' ? principal.id : null);

/** {@link userIdOf}; throws FORBIDDEN, without a permission, for a viewer that is not a user. */
export function requireUser(viewer: Viewer): string {
  const id = userIdOf(viewer);
  if (id !== null) return id;
  throw new DomainError(
    'FORBIDDEN',
    'Only users have read marks, pins and saved views, but this key is not of a user.',
  );
}

// A session that its user never opened is unread if the user started it. All others only become unread after the user opened them.
const states = `
  select s.id, s.updated_at > coalesce(r.read_at, case when s.user_id = $2 then '-infinity' else 'infinity' end::timestamptz) as "isUnread",
      p.session_id is not null as "isPinned", r.seq as "lastReadSeq"
    from session s left join session_read r on r.user_id = $2 and r.session_id = s.id
    left join session_pin p on p.user_id = $2 and p.session_id = s.id
   where s.id = any($1::text[])`;

/**
 * Returns what the viewer has read and pinned of sessions that it may see, in the order of their unprefixed ids. For a
 * viewer that is not a user: nothing.
 */
export async function readPersonalStates(
  { store, viewer }: Context,
  sessionIds: readonly string[],
): Promise<PersonalState[]> {
  const userId = userIdOf(viewer);
  const rows =
    userId === null ? [] : await store.query<PersonalState & { readonly id: string }>(states, [sessionIds, userId]);
  const found = new Map(rows.map(({ id, ...state }) => [id, state]));
  return sessionIds.map((id) => found.get(id) ?? { isUnread: false, isPinned: false, lastReadSeq: null });
}

// The last entry is not older than the last change of the session, so that the whole log is read. Nothing becomes unread again.
const mark = `
  insert into session_read (user_id, session_id, seq, read_at)
  select $2, s.id, e.seq, case when e.seq = h.next_seq - 1 then greatest(e.created_at, s.updated_at) else e.created_at end
    from session s join session_head h on h.session_id = s.id
    join log_entry e on e.session_id = s.id and e.seq = least($3::int, h.next_seq - 1)
   where s.id = $1
  on conflict (user_id, session_id) do update set seq = excluded.seq, read_at = excluded.read_at
   where session_read.read_at < excluded.read_at`;

/**
 * Records that the viewer has read the log of a session up to an entry; without `seq`, all of it. Writes nothing if the viewer has read
 * that far. Throws NOT_FOUND, FORBIDDEN (also for a viewer that is not a user), and INVALID_INPUT for a number below 1.
 */
export async function markSessionRead(
  context: Context,
  { sessionId, seq }: { readonly sessionId: string; readonly seq?: number | null | undefined },
): Promise<SessionRecord> {
  const session = await getSession(context, sessionId);
  const userId = requireUser(context.viewer);
  if (seq != null && seq < 1) throw refuse(['seq'], `"seq" must be at least 1, but was ${seq}.`);
  const [before] = await readPersonalStates(context, [session.id]);
  if (before?.isUnread || before?.lastReadSeq === null) {
    await context.store.execute(mark, [session.id, userId, seq ?? 2_147_483_647]);
  }
  return session;
}

/** Locks a user, so that writes that count its pins or views wait for each other. */
export const lockUser = 'select id from user_account where id = $1 for no key update';

/**
 * Pins a session for the viewer. Throws NOT_FOUND, FORBIDDEN (also for a viewer that is not a user), and LIMIT_EXCEEDED beyond 100
 * pinned sessions.
 */
export async function pinSession(context: Context, sessionId: string): Promise<SessionRecord> {
  const session = await getSession(context, sessionId);
  const userId = requireUser(context.viewer);
  await context.store.transact(async (tx) => {
    await tx.query(lockUser, [userId]);
    const [row] = await tx.query<{ count: number; has: boolean }>(
      'select count(*)::int as count, coalesce(bool_or(session_id = $2), false) as has from session_pin where user_id = $1',
      [userId, session.id],
    );
    if (row?.has) return;
    if ((row?.count ?? 0) >= maxPins) {
      const message = `A user pins at most ${maxPins} sessions: unpin one before you pin ${prefixedId('session', session.id)}.`;
      throw refuse(['sessionId'], message, 'LIMIT_EXCEEDED');
    }
    await tx.query('insert into session_pin (user_id, session_id, created_at) values ($1, $2, $3::timestamptz)', [
      userId,
      session.id,
      context.now(),
    ]);
  });
  return session;
}

/** Removes the viewer's pin of a session. Throws NOT_FOUND and FORBIDDEN as {@link pinSession}. */
export async function unpinSession(context: Context, sessionId: string): Promise<SessionRecord> {
  const session = await getSession(context, sessionId);
  const userId = requireUser(context.viewer);
  await context.store.execute('delete from session_pin where user_id = $1 and session_id = $2', [userId, session.id]);
  return session;
}
