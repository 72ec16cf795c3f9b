import type { Store } from '../../store/store.ts';
import { readCursor, writeCursor } from '../pages.ts';
import { type SessionRecord, sessionColumns } from './session.ts';

/** The organizations whose changes are read: those of these bare ids, or null: all of the enterprise. Deleted ones are left out. */
export interface ChangeScope {
  readonly enterpriseId: string;
  readonly ids: readonly string[] | null;
}

/**
 * The place of a reader of changes. Of each session is known which transaction changed it last; all that lies at or before
 * (xid, id) has been read, in all organizations. Transactions may commit in another order than they began: what lies beyond is
 * kept in `seen`, by session with its xid, until none can commit before it any more.
 */
export interface ChangePlace {
  readonly xid: bigint;
  readonly id: string;
  readonly seen: ReadonlyMap<string, bigint>;
}

/** A session as it is now, and a cursor: all changes up to this one lie at or before it. */
export interface ChangedSession {
  readonly session: SessionRecord;
  readonly cursor: string;
}

/** Changed sessions, each once, in the order of their last changes. */
export interface Changes {
  readonly sessions: readonly ChangedSession[];
  /** The bare ids of the organizations of the scope that exist. */
  readonly organizationIds: ReadonlySet<string>;
  readonly place: ChangePlace;
  /** There may be more without waiting. */
  readonly more: boolean;
}

/** With so many seen, nothing more is read ahead of what may still commit before it: memory stays bounded. */
const mostSeen = 1_000;

const list = 'sessionChanges';

/** The cursor of a place, without what was read ahead: that comes again. */
export function changeCursor({ xid, id }: Pick<ChangePlace, 'xid' | 'id'>): string {
  return writeCursor(list, String(xid), id);
}

/** Reads a {@link changeCursor}; null: it is none. */
export function readChangeCursor(text: string): ChangePlace | null {
  const [xid = '', id = ''] = (text.length <= 500 && readCursor(list, 2, text)) || [];
  if (!/^\d{1,18}$/.test(xid) || !/^[0-9a-z_]{0,64}$/.test(id)) return null;
  return { xid: BigInt(xid), id, seen: new Map() };
}

/** Whether a place is one of this database: no later than its transactions. */
export async function isPlaceReached(store: Store, place: ChangePlace): Promise<boolean> {
  const [row] = await store.query<{ isReached: boolean }>(
    'select $1::xid8 <= pg_snapshot_xmax(pg_current_snapshot()) as "isReached"',
    [String(place.xid)],
  );
  return row?.isReached === true;
}

/** The place of a reader who wants what changes from now on. */
export async function changePlaceNow(store: Store, { enterpriseId, ids }: ChangeScope): Promise<ChangePlace> {
  const rows = await store.query<{ xmin: string; id: string | null; xid: string | null }>(
    `with now as (select pg_snapshot_xmin(pg_current_snapshot()) as xmin)
     select now.xmin::text as xmin, c.id, c.xid from now left join lateral (
       select c.session_id as id, c.changed_xid::text as xid from organization o cross join lateral (
         select * from session_change c where c.organization_id = o.id and c.changed_xid >= now.xmin limit $3) c
        where ${isInScope} limit $3) c on true`,
    [enterpriseId, ids, mostSeen],
  );
  const seen = rows.flatMap(({ id, xid }): [string, bigint][] =>
    id === null || xid === null ? [] : [[id, BigInt(xid)]],
  );
  return { xid: BigInt(rows[0]?.xmin ?? 0), id: '', seen: new Map(seen) };
}

const isInScope =
  'o.enterprise_id = $1 and o.deleted_at is null and ($2::text[] is null or o.id = any($2::text[]))' as const;

interface ChangeRow extends SessionRecord {
  readonly xmin: string;
  /** Of the first row alone; null: there are none. */
  readonly organizationIds: readonly string[] | null;
  readonly changedXid: string;
}

/**
 * The sessions that were made or changed beyond a place, at most `limit`, in one statement: an index entry or a few of each
 * organization, and then the sessions. It asks for no permission.
 */
export async function readChanges(
  store: Store,
  { enterpriseId, ids }: ChangeScope,
  place: ChangePlace,
  limit: number,
): Promise<Changes> {
  const order = 'order by c.changed_xid, c.session_id limit $7';
  const where = [
    'c.organization_id = scope.id',
    '(c.changed_xid, c.session_id) > ($3::xid8, $4::text)',
    'not exists (select 1 from unnest($5::text[], $6::text[]) seen(id, xid) where seen.id = c.session_id and seen.xid = c.changed_xid::text)',
    ...(place.seen.size < mostSeen ? [] : ['c.changed_xid < (select xmin from now)']),
  ];
  const rows = await store.query<ChangeRow>(
    `with now as (select pg_snapshot_xmin(pg_current_snapshot()) as xmin),
       scope as materialized (select o.id from organization o where ${isInScope}),
       changed as materialized (select c.* from scope cross join lateral (
         select c.session_id, c.changed_xid from session_change c where ${where.join(' and ')} ${order}) c ${order})
     select now.xmin::text as xmin, s.*,
            case when row_number() over (order by s."changedXid"::xid8, s.id) = 1 then (select array_agg(id) from scope) end as "organizationIds"
       from now left join (
         select ${sessionColumns}, c.changed_xid::text as "changedXid" from changed c join session s on s.id = c.session_id) s on true
      order by s."changedXid"::xid8, s.id`,
    [
      enterpriseId,
      ids,
      String(place.xid),
      place.id,
      [...place.seen.keys()],
      [...place.seen.values()].map(String),
      limit,
    ],
  );
  const xmin = BigInt(rows[0]?.xmin ?? 0);
  const changed = rows.filter(({ id }) => id !== null);
  const more = changed.length === limit;
  return {
    sessions: changed.map((row) => toChanged(row, place, xmin)),
    organizationIds: new Set(rows[0]?.organizationIds),
    place: nextPlace(place, changed, xmin, more),
    more,
  };
}

// What is below `xmin` can change no more, and nothing can come to lie there.
function nextPlace(place: ChangePlace, rows: readonly ChangeRow[], xmin: bigint, more: boolean): ChangePlace {
  const settled = rows.findLast(({ changedXid }) => BigInt(changedXid) < xmin);
  const beyond = settled ? { xid: BigInt(settled.changedXid), id: settled.id } : { xid: place.xid, id: place.id };
  const { xid, id } = more || xmin < place.xid ? beyond : { xid: xmin, id: '' };
  const seen = new Map([...place.seen, ...rows.map((row): [string, bigint] => [row.id, BigInt(row.changedXid)])]);
  for (const [session, at] of seen) if (at < xid || (at === xid && session <= id)) seen.delete(session);
  return { xid, id, seen };
}

function toChanged(row: ChangeRow, place: ChangePlace, xmin: bigint): ChangedSession {
  const { xmin: _xmin, organizationIds: _ids, changedXid, ...session } = row;
  const xid = BigInt(changedXid);
  // Rows come in order: once one of them may still get company before it, all that cannot has been read.
  const unsettled = xmin < place.xid ? place : { xid: xmin, id: '' };
  return { session, cursor: changeCursor(xid < xmin ? { xid, id: session.id } : unsettled) };
}
