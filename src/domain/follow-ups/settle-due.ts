import type { Services } from '../context.ts';
import { asSystem } from '../sessions/as-system.ts';
import { lockRunAndSession } from '../sessions/suspend-session.ts';
import { notifyPullRequests } from '../sessions/write-pull-request.ts';
import type { UnsettledFollowUp } from './follow-up.ts';
import { settle } from './settle.ts';

/** Number of follow-ups of one look. */
const batchSize = 50;

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
    await settle(asSystem(services, enterpriseId), tx, session, due);
    await notifyPullRequests(services, tx, session);
  });
}

/** Returns the time when the next follow-up is due; null: none waits. */
export async function nextFollowUpAt({ store }: Pick<Services, 'store'>): Promise<Date | null> {
  const [row] = await store.query<{ at: Date | null }>(
    `select min(f.due_at) as at from follow_up f where f.state = 'pending'`,
  );
  return row?.at ?? null;
}
