import type { ChangePlace } from './change-place.ts';
import type { ChangedKind, ChangeScope, ChangeSource, ChangeStore, ChangeTable } from './change-source.ts';

/** A thing that has changed. */
export interface Changed<R> {
  readonly kind: ChangedKind;
  /** Bare. */
  readonly id: string;
  /** Bare id of its organization, or of the enterprise for what belongs to it. */
  readonly placeId: string;
  readonly isRemoved: boolean;
  /** The transaction that changed it last. */
  readonly xid: bigint;
  /** As it is now; null: it was removed. */
  readonly record: R | null;
  /** All changes up to this one have been read, and all that lie at or before here. */
  readonly position: Pick<ChangePlace, 'xid' | 'id'>;
}

/** Changed things, each once, in the order of their last changes. */
export interface Changes<R> {
  readonly things: readonly Changed<R>[];
  /** The bare ids of the places of the scope that exist. */
  readonly placeIds: ReadonlySet<string>;
  readonly place: ChangePlace;
  /** There may be more without waiting. */
  readonly more: boolean;
}

/** With so many seen, nothing more is read ahead of what may still commit before it: memory stays bounded. */
const mostSeen = 1_000;

/** The place of a reader who wants what changes from now on. */
export async function changePlaceNow(
  store: ChangeStore,
  { tables }: Pick<ChangeSource<unknown>, 'tables'>,
  scope: ChangeScope,
): Promise<ChangePlace> {
  const recent = tables.map((table) => readTable(table, ['c.changed_xid >= now.xmin'], 'limit $3'));
  const rows = await store.query<{ xmin: string; id: string | null; xid: string | null }>(
    `with now as (select pg_snapshot_xmin(pg_current_snapshot()) as xmin), scope as materialized (${scopeQuery(scope)})
     select now.xmin::text as xmin, c.id, c.xid from now left join lateral (
       select c.id, c.changed_xid::text as xid from scope cross join lateral (${recent.join(' union all ')}) c limit $3) c on true`,
    [scope.enterpriseId, scope.ids, mostSeen],
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

/** The changes of a table in the place `scope.id`. */
const readTable = ({ kind, from, id, place, where, isRemoved }: ChangeTable, more: readonly string[], end: string) =>
  `(select '${kind}' as kind, ${id} as id, ${place} as place, ${isRemoved} as is_removed, c.changed_xid from ${from}
     where ${[`${place} = scope.id`, ...where, ...more].join(' and ')} ${end})`;

interface ChangeRow {
  readonly xmin: string;
  /** Of the first row alone; null: there are none. */
  readonly placeIds: readonly string[] | null;
  /** Null: nothing has changed. */
  readonly changedId: string | null;
  readonly changedKind: ChangedKind;
  readonly changedPlace: string;
  readonly changedXid: string;
  readonly isRemoved: boolean;
}

/**
 * The things that were made, changed or removed beyond a place, at most `limit`, in one statement: an index entry or a few of
 * each table and place, and then the things. It asks for no permission.
 */
export async function readChanges<R>(
  store: ChangeStore,
  source: ChangeSource<R>,
  scope: ChangeScope,
  place: ChangePlace,
  limit: number,
): Promise<Changes<R>> {
  const { columns, joins } = source.record;
  const changed = source.tables.map((table) => {
    const where = [
      `(c.changed_xid, ${table.id}) > ($3::xid8, $4::text)`,
      // A filter, not a join, which could take the order from the index.
      `${table.id} || ' ' || c.changed_xid::text <> all($5::text[])`,
      ...(place.seen.size < mostSeen ? [] : ['c.changed_xid < (select xmin from now)']),
    ];
    return readTable(table, where, `order by c.changed_xid, ${table.id} limit $6`);
  });
  const rows = await store.query<ChangeRow>(
    `with now as (select pg_snapshot_xmin(pg_current_snapshot()) as xmin),
       scope as materialized (${scopeQuery(scope)}),
       changed as materialized (select c.* from scope cross join lateral (${changed.join(' union all ')}) c
         order by c.changed_xid, c.id limit $6)
     select now.xmin::text as xmin, s.*,
            case when row_number() over (order by s."changedXid"::xid8, s."changedId") = 1 then (select array_agg(id) from scope) end as "placeIds"
       from now left join (
         select ${columns === '' ? '' : `${columns},`} c.id as "changedId", c.kind as "changedKind", c.place as "changedPlace",
                c.is_removed as "isRemoved", c.changed_xid::text as "changedXid" from changed c ${joins}) s on true
      order by s."changedXid"::xid8, s."changedId"`,
    [
      scope.enterpriseId,
      scope.ids,
      String(place.xid),
      place.id,
      [...place.seen].map(([id, xid]) => `${id} ${xid}`),
      limit,
    ],
  );
  const xmin = BigInt(rows[0]?.xmin ?? 0);
  const found = rows.filter((row): row is ChangeRow & { changedId: string } => row.changedId !== null);
  const more = found.length === limit;
  return {
    things: found.map((row) => toChanged<R>(row, place, xmin)),
    placeIds: new Set(rows[0]?.placeIds),
    place: nextPlace(place, found, xmin, more),
    more,
  };
}

type FoundRow = ChangeRow & { readonly changedId: string };

// No row below `xmin` can change, and no new row can appear there.
function nextPlace(place: ChangePlace, rows: readonly FoundRow[], xmin: bigint, more: boolean): ChangePlace {
  const settled = rows.findLast(({ changedXid }) => BigInt(changedXid) < xmin);
  const beyond = settled
    ? { xid: BigInt(settled.changedXid), id: settled.changedId }
    : { xid: place.xid, id: place.id };
  const { xid, id } = more || xmin < place.xid ? beyond : { xid: xmin, id: '' };
  const read = rows.map((row): [string, bigint] => [row.changedId, BigInt(row.changedXid)]);
  const seen = new Map([...place.seen, ...read]);
  for (const [thing, at] of seen) if (at < xid || (at === xid && thing <= id)) seen.delete(thing);
  return { xid, id, seen };
}

function toChanged<R>(row: FoundRow, place: ChangePlace, xmin: bigint): Changed<R> {
  const { xmin: _xmin, placeIds: _ids, changedId, changedKind, changedPlace, changedXid, isRemoved, ...read } = row;
  const xid = BigInt(changedXid);
  // Rows come in order: once one of them may still get company before it, all that cannot has been read.
  const unsettled = xmin < place.xid ? place : { xid: xmin, id: '' };
  return {
    kind: changedKind,
    id: changedId,
    placeId: changedPlace,
    isRemoved,
    xid,
    record: isRemoved ? null : (read as R),
    position: xid < xmin ? { xid, id: changedId } : unsettled,
  };
}
