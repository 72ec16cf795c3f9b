import { type ListStore, queryList } from '../store/reader.ts';
import type { Page, PageLimits, PageRequest } from './pages.ts';
import { type SortColumns, type SortedList, type SortedPage, sortedPage } from './sorted-pages.ts';

/** Adds a value to a statement and returns its placeholder. */
export type Bind = (value: unknown) => string;

/**
 * The list of one owner among those of many, such as an organization's notes. Its creator has checked the permission to
 * read it. Lists with the same key differ only in their owner: one statement reads a page of each.
 */
export interface NestedList<T> extends SortedList {
  readonly key: string;
  /** Unprefixed id. */
  readonly ownerId: string;
  /** The table of the alias `row`. */
  readonly table: string;
  /** The columns of an item, from `row` and `joins`. */
  readonly columns: string;
  /** Joins to `row` that always match exactly once: they exclude no row. */
  readonly joins?: string;
  /** Converts a row to an item, if its columns do not suffice. */
  readonly toItem?: (row: never) => T;
  /** Joins to `owner(id)` that keep only owners of the viewer's enterprise, in organizations that are not deleted. */
  readonly owners: (bind: Bind) => string;
  /** Conditions on the rows of `owner`. */
  readonly where: (bind: Bind) => readonly string[];
  /** The same rows from another table that has their order. */
  readonly through?: ((bind: Bind) => RowSource) | undefined;
  /** An index that may find all matching rows. */
  readonly candidates?: ((bind: Bind) => Candidates) | undefined;
  /** The type of an item; never set. */
  readonly item?: T;
}

/** A source of rows. */
export interface RowSource {
  /** The text after `from`: the rows have the alias of their list. */
  readonly from: string;
  readonly where: readonly string[];
  /** The columns that have the list's order, and equal those of the row. */
  readonly sortColumns: SortColumns;
}

/** The rows that an index finds. If there are at most `max`, each row of the list is one of them. */
export interface Candidates {
  /** A query of their ids, for the row `owner`, that returns at most one more than `max`. */
  readonly query: string;
  readonly max: number;
}

/** Owners that are organizations of an enterprise, in {@link NestedList.owners}. */
export const organizationOwners =
  (enterpriseId: string) =>
  (bind: Bind): string =>
    `join organization o on o.id = owner.id and o.enterprise_id = ${bind(enterpriseId)} and o.deleted_at is null`;

/** Owners that are sessions of an enterprise, in {@link NestedList.owners}. */
export const sessionOwners =
  (enterpriseId: string) =>
  (bind: Bind): string =>
    `join session parent on parent.id = owner.id join organization o on o.id = parent.organization_id
        and o.enterprise_id = ${bind(enterpriseId)} and o.deleted_at is null`;

/** Number of items a list has, up to {@link maxCounted}. */
export interface Count {
  readonly total: number;
  /** False: there are at least so many. */
  readonly isExact: boolean;
}

/** Maximum count: a list is never read to its end for a number. */
export const maxCounted = 10_001;

type Keyed = { readonly id: string; readonly createdAt: Date };

/**
 * Reads a page of each of these lists, which have the same key, in their order and in one statement. Throws the errors
 * of `pageWindow`.
 */
export async function listNested<T extends Keyed>(
  { store }: { readonly store: ListStore },
  lists: readonly NestedList<T>[],
  request: PageRequest,
  limits: PageLimits,
): Promise<Page<T>[]> {
  const [list] = lists;
  if (!list) return [];
  const { values, bind, from, of } = startOf(list, lists);
  const { page, sql } = readPage(list, of, request, limits, bind);
  const rows = await queryList<T & { ownerPosition: number }>(
    store,
    `select owner.position::int as "ownerPosition", ${list.columns} ${from} cross join lateral (
       ${sql}) ${list.row} ${list.joins ?? ''} ${page.order.replace('order by', 'order by owner.position,')}`,
    values,
  );
  const found = lists.map((): T[] => []);
  const toItem = list.toItem ?? ((row: never) => row as T);
  for (const { ownerPosition, ...row } of rows) found[ownerPosition - 1]?.push(toItem(row as never));
  return found.map((items) => page.toPage(items));
}

/**
 * Returns the query of one page of the list of `owner`, with the rows of `from` and in their order, and the function that creates the
 * page. Throws the errors of `pageWindow`.
 */
export function readPage<T>(
  list: NestedList<T>,
  from: string,
  request: PageRequest,
  limits: PageLimits,
  bind: Bind,
): { readonly page: SortedPage; readonly sql: string } {
  const { row } = list;
  const read = (source: string, where: readonly string[], { beyond, sourceOrder, limit }: SortedPage) =>
    `select ${row}.* from ${source} where ${[...where, ...beyond].join(' and ')} ${sourceOrder} limit ${limit}`;
  const through = list.through?.(bind);
  const page = sortedPage(list, request, limits, bind, through?.sortColumns);
  const inOrder = (...more: string[]) =>
    read(through?.from ?? from, [...(through?.where ?? list.where(bind)), ...more], page);
  const candidates = list.candidates?.(bind);
  if (!candidates) return { page, sql: inOrder() };
  const { query, max } = candidates;
  // `offset 0` forces the planner to look up one row for each id.
  const byIds = `unnest(candidate.ids) found (id) cross join lateral (
    select * from ${from} where ${[`${row}.id = found.id`, ...list.where(bind)].join(' and ')} offset 0) ${row}`;
  const few = read(byIds, [`cardinality(candidate.ids) <= ${max}`], sortedPage(list, request, limits, bind));
  const sql = `select ${row}.* from (select array(${query}) as ids offset 0) candidate cross join lateral (
      (${few}) union all (${inOrder(`cardinality(candidate.ids) > ${max}`)})) ${row} ${page.order} limit ${page.limit}`;
  return { page, sql };
}

/** The parts of a list that determine its length. */
export type CountedList = Pick<NestedList<unknown>, 'key' | 'ownerId' | 'row' | 'table' | 'owners' | 'where'>;

/** Counts the items of each of these lists, which have the same key, in one statement. */
export async function countNested(
  { store }: { readonly store: ListStore },
  lists: readonly CountedList[],
): Promise<Count[]> {
  const [list] = lists;
  if (!list) return [];
  const { values, bind, from, of } = startOf(list, lists);
  const where = list.where(bind).join(' and ');
  const rows = await queryList<{ ownerPosition: number; total: number }>(
    store,
    `select owner.position::int as "ownerPosition", counted.total ${from} cross join lateral (
       select count(*)::int as total from (select ${list.row}.* from ${of} where ${where} limit ${bind(maxCounted)}) ${list.row}) counted`,
    values,
  );
  const totals = new Map(rows.map(({ ownerPosition, total }) => [ownerPosition, total]));
  return lists.map((_list, n) => {
    const total = totals.get(n + 1) ?? 0;
    return { total, isExact: total < maxCounted };
  });
}

function startOf(list: CountedList, lists: readonly CountedList[]) {
  const values: unknown[] = [lists.map(({ ownerId }) => ownerId)];
  const bind: Bind = (value) => `$${values.push(value)}`;
  const from = `from unnest($1::text[]) with ordinality owner (id, position) ${list.owners(bind)}`;
  return { values, bind, from, of: `${list.table} ${list.row}` };
}
