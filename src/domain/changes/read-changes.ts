import type { Batch } from '../../realtime/log-source.ts';
import { isAfter, settledCursor, type TransactionCursor } from '../../realtime/transaction-cursor.ts';
import type { ChangeCursor } from './change-cursor.ts';
import type { ChangedKind, ChangeScope, ChangeSource, ChangeStore, ChangeTable } from './change-source.ts';

/** A changed object. */
export interface ChangedEntity<R> {
  readonly kind: ChangedKind;
  /** Unprefixed id. */
  readonly id: string;
  /** Unprefixed id of its organization, or of the enterprise for an object of the enterprise. */
  readonly scopeId: string;
  readonly isRemoved: boolean;
  /** The transaction that changed it last. */
  readonly xid: bigint;
  /** Its current record; null: it was removed. */
  readonly record: R | null;
  /** All changes up to this one, and all at or before this position, have been read. */
  readonly position: TransactionCursor;
}

/** Changed objects, without duplicates, in the order of their last changes. */
export interface Changes<R> extends Batch<ChangeCursor> {
  readonly items: readonly ChangedEntity<R>[];
  /** The unprefixed ids of the existing organizations of the scope, and of the enterprise. */
  readonly scopeIds: ReadonlySet<string>;
}

/**
 * Maximum number of seen changes: beyond it, only changes before which none can commit are read, so that memory is
 * bounded.
 */
const maxSeen = 1_000;

/** Returns the position of a reader of all changes from now on. */
export async function currentChangePosition(
  store: ChangeStore,
  { tables }: Pick<ChangeSource<unknown>, 'tables'>,
  scope: ChangeScope,
): Promise<ChangeCursor> {
  const recent = tables.map((table) => readTable(table, ['c.changed_xid >= now.xmin'], 'limit $3'));
  const rows = await store.query<{ xmin: string; id: string | null; xid: string | null }>(
    `with now as (select oldest_transaction() as xmin), scope as materialized (${scopeQuery(scope)})
     select now.xmin::text as xmin, c.id, c.xid from now left join lateral (
       select c.id, c.changed_xid::text as xid from scope cross join lateral (${recent.join(' union all ')}) c limit $3) c on true`,
    [scope.enterpriseId, scope.ids, maxSeen],
  );
  const seen = rows.flatMap(({ id, xid }): [string, bigint][] =>
    id === null || xid === null ? [] : [[id, BigInt(xid)]],
  );
  return { xid: BigInt(rows[0]?.xmin ?? 0), id: '', seen: new Map(seen) };
}

// $1: the enterprise; $2: the organizations, or null.
const scopeQuery = ({ withEnterprise = false }: ChangeScope): string =>
  `select o.id from organization o
    where o.enterprise_id = $1 and o.deleted_at is null and ($2::text[] is null or o.id = any($2::text[]))
    ${withEnterprise ? 'union all select $1::text' : ''}`;

/** Returns the statement that reads the changes of a table in the scope `scope.id`. */
const readTable = ({ kind, from, id, scopeId, where, isRemoved }: ChangeTable, more: readonly string[], end: string) =>
  `(select '${kind}' as kind, ${id} as id, ${scopeId} as scope_id, ${isRemoved} as is_removed, c.changed_xid from ${from}
     where ${[`${scopeId} = scope.id`, ...where, ...more].join(' and ')} ${end})`;

interface ChangeRow {
  readonly xmin: string;
  /** In the first row only; null: there are none. */
  readonly scopeIds: readonly string[] | null;
  /** Null: nothing has changed. */
  readonly changedId: string | null;
  readonly changedKind: ChangedKind;
  readonly changedScopeId: string;
  readonly changedXid: string;
  readonly isRemoved: boolean;
}

/**
 * Reads the objects that were created, changed or removed beyond a position, at most `limit`, in one statement: a few
 * index entries of each table and scope, and then the objects. Does not check permissions.
 */
export async function readChanges<R>(
  store: ChangeStore,
  source: ChangeSource<R>,
  scope: ChangeScope,
  position: ChangeCursor,
  limit: number,
): Promise<Changes<R>> {
  const { columns, joins } = source.record;
  const changed = source.tables.map((table) => {
    const where = [
      `(c.changed_xid, ${table.id}) > ($3::xid8, $4::text)`,
      // A filter, not a join, which could take the order from the index.
      `${table.id} || ' ' || c.changed_xid::text <> all($5::text[])`,
      ...(position.seen.size < maxSeen ? [] : ['c.changed_xid < (select xmin from now)']),
    ];
    return readTable(table, where, `order by c.changed_xid, ${table.id} limit $6`);
  });
  const rows = await store.query<ChangeRow>(
    `with now as (select oldest_transaction() as xmin),
       scope as materialized (${scopeQuery(scope)}),
       changed as materialized (select c.* from scope cross join lateral (${changed.join(' union all ')}) c
         order by c.changed_xid, c.id limit $6)
     select now.xmin::text as xmin, s.*,
            case when row_number() over (order by s."changedXid"::xid8, s."changedId") = 1 then (select array_agg(id) from scope) end as "scopeIds"
       from now left join (
         select ${columns === '' ? '' : `${columns},`} c.id as "changedId", c.kind as "changedKind", c.scope_id as "changedScopeId",
                c.is_removed as "isRemoved", c.changed_xid::text as "changedXid" from changed c ${joins}) s on true
      order by s."changedXid"::xid8, s."changedId"`,
    [
      scope.enterpriseId,
      scope.ids,
      String(position.xid),
      position.id,
      [...position.seen].map(([id, xid]) => `${id} ${xid}`),
      limit,
    ],
  );
  const xmin = BigInt(rows[0]?.xmin ?? 0);
  const found = rows.filter((row): row is ChangeRow & { changedId: string } => row.changedId !== null);
  const hasMore = found.length === limit;
  return {
    items: found.map((row) => toChanged<R>(row, position, xmin)),
    scopeIds: new Set(rows[0]?.scopeIds),
    cursor: nextCursor(position, found, xmin, hasMore),
    hasMore,
  };
}

type FoundRow = ChangeRow & { readonly changedId: string };

function nextCursor(from: ChangeCursor, rows: readonly FoundRow[], xmin: bigint, hasMore: boolean): ChangeCursor {
  const read = rows.map(({ changedId, changedXid }): TransactionCursor => ({ xid: BigInt(changedXid), id: changedId }));
  const cursor = settledCursor(from, read, { xmin, hasMore });
  const seen = new Map([...from.seen, ...read.map(({ id, xid }): [string, bigint] => [id, xid])]);
  for (const [id, xid] of seen) if (!isAfter({ xid, id }, cursor)) seen.delete(id);
  return { xid: cursor.xid, id: cursor.id, seen };
}

function toChanged<R>(row: FoundRow, position: ChangeCursor, xmin: bigint): ChangedEntity<R> {
  const { xmin: _xmin, scopeIds: _ids, changedId, changedKind, changedScopeId, changedXid, isRemoved, ...read } = row;
  const xid = BigInt(changedXid);
  // Rows come in order: before the first one that another transaction may still precede, everything has been read.
  const unsettled = xmin < position.xid ? position : { xid: xmin, id: '' };
  return {
    kind: changedKind,
    id: changedId,
    scopeId: changedScopeId,
    isRemoved,
    xid,
    record: isRemoved ? null : (read as R),
    position: xid < xmin ? { xid, id: changedId } : unsettled,
  };
}
