import { type Page, type PageLimits, type PageRequest, type PageWindow, pageWindow, toPage } from './pages.ts';
import { createdAtKey, type Position, type SortKey } from './sort-keys.ts';

/** A list that is ordered by a sort key, and then by the id. */
export interface SortedList {
  /** The name in its cursors: those of another list are refused. */
  readonly name: string;
  /** The alias of the table with the columns of the sort key and the id. */
  readonly row: string;
  /** Its sort key; by default the creation time. */
  readonly by?: SortKey;
  /** True: the oldest first, or the start of the alphabet. If omitted: the newest first, or the end of the alphabet. */
  readonly isOldestFirst?: boolean;
}

/** An order of a list: the field, and the end that comes first. */
export interface ListOrder<F extends string = string> {
  readonly field: F;
  readonly direction: 'asc' | 'desc';
}

/**
 * Returns the parts of a {@link SortedList} in an order: by `createdAt`, or by one of some other keys. Without an order the
 * newest items come first. A list refuses the cursors of another order.
 */
export function inOrder<F extends string>(
  name: string,
  order: ListOrder<F> | null | undefined,
  keys: Readonly<Record<Exclude<F, 'createdAt'>, SortKey>>,
): Pick<SortedList, 'name' | 'by' | 'isOldestFirst'> {
  const isOldestFirst = order?.direction === 'asc';
  const by = order && (keys as Readonly<Record<string, SortKey>>)[order.field];
  return by ? { name: `${name}.${order.field}`, by, isOldestFirst } : { name, isOldestFirst };
}

/**
 * The parts of a statement that reads one page of a {@link SortedList}, and the function that creates the page from its
 * rows.
 */
export interface SortedPage {
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
  /** `at` returns a row's position, if it is not its own sort key and `id`. */
  toPage<T extends Keyed>(rows: readonly T[]): Page<T>;
  toPage<T>(rows: readonly T[], at: (item: T) => Position): Page<T>;
}

interface Keyed {
  readonly id: string;
  readonly createdAt: Date;
}

/** Returns the cursor of a record in the list with this name, in its order by `createdAt`. */
export const createdCursor = (list: string, record: Keyed): string =>
  createdAtKey.write(list, createdAtKey.positionOf(record));

/** The columns of the sort key and the id of a {@link SortedList}'s rows. */
export interface SortColumns {
  readonly at: string;
  readonly id: string;
}

/**
 * Reads a request for a page of a list. `bind` adds a value and returns its placeholder; `sortColumns` are the columns
 * for `beyond` and `sourceOrder`, if not the row's own. Throws the errors of {@link pageWindow}.
 */
export function sortedPage(
  list: SortedList,
  request: PageRequest,
  limits: PageLimits,
  bind: (value: unknown) => string,
  sortColumns?: SortColumns,
): SortedPage {
  const { name, row, by: key = createdAtKey } = list;
  const { window, later, earlier, direction } = readRequest(list, request, limits);
  const own: SortColumns = { at: key.column(row), id: `${row}.id` };
  const source = sortColumns ?? own;
  const position = (sign: string, { at, id }: Position) =>
    `(${source.at}, ${source.id}) ${sign} (${key.value(bind(at))}, ${bind(id)}::text)`;
  const orderBy = (by: SortColumns) => `order by ${by.at} ${direction}, ${by.id} ${direction}`;
  return {
    window,
    beyond: [
      ...(window.after ? [position(later === 'lt' ? '<' : '>', window.after)] : []),
      ...(window.before ? [position(earlier === 'lt' ? '<' : '>', window.before)] : []),
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

function readRequest(
  { name, by = createdAtKey, isOldestFirst = false }: Omit<SortedList, 'row'>,
  request: PageRequest,
  limits: PageLimits,
) {
  const window = pageWindow<Position>(request, limits, (cursor) => by.read(name, cursor));
  const [later, earlier] = isOldestFirst ? (['gt', 'lt'] as const) : (['lt', 'gt'] as const);
  return { window, later, earlier, direction: isOldestFirst === window.backward ? 'desc' : 'asc' } as const;
}

/** The rows on one side of a position, as a condition of the Prisma client. */
type Beyond<F extends string> = {
  AND: [{ [K in F]: { lte: Date } | { gte: Date } }, { NOT: { [K in F | 'id']: K extends 'id' ? Bound : Date } }];
};
type Bound = { gte: string } | { lte: string };

/** The arguments of the Prisma client's `findMany` that read one page of a list, and the function that creates the page from its rows. */
export interface PrismaPage<F extends string> {
  /** The conditions of the cursors; empty without cursors. */
  readonly beyond: Beyond<F>[];
  readonly orderBy: [{ [K in F]: 'asc' | 'desc' }, { id: 'asc' | 'desc' }];
  /** One row more than the page has. */
  readonly take: number;
  toPage<T extends { readonly id: string } & { readonly [K in F]: Date }>(rows: readonly T[]): Page<T>;
}

/**
 * {@link sortedPage} for the Prisma client: for lists by a column's own value, here a time. Prisma knows no comparison of rows, so
 * `(at, id) < (x, y)` is `at <= x and not (at = x and id >= y)`: the first part is what an index is read by.
 */
export function prismaPage<F extends string = 'createdAt'>(
  list: { readonly name: string; readonly by?: SortKey<F>; readonly isOldestFirst?: boolean },
  request: PageRequest,
  limits: PageLimits,
): PrismaPage<F> {
  const { by: key = createdAtKey as unknown as SortKey<F>, name } = list;
  if (!key.isPlain) throw new Error(`The Prisma client cannot order a list by an expression of "${key.member}".`);
  const { window, later, earlier, direction } = readRequest(list, request, limits);
  const beyond = (side: 'lt' | 'gt', { at, id }: Position) => {
    const [reached, passed] = side === 'lt' ? [{ lte: at }, { gte: id }] : [{ gte: at }, { lte: id }];
    return { AND: [{ [key.member]: reached }, { NOT: { [key.member]: at, id: passed } }] } as unknown as Beyond<F>;
  };
  return {
    beyond: [
      ...(window.after ? [beyond(later, window.after)] : []),
      ...(window.before ? [beyond(earlier, window.before)] : []),
    ],
    orderBy: [{ [key.member]: direction }, { id: direction }] as PrismaPage<F>['orderBy'],
    take: window.limit + 1,
    toPage: (rows) => toPage(rows, window, (item) => key.write(name, key.positionOf(item))),
  };
}
