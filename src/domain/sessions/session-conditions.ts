import { isCreatedBy, wasCreatedBy } from '../list-filter.ts';
import type { Bind } from '../nested-pages.ts';
import type { SessionRecord } from './session.ts';
import {
  type CheckedFilter,
  conditionsOf,
  filtersWithin,
  type SessionConditions,
  type SessionFilter,
} from './session-filter.ts';
import { type Member, sessionMembers, updatedBounds } from './session-members.ts';

type MemberName = keyof typeof sessionMembers;

const memberNames = Object.keys(sessionMembers) as MemberName[];

/**
 * Returns the conditions under which a `session` aliased `s`, of this enterprise, belongs to a list with this filter;
 * `bind` returns a value's parameter. {@link matcherOf} does the same for a session record.
 */
export function filterConditions(filter: CheckedFilter, enterpriseId: string, bind: Bind): string[] {
  const email = filter.userEmail;
  return [
    ...listedConditions(filter, bind),
    ...treeConditions(filter, bind, filter.principalId),
    ...(email === undefined
      ? []
      : [
          `s.user_id = any(array(select u.id from user_account u
             where u.enterprise_id = ${bind(enterpriseId)} and lower(u.email) = lower(${bind(email)}::text)))`,
        ]),
  ];
}

/** Returns a test of session records that agrees with {@link filterConditions}, except for `userEmail`, `isUnread` and `isPinned`. */
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

function treeConditions(filter: SessionFilter, bind: Bind, principalId: string | undefined): string[] {
  const conjunction = (inner: SessionFilter) => {
    const conditions = treeConditions(inner, bind, principalId);
    return conditions.length === 0 ? 'true' : `(${conditions.join(' and ')})`;
  };
  const where = [...ownConditions(conditionsOf(filter), bind), ...personalConditions(filter, bind, principalId)];
  for (const inner of filter.and ?? []) where.push(...treeConditions(inner, bind, principalId));
  if (filter.or) where.push(filter.or.length === 0 ? 'false' : `(${filter.or.map(conjunction).join(' or ')})`);
  // A condition on a null value is null, which must not exclude a session here.
  if (filter.not) where.push(`${conjunction(filter.not)} is not true`);
  return where;
}

// The ids are read once, in time that what the principal read and started takes, not all sessions of the organization.
function personalConditions(
  { isUnread, isPinned }: SessionConditions,
  bind: Bind,
  principalId: string | undefined,
): string[] {
  if (principalId === undefined || (isUnread === undefined && isPinned === undefined)) return [];
  const principal = bind(principalId);
  const isIn = (wanted: boolean, ids: string) => `s.id ${wanted ? '= any' : '<> all'}(array(${ids}))`;
  return [
    ...(isPinned === undefined
      ? []
      : [isIn(isPinned, `select p.session_id from session_pin p where p.principal_id = ${principal}`)]),
    ...(isUnread === undefined ? [] : [isIn(isUnread, unreadSessions(principal))]),
  ];
}

const unreadSessions = (principal: string) =>
  `select r.session_id from session_read r join session x on x.id = r.session_id where r.principal_id = ${principal} and x.updated_at > r.read_at
   union all select x.id from session x where (x.user_id = ${principal} or x.service_user_id = ${principal}) and not exists (
     select 1 from session_read r where r.principal_id = ${principal} and r.session_id = x.id)`;

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
  return value === undefined || memberOf(name).matches(value as NonNullable<SessionConditions[K]>, session);
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
  return memberOf(name).sql?.(value as NonNullable<SessionConditions[K]>, bind) ?? [];
}

const memberOf = <K extends MemberName>(name: K): Member<NonNullable<SessionConditions[K]>> =>
  sessionMembers[name] as unknown as Member<NonNullable<SessionConditions[K]>>;
