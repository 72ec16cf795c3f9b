import {
  type Page,
  type PageLimits,
  type PageRequest,
  type PageWindow,
  pageWindow,
  readCursor,
  readTimeCursor,
  type TimeCursor,
  toPage,
  writeCursor,
} from './pages.ts';

const timeColumns = { createdAt: 'created_at', updatedAt: 'updated_at' } as const;

/** Number of characters of a text that determine the order of a list, and that a cursor contains. */
const orderedLength = 64;

/** A text that orders a list: case-insensitive, by its first 64 characters. */
export interface TextKey {
  /** The member of a record with the text. */
  readonly member: string;
  /** The column, without its table. */
  readonly column: string;
}

/** A list that is ordered by a time or a text, and then an id. */
export interface TimedList {
  /** The name in its cursors: those of another list are refused. */
  readonly name: string;
  /** The alias of the table whose time and `id` make the order. */
  readonly row: string;
  /** The time column, as its records name it; `createdAt` if omitted. */
  readonly at?: keyof typeof timeColumns;
  /** A text that orders it, instead of a time. */
  readonly text?: TextKey;
  /** True: the oldest first, or the start of the alphabet. If omitted: the newest first, or the end of the alphabet. */
  readonly isOldestFirst?: boolean;
}

/** An order of a list: the field, and the end that comes first. */
export interface ListOrder<F extends string = string> {
  readonly field: F;
  readonly direction: 'asc' | 'desc';
}

/**
 * Returns the parts of a {@link TimedList} in an order: by `createdAt`, or by one of some texts. Without an order the
 * newest items come first. A list refuses the cursors of another order.
 */
export function inOrder<F extends string>(
  name: string,
  order: ListOrder<F> | null | undefined,
  texts: Readonly<Record<Exclude<F, 'createdAt'>, TextKey>>,
): Pick<TimedList, 'name' | 'isOldestFirst'> & { readonly text?: TextKey } {
  const isOldestFirst = order?.direction === 'asc';
  const text = order && (texts as Readonly<Record<string, TextKey>>)[order.field];
  return text ? { name: `${name}.${order.field}`, text, isOldestFirst } : { name, isOldestFirst };
}

/**
 * The parts of a statement that reads one page of a {@link TimedList}, and the function that creates the page from its
 * rows.
 */
export interface TimedPage {
  readonly window: PageWindow<Position>;
  /** The conditions of the cursors; empty without cursors. */
  readonly beyond: readonly string[];
  /** `order by …`, from the end that the page is read from. */
  readonly order: string;
  /** The same by the columns of the row source. */
  readonly sourceOrder: string;
  /** The direction of both. */
  readonly direction: 'asc' | 'desc';
  /** The placeholder of the number of rows to read: one more than the page has. */
  readonly limit: string;
  /** `at` returns a row's sort key, if it is not its own time and `id`. */
  toPage<T extends TimedRow>(rows: readonly T[]): Page<T>;
  toPage<T>(rows: readonly T[], at: (item: T) => TimeCursor): Page<T>;
}

interface TimedRow {
  readonly id: string;
  readonly createdAt: Date;
}

/** A row's position in its list. */
interface Position {
  readonly at: Date | string;
  readonly id: string;
}

/** Returns the cursor of a record in the list with this name, in its order by `createdAt`. */
export const createdCursor = (
  list: string,
  { id, createdAt }: { readonly id: string; readonly createdAt: Date },
): string => writeCursor(list, createdAt.getTime(), id);

/** The columns of time, or text, and id that order the rows of a {@link TimedList}. */
export interface SortColumns {
  readonly at: string;
  readonly id: string;
}

/**
 * Reads a request for a page of a list. `bind` adds a value and returns its placeholder; `sortColumns` are the columns
 * for `beyond` and `sourceOrder`, if not the row's own. Throws the errors of {@link pageWindow}.
 */
export function timedPage(
  list: TimedList,
  request: PageRequest,
  limits: PageLimits,
  bind: (value: unknown) => string,
  sortColumns?: SortColumns,
): TimedPage {
  const { name, row, isOldestFirst = false } = list;
  const key = list.text ? textKey(list.text) : timeKey(list.at ?? 'createdAt');
  const window = pageWindow<Position>(request, limits, (text) => key.read(name, text));
  const own: SortColumns = { at: key.column(row), id: `${row}.id` };
  const source = sortColumns ?? own;
  const position = (sign: string, { at, id }: Position) =>
    `(${source.at}, ${source.id}) ${sign} (${key.value(bind(at))}, ${bind(id)}::text)`;
  const [later, earlier] = isOldestFirst ? ['>', '<'] : ['<', '>'];
  const direction = isOldestFirst === window.backward ? 'desc' : 'asc';
  const orderBy = (by: SortColumns) => `order by ${by.at} ${direction}, ${by.id} ${direction}`;
  return {
    window,
    beyond: [
      ...(window.after ? [position(later, window.after)] : []),
      ...(window.before ? [position(earlier, window.before)] : []),
    ],
    order: orderBy(own),
    sourceOrder: orderBy(source),
    direction,
    limit: bind(window.limit + 1),
    toPage<T>(rows: readonly T[], at: (item: T) => Position = key.positionOf) {
      return toPage(rows, window, (item) => key.write(name, at(item)));
    },
  };
}

/** The sort key of a list: as a column, as a value of a cursor, and as a member of a record. */
interface SortKey {
  readonly column: (row: string) => string;
  /** Casts a placeholder of a cursor's value for the comparison. */
  readonly value: (placeholder: string) => string;
  readonly read: (list: string, cursor: string) => Position | null;
  readonly write: (list: string, position: Position) => string;
  /** Only for rows that have both, which the overload of `toPage` without `at` requires. */
  readonly positionOf: (item: unknown) => Position;
}

const timeKeys = { createdAt: newTimeKey('createdAt'), updatedAt: newTimeKey('updatedAt') } as const;
const timeKey = (time: keyof typeof timeColumns): SortKey => timeKeys[time];

function newTimeKey(time: keyof typeof timeColumns): SortKey {
  return {
    column: (row) => `${row}.${timeColumns[time]}`,
    value: (placeholder) => `${placeholder}::timestamptz`,
    read: readTimeCursor,
    write: (list, { at, id }) => writeCursor(list, (at as Date).getTime(), id),
    positionOf(item) {
      const row = item as TimedRow & { readonly updatedAt: Date };
      return { at: row[time], id: row.id };
    },
  };
}

// The database folds the case on both sides: a cursor contains the unchanged text.
function textKey({ member, column }: TextKey): SortKey {
  return {
    column: (row) => textColumn(`${row}.${column}`),
    value: (placeholder) => `lower(${placeholder}::text)`,
    read: readTextCursor,
    write: (list, { at, id }) => writeCursor(list, id, at as string),
    positionOf(item) {
      const row = item as { readonly id: string } & Readonly<Record<string, string>>;
      return {
        at: Array.from(row[member] ?? '')
          .slice(0, orderedLength)
          .join(''),
        id: row.id,
      };
    },
  };
}

/** Returns the sort expression of a text column: indexes have the same expression. */
const textColumn = (column: string): string => `lower("left"(${column}, ${orderedLength}))`;

function readTextCursor(list: string, cursor: string): Position | null {
  const parts = readCursor(list, 2, cursor);
  if (!parts) return null;
  const [id, at] = parts as [string, string];
  return /^[0-9a-z_]{1,64}$/.test(id) && !at.includes('\u0000') && at.isWellFormed() ? { at, id } : null;
}
