import { isSameDatabase } from '../../store/database-identity.ts';
import type { Transaction } from '../../store/store.ts';
import { resourceKinds } from '../changes/change-source.ts';
import type { Log } from '../context.ts';

/** Properties of the database that a start compares with the recorded ones. */
export interface FoundDatabase {
  /** The result of `Store.readIdentity`. */
  readonly identity: string | null;
  /** The identity that the last start recorded; null: none. */
  readonly recordedIdentity: string | null;
}

// Every visible row was written by a transaction below xmax, unless it was restored from another cluster. Some
// index scans for each enterprise and each organization.
const hasFutureTransactions = `
  with now as (select pg_snapshot_xmax(pg_current_snapshot()) as xmax)
  select exists (
      select 1 from enterprise p cross join lateral (
        select a.xid from audit_entry a where a.enterprise_id = p.id order by a.xid desc limit 1) a where a.xid >= now.xmax)
    or exists (
      select 1 from organization o cross join lateral (
        select c.changed_xid from session_change c where c.organization_id = o.id order by c.changed_xid desc limit 1) c
       where c.changed_xid >= now.xmax)
    or exists (
      select 1 from (select id from organization union all select id from enterprise) p
        cross join unnest(array['${resourceKinds.join("', '")}']) kind cross join lateral (
          select c.changed_xid from resource_change c where c.scope_id = p.id and c.kind = kind
           order by c.changed_xid desc limit 1) c
       where c.changed_xid >= now.xmax) as "isAhead"
    from now`;

const isUnreadBy = (feedTable: string) => `exists (
  select 1 from ${feedTable} f join session_change c on c.session_id = s.id
   where f.organization_id = s.organization_id and (c.changed_xid, c.session_id) > (f.changed_xid, f.session_id))`;

// Transaction numbers of another cluster would hide entries and changes from readers that compare them with this cluster's.
// A session with changes that a feed has not read counts as changed now; every other one as changed before all feeds.
const renumber = [
  `update session s set changed_xid = case when ${isUnreadBy('webhook_feed')} or ${isUnreadBy('automation_feed')}
     then pg_current_xact_id() else '0'::xid8 end`,
  `update webhook_feed set changed_xid = '1', session_id = ''`,
  `update automation_feed set changed_xid = '1', session_id = ''`,
  `update audit_entry set xid = '0'`,
  `update resource_change set changed_xid = '0'`,
  `update installation set forgotten_changes_xid = '0'`,
];

/**
 * Recognizes a database that was copied since the last start: restored from a dump, or in a copied data directory. Repairs what a
 * copy breaks, and records the new identity. Returns whether it is a copy. A start calls it under its advisory lock.
 */
export async function adoptCopiedDatabase(
  tx: Transaction,
  log: Pick<Log, 'warn'>,
  { identity, recordedIdentity }: FoundDatabase,
): Promise<boolean> {
  const isOther = identity !== null && recordedIdentity !== null && !isSameDatabase(identity, recordedIdentity);
  const [found] = await tx.query<{ isAhead: boolean }>(hasFutureTransactions);
  const isAhead = found?.isAhead === true;
  if (identity !== null && identity !== recordedIdentity)
    await tx.query('update installation set database_identity = $1', [identity]);
  if (!isOther && !isAhead) return false;
  if (isAhead) for (const statement of renumber) await tx.query(statement);
  // They belong to processes of the original.
  await tx.query('delete from lease');
  await tx.query('delete from worker');
  const message =
    'This database is a copy of the one that the service last ran on. Leases of its workers were deleted.';
  log.warn({ identity, recordedIdentity, isRenumbered: isAhead }, message);
  return true;
}
