import type { Services } from '../context.ts';
import { isAuditEntryHeld } from '../legal-holds/held.ts';

/** Entries in one statement. */
const batchSize = 1_000;

const enterprises = 'select id from enterprise order by id';

// The last of the deleted entries is recorded, because ascending readers must not skip what they have not read.
const prune = `
  with old as (
    select e.id from audit_entry e where e.enterprise_id = $1 and e.created_at < $2::timestamptz and not ${isAuditEntryHeld}
     order by e.created_at, e.id limit $3 for update skip locked),
  gone as (delete from audit_entry e using old where e.id = old.id returning e.xid, e.id),
  last as (select gone.xid, gone.id from gone order by gone.xid desc, gone.id desc limit 1),
  moved as (
    update enterprise n set forgotten_audit_xid = last.xid, forgotten_audit_id = last.id from last
     where n.id = $1 and (n.forgotten_audit_xid is null or (n.forgotten_audit_xid, n.forgotten_audit_id) < (last.xid, last.id)))
  select count(*)::int as count from gone`;

/**
 * Deletes the entries of audit logs that are older than the retention time, unless a legal hold covers them. Returns their number. May run in several processes at
 * once.
 */
export async function pruneAuditLogs(services: Services, isStopped: () => boolean): Promise<number> {
  const { auditLogMs } = services.retention;
  if (auditLogMs === null) return 0;
  const before = new Date(services.now().getTime() - auditLogMs);
  let count = 0;
  for (const { id } of await services.store.query<{ id: string }>(enterprises)) {
    for (;;) {
      if (isStopped()) return count;
      const [row] = await services.store.execute<{ count: number }>(prune, [id, before, batchSize]);
      count += row?.count ?? 0;
      if ((row?.count ?? 0) < batchSize) break;
    }
  }
  return count;
}
