import type { Owner } from '../auth/viewer.ts';
import { type Issue, invalidInput } from '../common/errors.ts';
import { isStorable } from './input.ts';
import { maxSearchLength, textSearch } from './text-search.ts';

/** The principals that created an object, by unprefixed ids. Any of them matches. */
export interface Creators {
  readonly userIds: readonly string[];
  readonly serviceUserIds: readonly string[];
  readonly serviceKeyIds: readonly string[];
}

/** Conditions that most lists support; all of them must hold. Times are bounds (after: >=, before: <). */
export interface ListFilter {
  /** Part of a name, case-insensitive. */
  readonly search?: string | undefined;
  readonly createdBy?: Creators | undefined;
  readonly createdAfter?: Date | undefined;
  readonly createdBefore?: Date | undefined;
}

/** Adds a value to a statement and returns its placeholder. */
type Bind = (value: unknown) => string;

const timeNames = ['createdAfter', 'createdBefore', 'updatedAfter', 'updatedBefore'] as const;

/**
 * Returns the problems of the times and the texts in a filter, with paths below `at`: PostgreSQL has no NUL in text,
 * and its own bounds of time. `texts`: the names of its members that are strings, or lists of them.
 */
export function filterIssues<F extends object>(filter: F, texts: readonly (keyof F)[], at: readonly string[]): Issue[] {
  const issues: Issue[] = [];
  const values = filter as Readonly<Record<string, unknown>>;
  for (const name of timeNames) {
    const time = values[name];
    const year = time instanceof Date ? time.getUTCFullYear() : 2000;
    if (!(year >= 1 && year <= 9999)) {
      issues.push({ path: [...at, name], message: `"${name}" must be a time of the years 1 to 9999.` });
    }
  }
  for (const name of texts as readonly string[]) {
    if (isStorable(values[name])) continue;
    const message = `"${name}" must be Unicode text without NUL characters and lone surrogates.`;
    issues.push({ path: [...at, name], message });
  }
  const { search } = values;
  if (typeof search === 'string' && search.length > maxSearchLength) {
    const message = `"search" must have at most ${maxSearchLength} characters, but has ${search.length}.`;
    issues.push({ path: [...at, 'search'], message });
  }
  return issues;
}

/** Throws INVALID_INPUT for the {@link filterIssues} of a list's filter. */
export function checkListFilter<F extends ListFilter>(filter: F, ...texts: readonly (keyof F)[]): void {
  const issues = filterIssues(filter, ['search', ...texts], ['filter']);
  if (issues.length > 0) throw invalidInput(issues);
}

/** Returns the conditions of a {@link ListFilter} on rows of this alias; `search`: the columns to search. */
export function listFilterConditions(row: string, filter: ListFilter, search: readonly string[], bind: Bind): string[] {
  const { createdBy } = filter;
  return [
    ...(filter.search === undefined
      ? []
      : [
          containsText(
            search.map((column) => `${row}.${column}`),
            filter.search,
            bind,
          ),
        ]),
    ...(createdBy === undefined ? [] : [isCreatedBy(row, createdBy, bind)]),
    ...createdBounds(filter, `${row}.created_at`, bind),
  ];
}

/** Returns the conditions of a filter on an object's creation time, on the given column. */
export function createdBounds(
  { createdAfter, createdBefore }: Pick<ListFilter, 'createdAfter' | 'createdBefore'>,
  column: string,
  bind: Bind,
): string[] {
  return [
    ...(createdAfter ? [`${column} >= ${bind(createdAfter)}::timestamptz`] : []),
    ...(createdBefore ? [`${column} < ${bind(createdBefore)}::timestamptz`] : []),
  ];
}

/** Returns the condition that a text is part of any of some columns. */
export function containsText(columns: readonly string[], text: string, bind: Bind): string {
  const pattern = bind(textSearch(text).pattern);
  const conditions = columns.map((column) => `${column} ~ ${pattern}::text`);
  return conditions.length === 1 ? conditions.join() : `(${conditions.join(' or ')})`;
}

/**
 * Matches any of several values of a column. A single value uses `=`: only then does an index return its rows in a
 * list's order.
 */
export const isOneOf = (column: string, values: readonly string[], bind: Bind): string =>
  values.length === 1 ? `${column} = ${bind(values[0])}::text` : `${column} = any(${bind(values)}::text[])`;

/** {@link isOneOf} for an optional condition. */
export const oneOfConditions = (column: string, values: readonly string[] | undefined, bind: Bind): string[] =>
  values === undefined ? [] : [isOneOf(column, values, bind)];

/** Returns the condition that a row with the columns of an owner was created by one of some principals. */
export function isCreatedBy(row: string, { userIds, serviceUserIds, serviceKeyIds }: Creators, bind: Bind): string {
  const idsByColumn = [
    ['user_id', userIds],
    ['service_user_id', serviceUserIds],
    ['service_key_id', serviceKeyIds],
  ] as const;
  const conditions = idsByColumn
    .filter(([, ids]) => ids.length > 0)
    .map(([column, ids]) => isOneOf(`${row}.${column}`, ids, bind));
  if (conditions.length === 0) return 'false';
  return conditions.length === 1 ? conditions.join() : `(${conditions.join(' or ')})`;
}

/** True if an object was created by one of some principals, as {@link isCreatedBy} in a statement. */
export function wasCreatedBy({ userIds, serviceUserIds, serviceKeyIds }: Creators, owner: Owner): boolean {
  const { userId, serviceUserId, serviceKeyId } = owner;
  return (
    (userId !== null && userIds.includes(userId)) ||
    (serviceUserId !== null && serviceUserIds.includes(serviceUserId)) ||
    (serviceKeyId !== null && serviceKeyIds.includes(serviceKeyId))
  );
}

/** Returns an owner as the only creator to match; null: the service itself. */
export function creatorsOf({ userId, serviceUserId, serviceKeyId }: Owner): Creators | null {
  if (userId === null && serviceUserId === null && serviceKeyId === null) return null;
  const only = (id: string | null) => (id === null ? [] : [id]);
  return { userIds: only(userId), serviceUserIds: only(serviceUserId), serviceKeyIds: only(serviceKeyId) };
}
