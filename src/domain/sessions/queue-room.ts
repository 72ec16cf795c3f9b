import type { Transaction } from '../../store/store.ts';
import type { Context, OrganizationQuotas } from '../context.ts';
import { type OwnQuotas, requireQueueRoom } from '../identity/organizations/organization-quotas.ts';

/**
 * SQL condition: the run `r` of a session is neither in the queue nor on a worker. A message, or another act that gives it work, puts it
 * into the queue. The agent of a session on a worker takes the work at once.
 */
const isAsleep = `r.queued_at is null and not exists (
  select 1 from lease l where l.session_id = r.session_id and l.expires_at > now())`;

const lockRun = `
  select o.id, o.max_queued_sessions as "maxQueuedSessions", ${isAsleep} as "isAsleep"
    from run r join organization o on o.id = r.organization_id where r.session_id = $1 for update of r`;

interface LockedRun extends Pick<OwnQuotas, 'maxQueuedSessions'> {
  /** The id of the organization. */
  readonly id: string;
  readonly isAsleep: boolean;
}

/**
 * Locks the run of a session, and returns a check that the queue of its organization has room if an act puts the session into it. The check
 * throws LIMIT_EXCEEDED; call it before the act writes.
 */
export async function lockRunToWake(
  context: Pick<Context, 'organizationQuotas'>,
  tx: Transaction,
  sessionId: string,
): Promise<() => Promise<void>> {
  const [run] = await tx.query<LockedRun>(lockRun, [sessionId]);
  return async () => {
    if (run?.isAsleep) await requireQueueRoom(context, tx, run);
  };
}

/** The check of {@link lockRunToWake}, at once. */
export async function requireRoomToWake(
  context: Pick<Context, 'organizationQuotas'>,
  tx: Transaction,
  sessionId: string,
): Promise<void> {
  const requireRoom = await lockRunToWake(context, tx, sessionId);
  await requireRoom();
}

/**
 * SQL condition: work for the session of a run `r` needs no room in the queue of its organization `o`. `defaultMax` is a parameter:
 * {@link defaultQueueLimit}.
 */
export const needsNoRoom = (defaultMax: string) =>
  `(coalesce(o.max_queued_sessions, ${defaultMax}::int) = 0 or not (${isAsleep}))`;

/** The limit of the queue of organizations that have none of their own; 0: no limit. */
export const defaultQueueLimit = ({ maxQueuedSessions }: OrganizationQuotas): number => maxQueuedSessions ?? 0;
