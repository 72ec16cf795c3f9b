import { permissionFor } from '../../auth/permissions.ts';
import { organizationsWith, type Viewer } from '../../auth/viewer.ts';
import { invalidInput, refuse } from '../../common/errors.ts';
import { type Creators, filterIssues } from '../list-filter.ts';
import { ownCreators } from './own-sessions.ts';
import { requirePrincipalId } from './personal-state.ts';
import type { SessionMemberValues } from './session-members.ts';

/** Conditions on a session. */
export interface SessionConditions extends SessionMemberValues {
  /** The email of the user who started the session (v1's newer clients). Only for lists. */
  readonly userEmail?: string | undefined;
  /** Sessions that are unread or not, for the viewer. Only for lists. */
  readonly isUnread?: boolean | undefined;
  /** Sessions that the viewer pinned or not. Only for lists. */
  readonly isPinned?: boolean | undefined;
}

/** Nested filters. They hold in addition to the filter's own conditions. An empty `or` matches no session. */
interface SessionCombinators {
  readonly and?: readonly SessionFilter[] | undefined;
  readonly or?: readonly SessionFilter[] | undefined;
  readonly not?: SessionFilter | undefined;
}

/** A filter of sessions: conditions, and combined filters. */
export interface SessionFilter extends SessionConditions, SessionCombinators {}

/** Unlisted sessions that a viewer may list: its own, and those of organizations whose sessions it may manage. */
interface UnlistedSessions {
  readonly all: boolean;
  readonly organizationIds: readonly string[];
  readonly createdBy: Creators | null;
}

/**
 * A checked filter. `unlisted` is set if the filter asks for unlisted sessions: the ones that the viewer may list. `principalId` is set if it
 * asks for what the viewer read or pinned.
 */
export interface CheckedFilter extends SessionFilter {
  readonly unlisted?: UnlistedSessions;
  readonly principalId?: string;
}

/** Maximum depth of nested filters. */
export const maxFilterDepth = 3;
/** Maximum number of conditions of a filter and its nested filters. */
export const maxFilterConditions = 20;
/** Maximum number of nested filters, at any depth, also without conditions: reading each takes time. */
export const maxFilters = 50;

/**
 * Counts one more filter of a tree; the root is counted first. Throws INVALID_INPUT at its path beyond {@link
 * maxFilters} nested filters.
 */
export function countFilter(count: { filters: number }, path: readonly string[]): void {
  count.filters += 1;
  if (count.filters > maxFilters + 1)
    throw refuse(
      path,
      `A filter must contain at most ${maxFilters} filters, at any depth, but this one contains more.`,
    );
}

/** Returns the nested filters of a filter, each with its path. */
export function filtersWithin({ and = [], or = [], not }: SessionFilter): [path: string[], filter: SessionFilter][] {
  return [
    ...and.map((filter, n): [string[], SessionFilter] => [['and', String(n)], filter]),
    ...or.map((filter, n): [string[], SessionFilter] => [['or', String(n)], filter]),
    ...(not === undefined ? [] : [[['not'], not] as [string[], SessionFilter]]),
  ];
}

/** Returns the conditions of a filter without its nested filters. */
export function conditionsOf({ and: _and, or: _or, not: _not, ...conditions }: SessionFilter): SessionConditions {
  return conditions;
}

/**
 * Tells if a session must meet a condition to match: false for filters that match every session by their form, as `{or: [{}, …]}`. An
 * empty `or` matches no session, which is a condition.
 */
export function hasConditions(filter: SessionFilter): boolean {
  const { and = [], or, not } = filter;
  if (Object.values(conditionsOf(filter)).some((value) => value !== undefined)) return true;
  if (and.some(hasConditions) || or?.every(hasConditions)) return true;
  return not !== undefined && hasConditions(not) && !matchesNothing(not);
}

// Decides by the filter's form, whatever its conditions are about. An empty list matches no value.
function matchesNothing(filter: SessionFilter): boolean {
  const { and = [], or, not } = filter;
  if (Object.values(conditionsOf(filter)).some(isEmptyList) || and.some(matchesNothing)) return true;
  return (or?.every(matchesNothing) ?? false) || (not !== undefined && !hasConditions(not));
}

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

/** Adds a condition to a filter. If the filter has a condition of that name, both must hold. */
export function withCondition<F extends SessionFilter>(
  filter: F,
  condition: Pick<SessionFilter, 'createdBy'> | Pick<SessionFilter, 'statusDetail'>,
): F {
  const [name] = Object.keys(condition) as ['createdBy' | 'statusDetail'];
  const existing = filter[name];
  const and = existing === undefined ? filter.and : [...(filter.and ?? []), { [name]: existing }];
  return { ...filter, ...condition, ...(and && { and }) };
}

/**
 * Checks a filter for a viewer. Throws INVALID_INPUT, with the path below `at`, for filters that nest deeper than
 * {@link maxFilterDepth}, for more than {@link maxFilterConditions} conditions, and for values that no statement
 * accepts: PostgreSQL has no NUL in text, and its own bounds of time. Throws FORBIDDEN if a service key asks for what it read
 * or pinned.
 */
export function checkFilter(viewer: Viewer, filter: SessionFilter, at: readonly string[] = ['filter']): CheckedFilter {
  const found = { filters: 0, conditions: 0, isUnlisted: false, isPersonal: false };
  visit(filter, at, 0, found);
  return {
    ...filter,
    ...(found.isUnlisted && { unlisted: unlistedOf(viewer) }),
    ...(found.isPersonal && { principalId: requirePrincipalId(viewer) }),
  };
}

function visit(
  filter: SessionFilter,
  path: readonly string[],
  depth: number,
  found: { filters: number; conditions: number; isUnlisted: boolean; isPersonal: boolean },
): void {
  countFilter(found, path);
  if (depth > maxFilterDepth) {
    const message = `Filters may be nested at most ${maxFilterDepth} levels deep, but this one is deeper.`;
    throw invalidInput([{ path, message }]);
  }
  const conditions = conditionsOf(filter);
  found.conditions += Object.values(conditions).filter((value) => value !== undefined).length;
  if (found.conditions > maxFilterConditions) {
    const message = `A filter must have at most ${maxFilterConditions} conditions, including those of nested filters.`;
    throw invalidInput([{ path, message }]);
  }
  found.isUnlisted ||= conditions.isUnlisted !== undefined;
  found.isPersonal ||= conditions.isUnread !== undefined || conditions.isPinned !== undefined;
  const issues = filterIssues(conditions, ['search', 'tags', 'allTags', 'repositories', 'userEmail'], path);
  if (issues.length > 0) throw invalidInput(issues);
  for (const [step, inner] of filtersWithin(filter)) visit(inner, [...path, ...step], depth + 1, found);
}

/** Throws INVALID_INPUT, with its path, for a condition on what the viewer read or pinned: subscriptions do not report its changes. */
export function refusePersonal(filter: SessionFilter, at: readonly string[] = ['filter']): void {
  for (const name of ['isUnread', 'isPinned'] as const) {
    if (filter[name] === undefined) continue;
    throw refuse(
      [...at, name],
      `"${name}" is only for lists: subscriptions to changes do not report what a user reads or pins.`,
    );
  }
  for (const [step, inner] of filtersWithin(filter)) refusePersonal(inner, [...at, ...step]);
}

function unlistedOf(viewer: Viewer): UnlistedSessions {
  const { all, ids } = organizationsWith(viewer, permissionFor.changeSession);
  return { all, organizationIds: ids, createdBy: ownCreators(viewer) };
}
