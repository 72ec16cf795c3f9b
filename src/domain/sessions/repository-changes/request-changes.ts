import type { Context } from '../../context.ts';
import { getSession } from '../find-session.ts';
import type { SessionRecord } from '../session.ts';

/** Time in which an open turn is compared at most once. */
const paceMs = 10_000;

/**
 * Requests that the worker of a session's open turn stores the changes so far. Does nothing without an open turn, and if it was
 * requested within 10 seconds. Throws FORBIDDEN, NOT_FOUND.
 */
export async function requestChanges(context: Context, input: { readonly sessionId: string }): Promise<SessionRecord> {
  const session = await getSession(context, input.sessionId);
  const now = context.now();
  const requested = await context.store.execute(
    `update run set changes_requested_at = $2::timestamptz
      where session_id = $1 and is_turn_open and (changes_requested_at is null or changes_requested_at <= $3::timestamptz)
        and exists (select 1 from session_repository r where r.session_id = $1)
      returning session_id`,
    [session.id, now, new Date(now.getTime() - paceMs)],
  );
  if (requested.length > 0) context.notifier.notify(`command:${session.id}`);
  return session;
}
