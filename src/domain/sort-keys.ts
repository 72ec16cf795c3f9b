import { columnOf, columnsOf, type Field, type Model, sqlTypeOf } from '../store/tables.ts';
import { readCursor, readTimeCursor, writeCursor } from './pages.ts';

/** The position of a row in its list: the value of the list's sort key, and the id, which breaks ties. */
export interface Position {
  readonly at: Date | number | string;
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

/** A sort key by the value of a column itself. */
export interface ColumnKey<Member extends string = string> extends SortKey<Member> {
  /** SQL of a value before, and of one after, all values of the column. */
  readonly bounds: readonly [lowest: string, highest: string];
}

/** The values of a SQL type: their bounds in SQL, and their form in cursors. */
interface Codec {
  readonly bounds: readonly [lowest: string, highest: string];
  readonly read: (list: string, cursor: string) => Position | null;
  readonly write: (value: Position['at']) => number;
}

const codecs = {
  timestamptz: {
    bounds: [`'-infinity'::timestamptz`, `'infinity'::timestamptz`],
    read: readTimeCursor,
    write: (at) => (at as Date).getTime(),
  },
  integer: {
    bounds: ['-2147483648', '2147483647'],
    read: readIntegerCursor,
    write: (at) => at as number,
  },
} as const satisfies Record<string, Codec>;

/** The order by the time when a row was created. Every list has it. */
export const createdAtKey = plainKey('createdAt', 'created_at', 'timestamptz');
/** The order by the time when a row changed last. */
export const updatedAtKey = plainKey('updatedAt', 'updated_at', 'timestamptz');

/** The order by a time or an integer that is not null. */
export function columnKey<M extends Model, F extends Field<M>>(model: M, member: F): ColumnKey<F> {
  const type = sqlTypeOf(model, member);
  if (!(type in codecs)) throw new Error(`${model}.${member} is neither a time nor an integer.`);
  return plainKey(member, columnsOf(model, [member]), type as keyof typeof codecs);
}

function plainKey<Member extends string>(member: Member, column: string, type: keyof typeof codecs): ColumnKey<Member> {
  const codec: Codec = codecs[type];
  return {
    member,
    isPlain: true,
    bounds: codec.bounds,
    column: (row) => `${row}.${column}`,
    value: (placeholder) => `${placeholder}::${type}`,
    read: codec.read,
    write: (list, { at, id }) => writeCursor(list, codec.write(at), id),
    positionOf(item) {
      const row = item as { readonly id: string } & Readonly<Record<Member, Position['at']>>;
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
  return isId(id) && !at.includes('\u0000') && at.isWellFormed() ? { at, id } : null;
}

function readIntegerCursor(list: string, cursor: string): Position | null {
  const parts = readCursor(list, 2, cursor);
  if (!parts) return null;
  const [at, id] = parts as [string, string];
  return /^-?\d{1,10}$/.test(at) && Math.abs(Number(at)) < 2 ** 31 && isId(id) ? { at: Number(at), id } : null;
}

const isId = (id: string): boolean => /^[0-9a-z_]{1,64}$/.test(id);
