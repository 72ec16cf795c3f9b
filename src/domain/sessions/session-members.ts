import { columnOf } from '../../store/tables.ts';
import { type Creators, containsText, createdBounds, isCreatedBy, isOneOf, wasCreatedBy } from '../list-filter.ts';
import type { Bind } from '../nested-pages.ts';
import { textSearch, wordsOf } from '../text-search.ts';
import { type PullRequest, pullRequestStates, type SessionRecord } from './session.ts';
import { groupColumn, groupOf, type SessionGroup } from './session-groups.ts';
import { type SessionStatusDetail, statusOfDetail } from './status.ts';

/**
 * One member of a filter of sessions: as conditions on a `session` aliased `s`, and as a test of a session record. `sql` null: the
 * condition is on several members, see `session-conditions.ts`.
 */
export interface Member<T> {
  readonly sql: ((value: T, bind: Bind) => readonly string[]) | null;
  readonly matches: (value: T, session: SessionRecord) => boolean;
}

/** The fields of a session whose values are of a type. */
type FieldOf<T> = { [F in keyof SessionRecord]: SessionRecord[F] extends T | null ? F : never }[keyof SessionRecord];

const columnIn = (field: keyof SessionRecord): string => columnOf('Session', 's', field);

const oneOf = <F extends FieldOf<string>>(field: F): Member<readonly NonNullable<SessionRecord[F]>[]> => ({
  sql: (values, bind) => [isOneOf(columnIn(field), values as readonly string[], bind)],
  matches: (values, session) => (values as readonly unknown[]).includes(session[field]),
});

const equal = (field: FieldOf<string>): Member<string> => ({
  sql: (value, bind) => [`${columnIn(field)} = ${bind(value)}`],
  matches: (value, session) => session[field] === value,
});

/** A condition without a parameter, so that the planner knows which partial index fits. */
const is = (condition: string, read: (session: SessionRecord) => boolean): Member<boolean> => ({
  sql: (value) => [value ? condition : `not (${condition})`],
  matches: (value, session) => read(session) === value,
});

const hasTag = (tags: readonly string[], bind: Bind): string =>
  `exists (select 1 from session_tag t where t.organization_id = s.organization_id and t.tag = any(${bind(tags)}::text[])
              and t.created_at = s.created_at and t.session_id = s.id)`;

// Values of the REST API may be others.
const knownStates = (states: readonly string[]) => pullRequestStates.filter((state) => states.includes(state));
const hasPullRequest = (state: PullRequest['state']) => `s.pull_requests @> '[{"state": "${state}"}]'`;

const inLowerCase = (names: readonly string[]): string[] => names.map((name) => name.toLowerCase());

const member = <T>(of: Member<T>): Member<T> => of;

/**
 * All members of a filter of sessions in all APIs, with their conditions. All conditions must hold; of a list, any one value. Ids are
 * unprefixed, times are bounds (after: >=, before: <). The members on times are conditions on a column that the caller names: see
 * {@link createdBounds}.
 */
