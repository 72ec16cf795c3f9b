import { isAfter, type TransactionCursor } from '../../realtime/transaction-cursor.ts';
import { badCursor, readCursor, writeCursor } from '../pages.ts';
import type { ChangeSource, ChangeStore } from './change-source.ts';

/**
 * The position of a reader of changes. The last transaction that changed each object is known; all changes at or before
 * (xid, id) have been read, in all organizations. Transactions may commit in another order than they began: changes
 * read beyond that are in `seen`, by object with their xid, until no earlier transaction can commit any more.
 */
export interface ChangeCursor extends TransactionCursor {
  readonly seen: ReadonlyMap<string, bigint>;
}

/** The list name in cursors between two transactions, which are equal for all kinds of objects. */
const anyList = 'changes';

/** Maximum number of changes beyond the position in a cursor, which would become long. */
const maxAhead = 8;

/**
 * Encodes the cursor of a position, with the changes read beyond it if they are few; others are read again. `name`: of
 * the source. Pass only ids that the client may know.
 */
export function encodeChangeCursor(name: string, { xid, id, seen }: ChangeCursor): string {
  const ahead = seen.size > maxAhead ? [] : [...seen].map(([each, at]) => `${each} ${at}`);
  if (ahead.length > 0) return writeCursor(name, String(xid), id, ahead.join(','));
  return writeCursor(id === '' ? anyList : name, String(xid), id);
}

const aheadPattern = new RegExp(`^[0-9a-z_]{1,64} \\d{1,18}(?:,[0-9a-z_]{1,64} \\d{1,18}){0,${maxAhead - 1}}$`);

/** Decodes the text of {@link encodeChangeCursor}; null if it is not a cursor of this source. */
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
  /** Records that an object was reported as a transaction has changed it. */
  report(id: string, xid: bigint): void;
  /** Returns the cursor of a position up to which everything has been read, with the changes reported beyond it. */
  at(position: TransactionCursor): string;
}

/** Creates {@link Cursors}; `start`: the position at which the subscription begins. */
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

/** Returns a cursor for all subscriptions to changes: every change that commits later comes after it. */
export async function changesCursorNow(store: ChangeStore): Promise<string> {
  const [row] = await store.query<{ xmin: string }>('select oldest_transaction()::text as xmin', []);
  return encodeChangeCursor(anyList, { xid: BigInt(row?.xmin ?? 0), id: '', seen: new Map() });
}

/**
 * Returns the position of a client's cursor. Throws BAD_CURSOR for a text that is not a cursor of the source, for one
 * that is later than the transactions of this database, and for one so old that removals after it have been deleted.
 */
export async function resolveChangeCursor(
  store: ChangeStore,
  { name, tables }: ChangeSource<unknown>,
  cursor: string,
): Promise<ChangeCursor> {
  const position = decodeChangeCursor(name, cursor);
  if (position === null) throw badCursor('after', cursor);
  const [row] = await store.query<{ isReached: boolean }>(
    `select $1::xid8 <= next_transaction()
            and ($2::boolean or $1::xid8 > (select max(forgotten_changes_xid) from installation)) as "isReached"`,
    // The removals of sessions are never deleted.
    [String(position.xid), tables.every(({ kind }) => kind === 'session')],
  );
  if (row?.isReached !== true) throw badCursor('after', cursor);
  return position;
}
