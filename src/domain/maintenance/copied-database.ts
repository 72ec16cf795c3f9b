import { isSameDatabase } from '../../store/database-identity.ts';
import { deleteProcessRows } from '../../store/process-rows.ts';
import type { Transaction } from '../../store/store.ts';
import { continueTransactionNumbers } from '../../store/transaction-numbers.ts';
import { resourceKinds } from '../changes/change-source.ts';
import type { Log } from '../context.ts';

/** Properties of the database that a start compares with the recorded ones. */
export interface FoundDatabase {
  /** The result of `Store.readIdentity`. */
  readonly identity: string | null;
  /** The identity that the last start recorded; null: none. */
  readonly recordedIdentity: string | null;
}

// Every visible row was written by a transaction below next_transaction(), unless it was restored from another cluster. Some
// index scans for each enterprise and each organization.
const largestNumber = `
  select max(n.xid)::text as largest, coalesce(max(n.xid) >= next_transaction(), false) as "isAhead" from (
    select a.xid from enterprise p cross join lateral (
      select a.xid from audit_entry a where a.enterprise_id = p.id order by a.xid desc limit 1) a
    union all
    select c.changed_xid from organization o cross join lateral (
      select c.changed_xid from session_change c where c.organization_id = o.id order by c.changed_xid desc limit 1) c
    union all
    select c.changed_xid from (select id from organization union all select id from enterprise) p
      cross join unnest(array['${resourceKinds.join("', '")}']) kind cross join lateral (
        select c.changed_xid from resource_change c where c.scope_id = p.id and c.kind = kind
         order by c.changed_xid desc limit 1) c) n`;

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
  const [found] = await tx.query<{ largest: string | null; isAhead: boolean }>(largestNumber);
  const isAhead = found?.isAhead === true;
  if (identity !== null && identity !== recordedIdentity)
    await tx.query('update installation set database_identity = $1', [identity]);
  if (!isOther && !isAhead) return false;
  // This cluster's own numbers would hide entries and changes from readers that compare them with those of the other cluster.
  if (isAhead) await continueTransactionNumbers((sql) => tx.query(sql), BigInt(found?.largest ?? 0));
  // They belong to processes of the original.
  await deleteProcessRows((sql) => tx.query(sql));
  const message =
    'This database is a copy of the one that the service last ran on. Leases of its workers were deleted.';
  log.warn({ identity, recordedIdentity, isContinued: isAhead }, message);
  return true;
}
