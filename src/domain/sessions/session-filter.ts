import { permissionFor } from '../../auth/permissions.ts';
import { organizationsWith, type Viewer } from '../../auth/viewer.ts';
import { invalidInput, refuse } from '../errors.ts';
import { type Creators, filterIssues } from '../list-filter.ts';
import { ownCreators } from './own-sessions.ts';
import type { SessionOrigin } from './session.ts';
import type { SessionEnd, SessionStatus, SessionStatusDetail } from './status.ts';

/** Conditions on a session; every one given must hold, and of a list any one. Ids are bare, times are bounds (after: >=, before: <). */
export interface SessionConditions {
  readonly status?: readonly SessionStatus[] | undefined;
  readonly statusDetail?: readonly SessionStatusDetail[] | undefined;
  readonly endReasons?: readonly SessionEnd[] | undefined;
  /** Sessions with any of them. */
  readonly tags?: readonly string[] | undefined;
  /** Sessions with all of them. */
  readonly allTags?: readonly string[] | undefined;
  readonly isArchived?: boolean | undefined;
  readonly isUnlisted?: boolean | undefined;
  readonly origins?: readonly SessionOrigin[] | undefined;
  readonly organizationIds?: readonly string[] | undefined;
  readonly playbookId?: string | undefined;
  readonly automationIds?: readonly string[] | undefined;
  readonly parentId?: string | undefined;
  /** Started by another session, or not. */
  readonly hasParent?: boolean | undefined;
  readonly createdBy?: Creators | undefined;
  readonly createdAfter?: Date | undefined;
  readonly createdBefore?: Date | undefined;
  readonly updatedAfter?: Date | undefined;
  readonly updatedBefore?: Date | undefined;
  /** Part of the title, upper and lower case alike. */
  readonly search?: string | undefined;
  /** Terminated or expired, or not. */
  readonly isOver?: boolean | undefined;
  /** Only these; unlisted ones among them are shown. */
  readonly sessionIds?: readonly string[] | undefined;
  /** The email of the user who started it (v1's newer clients). Only of a list. */
  readonly userEmail?: string | undefined;
}

/** Filters inside a filter. They hold beside its own conditions; an empty `or` holds for no session. */
interface SessionCombinators {
  readonly and?: readonly SessionFilter[] | undefined;
  readonly or?: readonly SessionFilter[] | undefined;
  readonly not?: SessionFilter | undefined;
}

/** What narrows sessions: conditions, and filters combined. */
export interface SessionFilter extends SessionConditions, SessionCombinators {}

/** Unlisted sessions that a viewer may list: its own, and those of organizations whose sessions it may manage. */
interface UnlistedSessions {
  readonly all: boolean;
  readonly organizationIds: readonly string[];
  readonly createdBy: Creators | null;
}

/** A filter that was checked. `unlisted` is set where it asks for unlisted sessions: which ones the viewer may list. */
export interface CheckedFilter extends SessionFilter {
  readonly unlisted?: UnlistedSessions;
}

/** How deep filters may stand inside a filter. */
export const maxFilterDepth = 3;
/** The most conditions of a filter and those inside it. */
export const maxFilterConditions = 20;
/** The most filters inside a filter, at any depth, also without conditions: reading each takes time. */
export const maxFilters = 50;

/** Counts one more filter of a tree, whose root is the first. INVALID_INPUT at its path beyond {@link maxFilters} inside the root. */
export function countFilter(count: { filters: number }, path: readonly string[]): void {
  count.filters += 1;
  if (count.filters > maxFilters + 1)
    throw refuse(
      path,
      `A filter must contain at most ${maxFilters} filters, at any depth, but this one contains more.`,
    );
}

/** The filters inside a filter, each with its path. */
export function filtersWithin({ and = [], or = [], not }: SessionFilter): [path: string[], filter: SessionFilter][] {
  return [
    ...and.map((filter, n): [string[], SessionFilter] => [['and', String(n)], filter]),
    ...or.map((filter, n): [string[], SessionFilter] => [['or', String(n)], filter]),
    ...(not === undefined ? [] : [[['not'], not] as [string[], SessionFilter]]),
  ];
}

/** The conditions of a filter alone, without the filters inside it. */
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

// By its form: whatever its conditions are about. Of an empty list no value can be met.
function matchesNothing(filter: SessionFilter): boolean {
  const { and = [], or, not } = filter;
  if (Object.values(conditionsOf(filter)).some(isEmptyList) || and.some(matchesNothing)) return true;
  return (or?.every(matchesNothing) ?? false) || (not !== undefined && !hasConditions(not));
}

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

/** A filter with one more condition: where it has one of that name, both must hold. */
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
 * Checks a filter for a viewer. INVALID_INPUT with the path below `at` of filters that nest deeper than {@link maxFilterDepth},
 * of more than {@link maxFilterConditions} conditions, and of what no statement can take: PostgreSQL has no NUL in text, and
 * its own bounds of time.
 */
export function checkFilter(viewer: Viewer, filter: SessionFilter, at: readonly string[] = ['filter']): CheckedFilter {
  const found = { filters: 0, conditions: 0, isUnlisted: false };
  visit(filter, at, 0, found);
  return found.isUnlisted ? { ...filter, unlisted: unlistedOf(viewer) } : filter;
}

function visit(
  filter: SessionFilter,
  path: readonly string[],
  depth: number,
  found: { filters: number; conditions: number; isUnlisted: boolean },
): void {
  countFilter(found, path);
  if (depth > maxFilterDepth) {
    const message = `Filters may be nested at most ${maxFilterDepth} levels deep, but this one is deeper.`;
    throw invalidInput([{ path, message }]);
  }
  const conditions = conditionsOf(filter);
  found.conditions += Object.values(conditions).filter((value) => value !== undefined).length;
  if (found.conditions > maxFilterConditions) {
    const message = `A filter must have at most ${maxFilterConditions} conditions, those of the filters inside it included.`;
    throw invalidInput([{ path, message }]);
  }
  found.isUnlisted ||= conditions.isUnlisted !== undefined;
  const issues = filterIssues(conditions, ['search', 'tags', 'allTags', 'userEmail'], path);
  if (issues.length > 0) throw invalidInput(issues);
  for (const [step, inner] of filtersWithin(filter)) visit(inner, [...path, ...step], depth + 1, found);
}

function unlistedOf(viewer: Viewer): UnlistedSessions {
  const { all, ids } = organizationsWith(viewer, permissionFor.changeSession);
  return { all, organizationIds: ids, createdBy: ownCreators(viewer) };
}
