import type { Context } from '../../context.ts';
import { waitsForWorker } from '../../waiting-runs.ts';

// The sessions in the queue. A partial index has their runs.
const waiting = `
  from run r join session s on s.id = r.session_id
 where r.queued_at is not null and ${waitsForWorker}`;

/**
 * Returns the positions of these sessions in the queue of their organization, by age and from 1, by unprefixed id. A
 * session that does not wait is left out. Reads the queues of their organizations once.
 */
export async function readQueuePositions(
  { store }: Pick<Context, 'store'>,
  ids: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await store.query<{ id: string; position: number }>(
    `select id, position from (
       select r.session_id as id,
              (row_number() over (partition by r.organization_id order by r.queued_at, r.session_id))::int as position ${waiting}
          and r.organization_id in (select o.organization_id from session o where o.id = any($1::text[]))) ranked
      where id = any($1::text[])`,
    [ids],
  );
  return new Map(rows.map(({ id, position }) => [id, position]));
}

/**
 * Counts the sessions of these organizations that wait in the queue, by unprefixed id; an organization without any is
 * left out.
 */
export async function countWaitingSessions(
  { store }: Pick<Context, 'store'>,
  organizationIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await store.query<{ id: string; n: number }>(
    `select r.organization_id as id, count(*)::int as n ${waiting} and r.organization_id = any($1::text[]) group by 1`,
    [organizationIds],
  );
  return new Map(rows.map(({ id, n }) => [id, n]));
}
