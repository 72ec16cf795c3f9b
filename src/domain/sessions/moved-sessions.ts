import type { Bind, RowSource } from '../nested-pages.ts';
import { filterConditions } from './session-conditions.ts';
import type { CheckedFilter } from './session-filter.ts';
import { updatedBounds } from './session-members.ts';

/**
 * Returns the sessions of an organization that match a filter, in the order of their last messages and status changes.
 * `organization`: a SQL expression.
 */
export function movedSessions(
  { updatedAfter, updatedBefore, ...others }: CheckedFilter,
  enterpriseId: string,
  organization: (bind: Bind) => string,
): (bind: Bind) => RowSource {
  return (bind) => ({
    from: 'session_change c join session s on s.id = c.session_id',
    where: [
      `c.organization_id = ${organization(bind)}`,
      ...updatedBounds({ updatedAfter, updatedBefore }, 'c.updated_at', bind),
      ...filterConditions(others, enterpriseId, bind),
    ],
    sortColumns: { at: 'c.updated_at', id: 'c.session_id' },
  });
}
