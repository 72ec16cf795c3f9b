import { createdBounds } from '../list-filter.ts';
import type { Bind, RowSource } from '../nested-pages.ts';
import { filterConditions } from './session-conditions.ts';
import type { CheckedFilter, SessionConditions } from './session-filter.ts';

/** Conditions that select few sessions by an index of their own, however many sessions the tag has. */
const indexedConditions = [
  'sessionIds',
  'status',
  'statusDetail',
  'endReasons',
  'isUnlisted',
  'playbookId',
  'automationIds',
  'parentId',
  'createdBy',
  'userEmail',
  'group',
  'isPinned',
  'isUnread',
  'updatedAfter',
  'updatedBefore',
] as const satisfies readonly (keyof SessionConditions)[];

/**
 * Returns the sessions of an organization that have a filter's only tag, or the first of the tags that they must all
 * have, newest or oldest first by creation time, in the order of the index of tags: a page of a rare tag reads no more
 * than a page of a tag that every session has. Returns undefined for a filter that is not mainly about one tag.
 * `organization`: a SQL expression.
 *
 * The planner must not choose: it takes tags, times and organizations for independent, expects almost no rows, and
 * reads all sessions. `offset 0` forces it to look up one session for each tag.
 */
export function taggedSessions(
  filter: CheckedFilter,
  enterpriseId: string,
  organization: (bind: Bind) => string,
): ((bind: Bind) => RowSource) | undefined {
  const { createdAfter, createdBefore, ...whenever } = filter;
  const { tags, allTags, ...others } = whenever;
  const isOfOne = tags?.length === 1;
  const tag = isOfOne ? tags[0] : allTags?.[0];
  if (tag === undefined || filter.isArchived === true || indexedConditions.some((name) => filter[name] !== undefined)) {
    return undefined;
  }
  const [, ...more] = isOfOne ? [tag, ...(allTags ?? [])] : (allTags ?? []);
  const rest: CheckedFilter = {
    ...others,
    ...(!isOfOne && tags !== undefined && { tags }),
    ...(more.length > 0 && { allTags: more }),
  };
  return (bind) => ({
    from: `session_tag t cross join lateral (
      select * from session s where ${['s.id = t.session_id', 's.organization_id = t.organization_id', ...filterConditions(rest, enterpriseId, bind)].join(' and ')} offset 0) s`,
    where: [
      `t.organization_id = ${organization(bind)}`,
      `t.tag = ${bind(tag)}::text`,
      ...createdBounds({ createdAfter, createdBefore }, 't.created_at', bind),
    ],
    sortColumns: { at: 't.created_at', id: 't.session_id' },
  });
}
