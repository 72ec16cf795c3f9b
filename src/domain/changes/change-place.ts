import { badCursor, readCursor, writeCursor } from '../pages.ts';
import type { ChangeSource, ChangeStore } from './change-source.ts';

/**
 * The place of a reader of changes. Of each thing is known which transaction changed it last; all that lies at or before
 * (xid, id) has been read, in all organizations. Transactions may commit in another order than they began: what lies beyond is
 * kept in `seen`, by thing with its xid, until none can commit before it any more.
 */
export interface ChangePlace {
  readonly xid: bigint;
  readonly id: string;
  readonly seen: ReadonlyMap<string, bigint>;
}

/** The list in the cursors of places between two transactions, which are alike for all kinds of things. */
const anyList = 'changes';

/** The cursor of a place, without what was read ahead: that comes again. `name`: of the source. */
export function changeCursor(name: string, { xid, id }: Pick<ChangePlace, 'xid' | 'id'>): string {
  return writeCursor(id === '' ? anyList : name, String(xid), id);
}

/** Reads a {@link changeCursor}; null: it is none of this source. */
export function readChangeCursor(name: string, text: string): ChangePlace | null {
  if (text.length > 500) return null;
  const own = readCursor(name, 2, text);
  const [xid = '', id = ''] = own ?? readCursor(anyList, 2, text) ?? [];
  if (!/^\d{1,18}$/.test(xid) || !/^[0-9a-z_]{0,64}$/.test(id) || (own === null && id !== '')) return null;
  return { xid: BigInt(xid), id, seen: new Map() };
}

/** A cursor for all subscriptions to changes: every change that commits later comes after it. */
export async function changesCursorNow(store: ChangeStore): Promise<string> {
  const [row] = await store.query<{ xmin: string }>('select pg_snapshot_xmin(pg_current_snapshot())::text as xmin', []);
  return changeCursor(anyList, { xid: BigInt(row?.xmin ?? 0), id: '' });
}

/**
 * The place of a cursor that a client gave. BAD_CURSOR for what is no cursor of the source, for one that is later than the
 * transactions of this database, and for one so old that removals after it have been forgotten.
 */
export async function placeOfCursor(
  store: ChangeStore,
  { name, tables }: ChangeSource<unknown>,
  cursor: string,
): Promise<ChangePlace> {
  const place = readChangeCursor(name, cursor);
  if (place === null) throw badCursor('after', cursor);
  const [row] = await store.query<{ isReached: boolean }>(
    `select $1::xid8 <= pg_snapshot_xmax(pg_current_snapshot())
            and ($2::boolean or $1::xid8 > (select max(forgotten_changes_xid) from installation)) as "isReached"`,
    // Sessions are never removed.
    [String(place.xid), tables.every(({ kind }) => kind === 'session')],
  );
  if (row?.isReached !== true) throw badCursor('after', cursor);
  return place;
}
