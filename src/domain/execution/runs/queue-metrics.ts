import { permissionFor } from '../../../auth/permissions.ts';
import { requireEnterprisePermission } from '../../../auth/viewer.ts';
import type { Context } from '../../context.ts';
import { countLimitedSessions } from './queue-reasons.ts';

/** Minimum numbers of waiting sessions of the levels elevated and high. */
const levels = { elevated: 10, high: 100 } as const;

/** The number of the enterprise's sessions that wait for an agent: new, resuming, or claimed and not yet running. */
export interface QueueState {
  readonly size: number;
  /**
   * The number of them that wait because their organization or their user has reached its limit of running sessions.
   */
  readonly limitedSize: number;
  readonly level: 'normal' | 'elevated' | 'high';
}

/** Returns the enterprise's queue. Throws FORBIDDEN without ViewAccountMetrics. */
export async function getQueue(context: Context): Promise<QueueState> {
  requireEnterprisePermission(context.viewer, permissionFor.viewEnterpriseMetrics);
  // Uses the partial index of queued runs, which is short however many sessions there are.
  const [row] = await context.store.query<{ n: number }>(
    `select count(*)::int as n from run r join session s on s.id = r.session_id join organization o on o.id = s.organization_id
      where r.queued_at is not null and s.status in ('new', 'resuming', 'claimed') and o.enterprise_id = $1 and o.deleted_at is null`,
    [context.viewer.enterpriseId],
  );
  const size = row?.n ?? 0;
  const limitedSize = await countLimitedSessions(context, context.viewer.enterpriseId);
  return { size, limitedSize, level: size >= levels.high ? 'high' : size >= levels.elevated ? 'elevated' : 'normal' };
}
