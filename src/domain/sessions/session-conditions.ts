import { containsText, createdBounds, isCreatedBy, isOneOf, wasCreatedBy } from '../list-filter.ts';
import { textSearch } from '../text-search.ts';
import type { SessionRecord } from './session.ts';
import {
  type CheckedFilter,
  conditionsOf,
  filtersWithin,
  type SessionConditions,
  type SessionFilter,
} from './session-filter.ts';
import { statusOfDetail } from './status.ts';

/** Adds a value to a statement and returns its placeholder. */
type Bind = (value: unknown) => string;

/**
 * One member of a filter: as conditions on a `session` aliased `s`, and as a test of a session record. `sql` null: see
 * {@link ownConditions}.
 */
interface Member<T> {
  readonly sql: ((value: T, bind: Bind) => readonly string[]) | null;
  readonly matches: (value: T, session: SessionRecord) => boolean;
}

type MemberName = Exclude<keyof SessionConditions, 'userEmail'>;
type Members = { readonly [K in MemberName]: Member<NonNullable<SessionConditions[K]>> };

const oneOf = (column: string, read: (session: SessionRecord) => string | null): Member<readonly string[]> => ({
  sql: (values, bind) => [isOneOf(column, values, bind)],
  matches: (values, session) => (values as readonly (string | null)[]).includes(read(session)),
});

const equal = (column: string, read: (session: SessionRecord) => string | null): Member<string> => ({
  sql: (value, bind) => [`${column} = ${bind(value)}`],
  matches: (value, session) => read(session) === value,
});

/** A condition without a parameter, so that the planner knows which partial index fits. */
const is = (condition: string, read: (session: SessionRecord) => boolean): Member<boolean> => ({
  sql: (value) => [value ? condition : `not (${condition})`],
  matches: (value, session) => read(session) === value,
});

const hasTag = (tags: readonly string[], bind: Bind): string =>
  `exists (select 1 from session_tag t where t.organization_id = s.organization_id and t.tag = any(${bind(tags)}::text[])
              and t.created_at = s.created_at and t.session_id = s.id)`;

/**
 * All members with their conditions. The members on times are conditions on a column that the caller names: see {@link
 * createdBounds}.
 */
const members: Members = {
  status: oneOf('s.status', ({ status }) => status),
  statusDetail: {
    // A detail implies one status, and an index has the status.
    sql: (details, bind) => [
      isOneOf('s.status', [...new Set(details.map(statusOfDetail))], bind),
      isOneOf('s.status_detail', details, bind),
    ],
    matches: (details, { status, statusDetail }) =>
      statusDetail !== null &&
      details.includes(statusDetail) &&
      details.some((each) => statusOfDetail(each) === status),
  },
  endReasons: oneOf('s.ended_by', ({ endedBy }) => endedBy),
  tags: {
    sql: (tags, bind) => [hasTag(tags, bind)],
    matches: (tags, session) => tags.some((tag) => session.tags.includes(tag)),
  },
  allTags: {
    sql: (tags, bind) => [
      ...(tags[0] === undefined ? [] : [hasTag([tags[0]], bind)]),
      ...(tags.length > 1 ? [`s.tags @> ${bind(tags)}::text[]`] : []),
    ],
    matches: (tags, session) => tags.every((tag) => session.tags.includes(tag)),
  },
  isArchived: {
    sql: (value, bind) => [`s.is_archived = ${bind(value)}::boolean`],
    matches: (value, { isArchived }) => isArchived === value,
  },
  isUnlisted: is('s.is_unlisted', ({ isUnlisted }) => isUnlisted),
  origins: oneOf('s.origin', ({ origin }) => origin),
  organizationIds: oneOf('s.organization_id', ({ organizationId }) => organizationId),
  playbookId: equal('s.playbook_id', ({ playbookId }) => playbookId),
  automationIds: oneOf('s.automation_id', ({ automationId }) => automationId),
  parentId: equal('s.parent_id', ({ parentId }) => parentId),
  hasParent: is(`coalesce(s.parent_id, '') <> ''`, ({ parentId }) => parentId !== null),
  createdBy: {
    sql: (creators, bind) => [isCreatedBy('s', creators, bind)],
    matches: wasCreatedBy,
  },
  createdAfter: {
    sql: (createdAfter, bind) => createdBounds({ createdAfter }, 's.created_at', bind),
    matches: (bound, { createdAt }) => createdAt >= bound,
  },
  createdBefore: {
    sql: (createdBefore, bind) => createdBounds({ createdBefore }, 's.created_at', bind),
    matches: (bound, { createdAt }) => createdAt < bound,
  },
  updatedAfter: { sql: null, matches: (bound, { updatedAt }) => updatedAt >= bound },
  updatedBefore: { sql: null, matches: (bound, { updatedAt }) => updatedAt < bound },
  search: {
    sql: (search, bind) => [containsText(['s.title'], search, bind)],
    matches: (search, { title }) => textSearch(search).isIn(title),
  },
  isOver: {
    sql: (value, bind) => [`coalesce(s.ended_by in ('terminated', 'expired'), false) = ${bind(value)}::boolean`],
    matches: (value, { endedBy }) => (endedBy === 'terminated' || endedBy === 'expired') === value,
  },
  sessionIds: oneOf('s.id', ({ id }) => id),
};

const memberNames = Object.keys(members) as MemberName[];

