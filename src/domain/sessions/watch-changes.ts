import { permissionFor } from '../../auth/permissions.ts';
import { type ChangeSource, deletedSessionTable, sessionTable } from '../changes/change-source.ts';
import { followOrganizations } from '../changes/follow-organizations.ts';
import { type ChangeWatches, type EntityChange, type EntityFilter, watchEntities } from '../changes/watch-entities.ts';
import type { Context } from '../context.ts';
import { type SessionRecord, sessionColumns } from './session.ts';
import { matcherOf } from './session-conditions.ts';
import { type CheckedFilter, checkFilter, refusePersonal, type SessionFilter } from './session-filter.ts';

/** A subscription to changes. `organizationId`: in any form; null: all organizations where the viewer may view sessions. */
export interface ChangesRequest {
  readonly organizationId: string | null;
  readonly filter: SessionFilter;
  /** Any cursor of such a subscription; null: from now on. */
  readonly after: string | null;
}

/** The changes of sessions, with the sessions. */
export const sessionChanges: ChangeSource<SessionRecord> = {
  name: 'sessionChanges',
  tables: [sessionTable, deletedSessionTable()],
  record: { columns: sessionColumns, joins: 'left join session s on s.id = c.id' },
  topics: ['organization'],
  createdAt: ({ createdAt }) => createdAt,
};

/**
 * The changes of sessions, as {@link watchEntities} reports them. ORGANIZATION_NOT_USABLE, NOT_FOUND,
 * FORBIDDEN, INVALID_INPUT, BAD_CURSOR before the first one.
 */
export async function watchChanges(
  context: Context,
  watches: ChangeWatches,
  { organizationId, filter, after }: ChangesRequest,
): Promise<AsyncIterableIterator<EntityChange<SessionRecord>>> {
  const among = filter.organizationIds;
  const followed = await followOrganizations(context, { organizationId, among, anyOf: [permissionFor.viewSession] });
  refusePersonal(filter);
  checkFilter(context.viewer, filter);
  const filterNow = (): EntityFilter<SessionRecord> => {
    const checked = checkFilter(context.viewer, filter);
    return { isMatch: matcherOf(checked), couldMatch: matcherOf(lastingConditions(checked)) };
  };
  return watchEntities(context, watches, { source: sessionChanges, ...followed, filterNow, after });
}

/** The conditions of a filter that a session meets always or never. */
function lastingConditions(filter: CheckedFilter): CheckedFilter {
  const { sessionIds, organizationIds, playbookId, automationIds, parentId, hasParent, createdBy } = filter;
  const { createdAfter, createdBefore, origins, isUnlisted, unlisted } = filter;
  return {
    ...{ sessionIds, organizationIds, playbookId, automationIds, parentId, hasParent, createdBy },
    ...{ createdAfter, createdBefore, origins, isUnlisted },
    ...(unlisted && { unlisted }),
  };
}
