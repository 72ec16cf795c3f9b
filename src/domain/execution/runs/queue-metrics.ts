import { permissionFor } from '../../../auth/permissions.ts';
import { requireEnterprisePermission } from '../../../auth/viewer.ts';
import type { Context } from '../../context.ts';
import { countLimitedSessions } from './queue-reasons.ts';

/** From how many waiting sessions on the queue is called elevated, and high. */
const levels = { elevated: 10, high: 100 } as const;

/** How many of the enterprise's sessions wait for an agent: new, resuming, or claimed and not yet running. */
export interface QueueState {
  readonly size: number;
  /** Those of them that wait because their organization or their user has as many running sessions as it may. */
  readonly limitedSize: number;
  readonly level: 'normal' | 'elevated' | 'high';
}

/** The enterprise's queue. FORBIDDEN without ViewAccountMetrics. */
export async function getQueue(context: Context): Promise<QueueState> {
  requireEnterprisePermission(context.viewer, permissionFor.viewEnterpriseMetrics);
  // By the runs that have something to do: a partial index, short however many sessions there are.
  const [row] = await context.store.query<{ n: number }>(
    `select count(*)::int as n from run r join session s on s.id = r.session_id join organization o on o.id = s.organization_id
      where r.queued_at is not null and s.status in ('new', 'resuming', 'claimed') and o.enterprise_id = $1 and o.deleted_at is null`,
    [context.viewer.enterpriseId],
  );
  const size = row?.n ?? 0;
  const limitedSize = await countLimitedSessions(context, context.viewer.enterpriseId);
  return { size, limitedSize, level: size >= levels.high ? 'high' : size >= levels.elevated ? 'elevated' : 'normal' };
}
