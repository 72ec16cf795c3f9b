import { DomainError } from '../../common/errors.ts';
import type { Transaction } from '../../store/store.ts';
import type { Context, Services } from '../context.ts';
import { asSystem } from '../sessions/as-system.ts';
import type { SessionRecord } from '../sessions/session.ts';
import { lockRunAndSession } from '../sessions/suspend-session.ts';
import { notifyPullRequests } from '../sessions/write-pull-request.ts';
import type { UnsettledFollowUp } from './follow-up.ts';
import { settle } from './settle.ts';

/** Number of follow-ups of one look. */
const batchSize = 50;
/** The time after which a follow-up is tried again that found the queue of its organization full. */
const fullQueueMs = 60_000;

interface DueFollowUp {
  readonly id: string;
  readonly sessionId: string;
  readonly enterpriseId: string;
}

/**
 * Settles the follow-ups that have waited long enough, each once, whichever process does it. Returns true if there may be
 * more.
 */
export async function settleDueFollowUps(services: Services, isStopped: () => boolean): Promise<boolean> {
  const rows = await services.store.query<DueFollowUp>(
    `select f.id, f.session_id as "sessionId", o.enterprise_id as "enterpriseId" from follow_up f
       join session s on s.id = f.session_id join organization o on o.id = s.organization_id
      where f.state = 'pending' and f.due_at <= $1::timestamptz order by f.due_at limit $2`,
    [services.now(), batchSize],
  );
  for (const row of rows) {
    if (isStopped()) return false;
    await settleDue(services, row);
  }
  return rows.length === batchSize;
}

async function settleDue(services: Services, { id, sessionId, enterpriseId }: DueFollowUp): Promise<void> {
  await services.store.transact(async (tx) => {
    const session = await lockRunAndSession(tx, sessionId);
    // Another process may have settled it, or a comment may have postponed it.
    const [due] = await tx.query<UnsettledFollowUp>(
      `select f.id, f.url, f.key, f.kind, f.summary, f.body from follow_up f
        where f.id = $1 and f.state = 'pending' and f.due_at <= $2::timestamptz`,
      [id, services.now()],
    );
    if (!due) return;
    if (!(await settleOrPostpone(asSystem(services, enterpriseId), tx, session, due))) return;
    await notifyPullRequests(services, tx, session);
  });
}

/** {@link settle}; returns false if the queue of the organization is full: the follow-up then waits a while. */
async function settleOrPostpone(
  context: Context,
  tx: Transaction,
  session: SessionRecord,
  due: UnsettledFollowUp,
): Promise<boolean> {
  await tx.query('savepoint settle');
  try {
    await settle(context, tx, session, due);
    return true;
  } catch (error) {
    if (!(error instanceof DomainError && error.code === 'LIMIT_EXCEEDED')) throw error;
    await tx.query('rollback to savepoint settle');
    const dueAt = new Date(context.now().getTime() + fullQueueMs);
    await tx.query('update follow_up set due_at = $2::timestamptz where id = $1', [due.id, dueAt]);
    return false;
  }
}

/** Returns the time when the next follow-up is due; null: none waits. */
export async function nextFollowUpAt({ store }: Pick<Services, 'store'>): Promise<Date | null> {
  const [row] = await store.query<{ at: Date | null }>(
    `select min(f.due_at) as at from follow_up f where f.state = 'pending'`,
  );
  return row?.at ?? null;
}
