import { columnOf, type Field, type Model } from '../store/tables.ts';
import { readCursor, readTimeCursor, writeCursor } from './pages.ts';

/** The position of a row in its list: the value of the list's sort key, and the id, which breaks ties. */
export interface Position {
  readonly at: Date | string;
  readonly id: string;
}

/** The sort key of a list before the id: a column, the SQL type of its values, and their form in cursors. */
export interface SortKey<Member extends string = string> {
  /** The member of a record, and the field of its model, that has the value. */
  readonly member: Member;
  /** True: the value of the column itself orders, not an expression of it. */
  readonly isPlain: boolean;
  /** The sort expression for rows of this alias. */
  readonly column: (row: string) => string;
  /** Casts a placeholder of a cursor's value for the comparison. */
  readonly value: (placeholder: string) => string;
  /** Reads a cursor of the named list; null when it is none. */
  readonly read: (list: string, cursor: string) => Position | null;
  readonly write: (list: string, position: Position) => string;
  /** The position of a record, which must have the member and an id. */
  readonly positionOf: (item: unknown) => Position;
}

/** The order by the time when a row was created. Every list has it. */
export const createdAtKey = timeKey('createdAt', 'created_at');
/** The orders by a time. */
export const timeKeys = { createdAt: createdAtKey, updatedAt: timeKey('updatedAt', 'updated_at') } as const;

function timeKey<Member extends string>(member: Member, column: string): SortKey<Member> {
  return {
    member,
    isPlain: true,
    column: (row) => `${row}.${column}`,
    value: (placeholder) => `${placeholder}::timestamptz`,
    read: readTimeCursor,
    write: (list, { at, id }) => writeCursor(list, (at as Date).getTime(), id),
    positionOf(item) {
      const row = item as { readonly id: string } & Readonly<Record<Member, Date>>;
      return { at: row[member], id: row.id };
    },
  };
}

/** Number of characters of a text that determine the order of a list, and that a cursor contains. */
const orderedLength = 64;

/** The order by a text, regardless of case, by its first 64 characters. Indexes are made of the same expression. */
export function textKey<M extends Model, F extends Field<M>>(model: M, member: F): SortKey<F> {
  return {
    member,
    isPlain: false,
    // The database folds the case on both sides: a cursor contains the unchanged text.
    column: (row) => `lower("left"(${columnOf(model, row, member)}, ${orderedLength}))`,
    value: (placeholder) => `lower(${placeholder}::text)`,
    read: readTextCursor,
    write: (list, { at, id }) => writeCursor(list, id, at as string),
    positionOf(item) {
      const row = item as { readonly id: string } & Readonly<Record<string, string | null>>;
      const characters = Array.from(row[member] ?? '');
      return { at: characters.slice(0, orderedLength).join(''), id: row.id };
    },
  };
}

function readTextCursor(list: string, cursor: string): Position | null {
  const parts = readCursor(list, 2, cursor);
  if (!parts) return null;
  const [id, at] = parts as [string, string];
  return /^[0-9a-z_]{1,64}$/.test(id) && !at.includes('\u0000') && at.isWellFormed() ? { at, id } : null;
}
