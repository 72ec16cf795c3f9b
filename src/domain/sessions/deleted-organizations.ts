import type { Services } from '../context.ts';
import { asSystem } from './as-system.ts';
import { terminateInside } from './terminate-session.ts';

/** Number of sessions read at once. */
const batchSize = 100;

// Sessions that may still have an agent, or could get one: a finished session keeps its warm agent until its lease
// ends.
const live = `
  select s.id, s.organization_id as "organizationId", o.enterprise_id as "enterpriseId"
    from organization o join session s on s.organization_id = o.id
   where o.deleted_at is not null and coalesce(s.ended_by, '') not in ('terminated', 'expired') and s.id > $1
     and (s.status not in ('exit', 'error') or exists (select 1 from lease l where l.session_id = s.id))
   order by s.id limit $2`;

interface LiveRow {
  id: string;
  organizationId: string;
  enterpriseId: string;
}

/**
 * Terminates, as the service itself, every session of a deleted organization that is not over, each in its own
 * transaction. Returns their number. May run in several processes at once. A session that can't be terminated is logged
 * and left for the next run. `isStopping` is called before each.
 */
export async function terminateSessionsOfDeletedOrganizations(
  services: Services,
  isStopping: () => boolean,
): Promise<number> {
  let count = 0;
  let after = '';
  for (;;) {
    const rows = await services.store.query<LiveRow>(live, [after, batchSize]);
    for (const row of rows) {
      if (isStopping()) return count;
      const context = asSystem(services, row.enterpriseId);
      try {
        const { wasOver } = await services.store.transact((tx) => terminateInside(context, tx, row, false));
        if (!wasOver) count += 1;
      } catch (error) {
        const message = 'A session of a deleted organization could not be terminated.';
        services.log.error({ err: error, sessionId: row.id }, message);
      }
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < batchSize) return count;
    after = last.id;
  }
}
