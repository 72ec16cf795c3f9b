import type { Store } from '../../store/store.ts';
import { type SessionRecord, sessionColumns } from './session.ts';
import { filterConditions } from './session-conditions.ts';
import type { CheckedFilter } from './session-filter.ts';

/**
 * Where a reader of an organization's changes stands. Of each session is known which transaction changed it last; all that lies
 * at or before (xid, id) has been read. Transactions may commit in another order than they began: what lies beyond is kept
 * in `seen`, by session with its xid, until none can commit before it any more.
 */
export interface ChangePlace {
  readonly xid: bigint;
  readonly id: string;
  readonly seen: ReadonlyMap<string, bigint>;
}

/** Sessions as they are now, each once, in the order of their last changes. */
export interface Changes {
  readonly sessions: readonly SessionRecord[];
  readonly place: ChangePlace;
  /** There may be more without waiting. */
  readonly more: boolean;
}

/** With so many seen, nothing more is read ahead of what may still commit before it: memory stays bounded. */
const mostSeen = 1_000;

/** The place of a reader who wants what changes from now on. */
export async function changePlaceNow(store: Store, organizationId: string): Promise<ChangePlace> {
  const rows = await store.query<{ xmin: string; id: string | null; xid: string | null }>(
    `with now as (select pg_snapshot_xmin(pg_current_snapshot()) as xmin)
     select now.xmin::text as xmin, c.id, c.xid from now left join lateral (
       select c.session_id as id, c.changed_xid::text as xid from session_change c
        where c.organization_id = $1 and c.changed_xid >= now.xmin limit $2) c on true`,
    [organizationId, mostSeen],
  );
  const seen = rows.flatMap(({ id, xid }): [string, bigint][] =>
    id === null || xid === null ? [] : [[id, BigInt(xid)]],
  );
  return { xid: BigInt(rows[0]?.xmin ?? 0), id: '', seen: new Map(seen) };
}

interface ChangeRow extends SessionRecord {
  readonly xmin: string;
  readonly changedXid: string;
}

/**
 * The sessions that were made or changed beyond a place and are of the filter now, at most `limit`, in one statement; null
 * when there is no such organization (any more). It asks for no permission.
 */
export async function readChanges(
  store: Store,
  { id: organizationId, enterpriseId }: { readonly id: string; readonly enterpriseId: string },
  place: ChangePlace,
  filter: CheckedFilter,
  limit: number,
): Promise<Changes | null> {
  const values: unknown[] = [
    organizationId,
    enterpriseId,
    String(place.xid),
    place.id,
    [...place.seen.keys()],
    [...place.seen.values()].map(String),
    limit,
  ];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const where = [
    'c.organization_id = o.id',
    '(c.changed_xid, c.session_id) > ($3::xid8, $4::text)',
    'not exists (select 1 from unnest($5::text[], $6::text[]) seen(id, xid) where seen.id = c.session_id and seen.xid = c.changed_xid::text)',
    ...(place.seen.size < mostSeen ? [] : ['c.changed_xid < now.xmin']),
  ];
  const ofSession = ['s.id = c.session_id', ...filterConditions(filter, enterpriseId, bind)];
  // Inside `offset 0` the planner cannot but look up one session for each change, in their order: not all that changed, sorted.
  const rows = await store.query<ChangeRow>(
    `with now as (select pg_snapshot_xmin(pg_current_snapshot()) as xmin)
     select now.xmin::text as xmin, s.* from organization o cross join now left join lateral (
       select ${sessionColumns}, c.changed_xid::text as "changedXid" from session_change c cross join lateral (
         select * from session s where ${ofSession.join(' and ')} offset 0) s
        where ${where.join(' and ')} order by c.changed_xid, c.session_id limit $7) s on true
      where o.id = $1 and o.enterprise_id = $2 and o.deleted_at is null
      order by s."changedXid"::xid8, s.id`,
    values,
  );
  const [first] = rows;
  if (!first) return null;
  const changed = rows.filter(({ id }) => id !== null);
  const more = changed.length === limit;
  return { sessions: changed.map(withoutPlace), place: nextPlace(place, changed, BigInt(first.xmin), more), more };
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

function withoutPlace({ xmin: _xmin, changedXid: _xid, ...session }: ChangeRow): SessionRecord {
  return session;
}