/**
 * Returns the conditions of a filter on a session's last change, on the given column of `session` or `session_change`.
 */
export function updatedBounds(
  { updatedAfter, updatedBefore }: Pick<SessionConditions, 'updatedAfter' | 'updatedBefore'>,
  column: string,
  bind: Bind,
): string[] {
  return [
    ...(updatedAfter ? [`${column} >= ${bind(updatedAfter)}::timestamptz`] : []),
    ...(updatedBefore ? [`${column} < ${bind(updatedBefore)}::timestamptz`] : []),
  ];
}

/**
 * Returns the conditions under which a `session` aliased `s`, of this enterprise, belongs to a list with this filter;
 * `bind` returns a value's parameter. {@link matcherOf} does the same for a session record.
 */
export function filterConditions(filter: CheckedFilter, enterpriseId: string, bind: Bind): string[] {
  const email = filter.userEmail;
  return [
    ...listedConditions(filter, bind),
    ...treeConditions(filter, bind),
    ...(email === undefined
      ? []
      : [
          `s.user_id = any(array(select u.id from user_account u
             where u.enterprise_id = ${bind(enterpriseId)} and lower(u.email) = lower(${bind(email)}::text)))`,
        ]),
  ];
}

/** Returns a test of session records that agrees with {@link filterConditions}, except for `userEmail`. */
export function matcherOf(filter: CheckedFilter): (session: SessionRecord) => boolean {
  return (session) => isListed(filter, session) && matchesTree(filter, session);
}

/**
 * Unlisted sessions are in a list only if the filter names their ids, or asks for unlisted sessions: then those that
 * the viewer may list.
 */
function listedConditions(filter: CheckedFilter, bind: Bind): string[] {
  if (filter.sessionIds !== undefined) return [];
  const { unlisted } = filter;
  const ids = idsWithin(filter);
  const alternatives = ['not s.is_unlisted'];
  if (ids.length > 0) alternatives.push(`s.id = any(${bind(ids)}::text[])`);
  if (unlisted?.all) alternatives.push('true');
  else if (unlisted !== undefined) {
    alternatives.push(`s.organization_id = any(${bind(unlisted.organizationIds)}::text[])`);
    if (unlisted.createdBy) alternatives.push(isCreatedBy('s', unlisted.createdBy, bind));
  }
  return [alternatives.length === 1 ? 'not s.is_unlisted' : `(${alternatives.join(' or ')})`];
}

function isListed(filter: CheckedFilter, session: SessionRecord): boolean {
  if (!session.isUnlisted || filter.sessionIds !== undefined || idsWithin(filter).includes(session.id)) return true;
  const { unlisted } = filter;
  if (unlisted === undefined) return false;
  return (
    unlisted.all ||
    unlisted.organizationIds.includes(session.organizationId) ||
    (unlisted.createdBy !== null && wasCreatedBy(unlisted.createdBy, session))
  );
}

const idsWithin = (filter: SessionFilter): string[] => [
  ...(filter.sessionIds ?? []),
  ...filtersWithin(filter).flatMap(([, inner]) => idsWithin(inner)),
];

function treeConditions(filter: SessionFilter, bind: Bind): string[] {
  const conjunction = (inner: SessionFilter) => {
    const conditions = treeConditions(inner, bind);
    return conditions.length === 0 ? 'true' : `(${conditions.join(' and ')})`;
  };
  const where = ownConditions(conditionsOf(filter), bind);
  for (const inner of filter.and ?? []) where.push(...treeConditions(inner, bind));
  if (filter.or) where.push(filter.or.length === 0 ? 'false' : `(${filter.or.map(conjunction).join(' or ')})`);
  // A condition on a null value is null, which must not exclude a session here.
  if (filter.not) where.push(`${conjunction(filter.not)} is not true`);
  return where;
}

function matchesTree(filter: SessionFilter, session: SessionRecord): boolean {
  const { and = [], or, not } = filter;
  return (
    memberNames.every((name) => matchesMember(name, filter[name], session)) &&
    and.every((inner) => matchesTree(inner, session)) &&
    (or === undefined || or.some((inner) => matchesTree(inner, session))) &&
    (not === undefined || !matchesTree(not, session))
  );
}

function matchesMember<K extends MemberName>(name: K, value: SessionConditions[K], session: SessionRecord): boolean {
  return value === undefined || members[name].matches(value as NonNullable<SessionConditions[K]>, session);
}

function ownConditions(conditions: SessionConditions, bind: Bind): string[] {
  const where = memberNames.flatMap((name) => memberConditions(name, conditions[name], bind));
  const moved = updatedBounds(conditions, 'c.updated_at', bind);
  if (moved.length > 0) {
    // Few sessions have changed recently, and the index of `session_change` finds them. Many have not: for these, the
    // session's own column avoids the lookup.
    where.push(...updatedBounds({ updatedBefore: conditions.updatedBefore }, 's.updated_at', bind));
    where.push(`exists (select 1 from session_change c
      where ${['c.session_id = s.id', 'c.organization_id = s.organization_id', ...moved].join(' and ')})`);
  }
  return where;
}

function memberConditions<K extends MemberName>(name: K, value: SessionConditions[K], bind: Bind): readonly string[] {
  if (value === undefined) return [];
  return members[name].sql?.(value as NonNullable<SessionConditions[K]>, bind) ?? [];
}
