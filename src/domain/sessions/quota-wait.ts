import type { Transaction } from '../../store/store.ts';
import type { Context } from '../context.ts';
import type { StatusChange } from './change-session.ts';
import type { SessionRecord } from './session.ts';

const queueNow =
  'update run set queued_at = $2::timestamptz, quota_since = null, quota_waits = 0 where session_id = $1';

/** Tells if a session waits for a limit of its model's provider. */
export function isWaitingForQuota({ statusDetail }: Pick<SessionRecord, 'statusDetail'>): boolean {
  return statusDetail === 'waiting_for_quota';
}

/**
 * Ends the wait of a session whose run and row are locked, for a user who does not want to wait: it is in the queue now, and
 * the next wait is a first one again. Returns the change of its status; empty if it does not wait. The caller notifies `runs`.
 */
export async function endQuotaWait(context: Context, tx: Transaction, session: SessionRecord): Promise<StatusChange> {
  if (!isWaitingForQuota(session)) return {};
  await tx.query(queueNow, [session.id, context.now()]);
  return { statusDetail: 'working' };
}
