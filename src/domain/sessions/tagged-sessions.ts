import { createdBounds } from '../list-filter.ts';
import type { Bind, RowSource } from '../nested-pages.ts';
import { filterConditions } from './session-conditions.ts';
import type { CheckedFilter, SessionConditions } from './session-filter.ts';

/** What leads to few sessions by an index of its own, however many the tag has. */
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
  'updatedAfter',
  'updatedBefore',
] as const satisfies readonly (keyof SessionConditions)[];

/**
 * The sessions of an organization that have a filter's one tag, or the first of the tags that they must all have, newest or
 * oldest first by creation, as the index of tags has them: a page of a rare tag reads no more than one of a tag that everything
 * has. Undefined for a filter that is not mainly of one tag. `organization`: an expression.
 *
 * The planner is not asked: it takes what it knows of tags, times and organizations for independent, expects next to
 * nothing, and reads all sessions for it. Inside `offset 0` it cannot but look up one session for each tag.
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
