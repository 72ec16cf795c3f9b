import { createdBounds } from '../list-filter.ts';
import type { Bind, RowSource } from '../nested-pages.ts';
import type { ColumnKey } from '../sort-keys.ts';
import { filterConditions } from './session-conditions.ts';
import type { CheckedFilter } from './session-filter.ts';
import { updatedBounds } from './session-members.ts';
import { waitingDetails } from './status.ts';

/** Tells if a filter selects only sessions that wait for an answer: these have their own indexes. */
export function isOfWaiting({ statusDetail, sessionIds }: CheckedFilter): boolean {
  const isWaiting = (detail: string) => (waitingDetails as readonly string[]).includes(detail);
  return (
    statusDetail !== undefined && statusDetail.length > 0 && statusDetail.every(isWaiting) && sessionIds === undefined
  );
}

/**
 * Waiting sessions, in the order of their creation or of their last change, as the indexes for {@link isOfWaiting} have
 * them.
 */
interface WaitingList {
  readonly filter: CheckedFilter;
  readonly enterpriseId: string;
  /** Conditions on `c`, a row of `session_change`, that select the organizations or creators. */
  readonly ownerConditions: readonly string[];
  /** Joins to `session s`, and conditions on these. */
  readonly joins?: string;
  readonly alsoOfSession?: readonly string[];
  readonly by: ColumnKey;
}

/**
 * Returns the rows of a {@link WaitingList}. `offset 0` forces the planner to look up one session for each waiting one,
 * in order: a page reads no more of them than it has.
 */
export function waitingSessions(
  { filter, enterpriseId, ownerConditions, joins = '', alsoOfSession = [], by }: WaitingList,
  bind: Bind,
): RowSource {
  const { createdAfter, createdBefore, updatedAfter, updatedBefore, ...others } = filter;
  const ofSession = ['s.id = c.session_id', 's.organization_id = c.organization_id', ...alsoOfSession];
  return {
    from: `session_change c cross join lateral (
      select s.* from session s ${joins} where ${[...ofSession, ...filterConditions(others, enterpriseId, bind)].join(' and ')} offset 0) s`,
    where: [
      ...ownerConditions,
      `c.idleness = 'waiting'`,
      ...createdBounds({ createdAfter, createdBefore }, 'c.created_at', bind),
      ...updatedBounds({ updatedAfter, updatedBefore }, 'c.updated_at', bind),
    ],
    sortColumns: { at: by.column('c'), id: 'c.session_id' },
  };
}