export const sessionMembers = {
  status: oneOf('status'),
  statusDetail: member<readonly SessionStatusDetail[]>({
    // A detail implies one status, and an index has the status.
    sql: (details, bind) => [
      isOneOf('s.status', [...new Set(details.map(statusOfDetail))], bind),
      isOneOf('s.status_detail', details, bind),
    ],
    matches: (details, { status, statusDetail }) =>
      statusDetail !== null &&
      details.includes(statusDetail) &&
      details.some((each) => statusOfDetail(each) === status),
  }),
  endReasons: oneOf('endedBy'),
  /** Sessions in any of these groups of an inbox. */
  group: member<readonly SessionGroup[]>({
    sql: (groups, bind) => [isOneOf(groupColumn, groups, bind)],
    matches: (groups, session) => groups.includes(groupOf(session)),
  }),
  /** Sessions with any of these tags. */
  tags: member<readonly string[]>({
    sql: (tags, bind) => [hasTag(tags, bind)],
    matches: (tags, session) => tags.some((tag) => session.tags.includes(tag)),
  }),
  /** Sessions with all of these tags. */
  allTags: member<readonly string[]>({
    sql: (tags, bind) => [
      ...(tags[0] === undefined ? [] : [hasTag([tags[0]], bind)]),
      ...(tags.length > 1 ? [`s.tags @> ${bind(tags)}::text[]`] : []),
    ],
    matches: (tags, session) => tags.every((tag) => session.tags.includes(tag)),
  }),
  /** Sessions with any of these repositories: owner/name or host/owner/name, case-insensitive. */
  repositories: member<readonly string[]>({
    // The first condition is the index's.
    sql: (names, bind) => [
      `(s.repository_names <> '{}' and s.repository_names && ${bind(inLowerCase(names))}::text[])`,
    ],
    matches: (names, { repositoryNames }) => inLowerCase(names).some((name) => repositoryNames.includes(name)),
  }),
  /** Sessions with a pull request in any of these states. */
  pullRequestStates: member<readonly PullRequest['state'][]>({
    // Without parameters, so that the index of a state fits.
    sql: (states) => [`(${knownStates(states).map(hasPullRequest).join(' or ') || 'false'})`],
    matches: (states, { pullRequests }) => pullRequests.some(({ state }) => states.includes(state)),
  }),
  isArchived: member<boolean>({
    sql: (value, bind) => [`s.is_archived = ${bind(value)}::boolean`],
    matches: (value, { isArchived }) => isArchived === value,
  }),
  isUnlisted: is('s.is_unlisted', ({ isUnlisted }) => isUnlisted),
  origins: oneOf('origin'),
  organizationIds: oneOf('organizationId'),
  playbookId: equal('playbookId'),
  automationIds: oneOf('automationId'),
  parentId: equal('parentId'),
  /** True: started by another session; false: not. */
  hasParent: is(`coalesce(s.parent_id, '') <> ''`, ({ parentId }) => parentId !== null),
  createdBy: member<Creators>({
    sql: (creators, bind) => [isCreatedBy('s', creators, bind)],
    matches: wasCreatedBy,
  }),
  createdAfter: member<Date>({
    sql: (createdAfter, bind) => createdBounds({ createdAfter }, 's.created_at', bind),
    matches: (bound, { createdAt }) => createdAt >= bound,
  }),
  createdBefore: member<Date>({
    sql: (createdBefore, bind) => createdBounds({ createdBefore }, 's.created_at', bind),
    matches: (bound, { createdAt }) => createdAt < bound,
  }),
  updatedAfter: member<Date>({ sql: null, matches: (bound, { updatedAt }) => updatedAt >= bound }),
  updatedBefore: member<Date>({ sql: null, matches: (bound, { updatedAt }) => updatedAt < bound }),
  /** Words that the title contains, in any order and case-insensitive. */
  search: member<string>({
    sql: (search, bind) => wordsOf(search).map((word) => containsText(['s.title'], word, bind)),
    matches: (search, { title }) => wordsOf(search).every((word) => textSearch(word).isIn(title)),
  }),
  /** True: terminated or expired; false: not. */
  isOver: member<boolean>({
    sql: (value, bind) => [`coalesce(s.ended_by in ('terminated', 'expired'), false) = ${bind(value)}::boolean`],
    matches: (value, { endedBy }) => (endedBy === 'terminated' || endedBy === 'expired') === value,
  }),
  /** Only these sessions; unlisted ones among them are shown. */
  sessionIds: oneOf('id'),
};

/** The values of the members. */
export type SessionMemberValues = {
  readonly [K in keyof typeof sessionMembers]?:
    | ((typeof sessionMembers)[K] extends Member<infer T> ? T : never)
    | undefined;
};

/**
 * Returns the conditions of a filter on a session's last change, on the given column of `session` or `session_change`.
 */
export function updatedBounds(
  { updatedAfter, updatedBefore }: Pick<SessionMemberValues, 'updatedAfter' | 'updatedBefore'>,
  column: string,
  bind: Bind,
): string[] {
  return [
    ...(updatedAfter ? [`${column} >= ${bind(updatedAfter)}::timestamptz`] : []),
    ...(updatedBefore ? [`${column} < ${bind(updatedBefore)}::timestamptz`] : []),
  ];
}
