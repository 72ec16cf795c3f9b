import type { Context } from '../../context.ts';
import type { NestedList } from '../../nested-pages.ts';
import { childrenOf } from '../list-sessions.ts';
import type { SessionRecord } from '../session.ts';
import type { SessionFilter } from '../session-filter.ts';
import type { SessionOrder } from '../session-orders.ts';

/**
 * Returns the forks of a session, which are some of its child sessions, as a nested list. Throws FORBIDDEN without the permission to view
 * them, and INVALID_INPUT.
 */
export function forksOf(
  context: Context,
  session: Pick<SessionRecord, 'id' | 'organizationId'>,
  filter?: SessionFilter,
  order?: SessionOrder,
): NestedList<SessionRecord> {
  const children = childrenOf(context, session, filter, order);
  return {
    ...children,
    key: `forks ${children.key}`,
    where: (bind) => [...children.where(bind), 's.forked_from_id = owner.id'],
  };
}
