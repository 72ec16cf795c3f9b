import { isAfter, type TransactionCursor } from '../../realtime/transaction-cursor.ts';
import { badCursor, readCursor, writeCursor } from '../pages.ts';
import type { ChangeSource, ChangeStore } from './change-source.ts';

/**
 * The place of a reader of changes. Of each thing is known which transaction changed it last; all that lies at or before
 * (xid, id) has been read, in all organizations. Transactions may commit in another order than they began: what lies beyond is
 * kept in `seen`, by thing with its xid, until none can commit before it any more.
 */
export interface ChangeCursor extends TransactionCursor {
  readonly seen: ReadonlyMap<string, bigint>;
}

/** The list in the cursors of places between two transactions, which are alike for all kinds of things. */
const anyList = 'changes';

/** A cursor says what was reported ahead of a place only if it is no more than this: it would grow long. */
const maxAhead = 8;

/**
 * The cursor of a place, with what was read ahead if that is little: more comes again. `name`: of the source. To be given only the
 * ids of what the client may know.
 */
export function encodeChangeCursor(name: string, { xid, id, seen }: ChangeCursor): string {
  const ahead = seen.size > maxAhead ? [] : [...seen].map(([each, at]) => `${each} ${at}`);
  if (ahead.length > 0) return writeCursor(name, String(xid), id, ahead.join(','));
  return writeCursor(id === '' ? anyList : name, String(xid), id);
}

const aheadPattern = new RegExp(`^[0-9a-z_]{1,64} \\d{1,18}(?:,[0-9a-z_]{1,64} \\d{1,18}){0,${maxAhead - 1}}$`);

/** Reads a {@link encodeChangeCursor}; null: it is none of this source. */
export function decodeChangeCursor(name: string, text: string): ChangeCursor | null {
  if (text.length > 1_200) return null;
  const own = readCursor(name, 3, text) ?? readCursor(name, 2, text);
  const [xid = '', id = '', ahead] = own ?? readCursor(anyList, 2, text) ?? [];
  if (!/^\d{1,18}$/.test(xid) || !/^[0-9a-z_]{0,64}$/.test(id) || (own === null && id !== '')) return null;
  if (ahead !== undefined && !aheadPattern.test(ahead)) return null;
  const seen = (ahead?.split(',') ?? []).map((each): [string, bigint] => {
    const [entityId = '', at = ''] = each.split(' ');
    return [entityId, BigInt(at)];
  });
  return { xid: BigInt(xid), id, seen: new Map(seen) };
}

/** Writes the cursors of one subscription. */
export interface Cursors {
  /** Notes that a thing was reported as a transaction has changed it. */
  report(id: string, xid: bigint): void;
  /** The cursor of a place up to which everything has been read, with what was reported beyond it. */
  at(position: TransactionCursor): string;
}

/** See {@link Cursors}; `start`: where the subscription begins. */
export function createCursors(name: string, start: ChangeCursor): Cursors {
  const ahead = new Map(start.seen.size > maxAhead ? [] : start.seen);
  return {
    report: (id, xid) => ahead.set(id, xid),
    at(position) {
      for (const [id, xid] of ahead) {
        if (!isAfter({ xid, id }, position)) ahead.delete(id);
      }
      return encodeChangeCursor(name, { ...position, seen: ahead });
    },
  };
}

/** A cursor for all subscriptions to changes: every change that commits later comes after it. */
export async function changesCursorNow(store: ChangeStore): Promise<string> {
  const [row] = await store.query<{ xmin: string }>('select pg_snapshot_xmin(pg_current_snapshot())::text as xmin', []);
  return encodeChangeCursor(anyList, { xid: BigInt(row?.xmin ?? 0), id: '', seen: new Map() });
}

/**
 * The place of a cursor that a client gave. BAD_CURSOR for what is no cursor of the source, for one that is later than the
 * transactions of this database, and for one so old that removals after it have been forgotten.
 */
export async function resolveChangeCursor(
  store: ChangeStore,
  { name, tables }: ChangeSource<unknown>,
  cursor: string,
): Promise<ChangeCursor> {
  const position = decodeChangeCursor(name, cursor);
  if (position === null) throw badCursor('after', cursor);
  const [row] = await store.query<{ isReached: boolean }>(
    `select $1::xid8 <= pg_snapshot_xmax(pg_current_snapshot())
            and ($2::boolean or $1::xid8 > (select max(forgotten_changes_xid) from installation)) as "isReached"`,
    // Sessions are never removed.
    [String(position.xid), tables.every(({ kind }) => kind === 'session')],
  );
  if (row?.isReached !== true) throw badCursor('after', cursor);
  return position;
}
