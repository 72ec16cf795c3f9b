import { automationViewPermissions } from '../../../auth/permissions.ts';
import { type ChangeSource, resourceTable } from '../../changes/change-source.ts';
import { isWithin, type Maybe } from '../../changes/filters.ts';
import { followOrganizations } from '../../changes/follow-organizations.ts';
import {
  type ChangeWatches,
  type EntityChange,
  type EntityFilter,
  watchEntities,
} from '../../changes/watch-entities.ts';
import type { Context } from '../../context.ts';
import { type AutomationRun, type RunStatus, runColumns } from '../model/runs.ts';

/**
 * A subscription to runs. `organizationId`: in any form; null: all organizations where the viewer may view automations.
 */
export interface RunChangesRequest {
  readonly organizationId: string | null;
  /** Unprefixed ids of the automations that count; null: all. */
  readonly automationIds: readonly string[] | null;
  readonly filter: Maybe<{ status: readonly RunStatus[]; createdAfter: Date; createdBefore: Date }>;
  readonly after: string | null;
}

const runChanges: ChangeSource<AutomationRun> = {
  name: 'automationRunChanges',
  tables: [resourceTable('automationRun')],
  record: { columns: runColumns, joins: 'left join automation_run r on r.id = c.id' },
  topics: ['resources'],
  createdAt: ({ createdAt }) => createdAt,
};

/**
 * Subscribes to the changes of runs, as {@link watchEntities} reports them. Throws ORGANIZATION_NOT_USABLE, NOT_FOUND,
 * FORBIDDEN, BAD_CURSOR before the first one.
 */
export async function watchRuns(
  context: Context,
  watches: ChangeWatches,
  { organizationId, automationIds, filter, after }: RunChangesRequest,
): Promise<AsyncIterableIterator<EntityChange<AutomationRun>>> {
  const followed = await followOrganizations(context, { organizationId, anyOf: automationViewPermissions });
  const couldMatch = (run: AutomationRun) =>
    (automationIds === null || automationIds.includes(run.automationId)) && isWithin(filter, run.createdAt);
  const test: EntityFilter<AutomationRun> = {
    isMatch: (run) => couldMatch(run) && (filter.status?.includes(run.status) ?? true),
    couldMatch,
  };
  return watchEntities(context, watches, { source: runChanges, ...followed, filterNow: () => test, after });
}
