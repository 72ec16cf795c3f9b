import type { Context } from '../../context.ts';
import type { SessionRecord } from '../../sessions/session.ts';
import { waitingDetails } from '../../sessions/status.ts';
import { waitsForWorker } from '../../waiting-runs.ts';
import { graceMs, organizationLimit, runningSessions } from './fair-queue.ts';

/** Returns true if a session may wait for a worker, by its status: {@link waitsForWorker}. */
export const mayWaitForWorker = ({
  status,
  statusDetail,
  pendingQuestionId,
}: Pick<SessionRecord, 'status' | 'statusDetail' | 'pendingQuestionId'>): boolean =>
  status === 'new' ||
  status === 'resuming' ||
  (status === 'running' && pendingQuestionId === null && (waitingDetails as readonly unknown[]).includes(statusDetail));

/** The reasons why a session waits in the queue. */
export type QueueReason = 'organization_limit' | 'user_limit' | 'no_worker';

// Sessions in the queue without a worker: some sessions, or those of an enterprise.
const reasonOf = (condition: string) => `
  with running as materialized (${runningSessions}),
  organization_running as (select organization_id, sum(n)::int as n from running group by 1)
  select r.session_id as id, r.organization_id as o, r.principal_id as p,
         case when coalesce(u.n, 0) >= $4::int then 'user_limit'
              when coalesce(g.n, 0) >= ${organizationLimit('$3::int')} then 'organization_limit'
              else 'no_worker' end as reason,
         $4::int - coalesce(u.n, 0) as "userRoom", ${organizationLimit('$3::int')} - coalesce(g.n, 0) as "organizationRoom"
    from run r join session s on s.id = r.session_id join organization o on o.id = s.organization_id
    left join lease l on l.session_id = r.session_id
    left join running u on u.organization_id = r.organization_id and u.principal_id = r.principal_id
    left join organization_running g on g.organization_id = r.organization_id
   where ${condition} and r.queued_at is not null and o.deleted_at is null
     and (l.session_id is null or l.expires_at < now() - $2::int * interval '1 millisecond')`;

const ofSessions = reasonOf(`r.session_id = any($1::text[]) and ${waitsForWorker}`);

/**
 * Returns the reasons why these sessions wait in the queue, by unprefixed id. A session that does not wait is left out.
 */
export async function readQueueReasons(
  context: Context,
  ids: readonly string[],
): Promise<ReadonlyMap<string, QueueReason>> {
  const { perOrganization, perUser } = context.concurrencyLimits;
  const rows = await context.store.query<{ id: string; reason: QueueReason }>(ofSessions, [
    ...[ids, graceMs, perOrganization, perUser],
  ]);
  return new Map(rows.map(({ id, reason }) => [id, reason]));
}

// The sessions beyond the remaining number of each user, and of each organization, wait for a limit.
const countLimited = `
  with waiting as (${reasonOf(`o.enterprise_id = $1 and ${waitsForWorker}`)}),
  by_user as (
    select o, "organizationRoom" as room, count(*) as n, least(count(*), greatest(coalesce("userRoom", count(*)), 0)) as may
      from waiting group by o, p, "userRoom", "organizationRoom"),
  by_organization as (
    select sum(n) as n, least(sum(may), greatest(coalesce(room, sum(may)), 0)) as may from by_user group by o, room)
  select coalesce(sum(n - may), 0)::int as n from by_organization`;

/** Counts the sessions of an enterprise that wait because of a limit of concurrent sessions. */
export async function countLimitedSessions(context: Context, enterpriseId: string): Promise<number> {
  const { perOrganization, perUser } = context.concurrencyLimits;
  const [row] = await context.store.query<{ n: number }>(countLimited, [
    ...[enterpriseId, graceMs, perOrganization, perUser],
  ]);
  return row?.n ?? 0;
}

const isOver = `
  with running as materialized (${runningSessions.replace('where', 'where r.session_id <> $1 and')})
  select coalesce((select sum(n) from running where organization_id = r.organization_id) >= ${organizationLimit('$3::int')}, false)
         or coalesce((select sum(n) from running where organization_id = r.organization_id
              and principal_id = r.principal_id) >= $4::int, false) as "isOver"
    from run r join organization o on o.id = r.organization_id where r.session_id = $1`;

/**
 * Tells whether a session must go back to the queue although its agent is warm: the limits are reached by other sessions.
 */
export async function isOverLimit(context: Context, sessionId: string): Promise<boolean> {
  const { perOrganization, perUser } = context.concurrencyLimits;
  const [row] = await context.store.query<{ isOver: boolean }>(isOver, [
    ...[sessionId, graceMs, perOrganization, perUser],
  ]);
  return row?.isOver === true;
}
