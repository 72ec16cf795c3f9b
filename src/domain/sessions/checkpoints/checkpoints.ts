import { permissionFor } from '../../../auth/permissions.ts';
import { organizationsWith, requirePermission } from '../../../auth/viewer.ts';
import type { MissingPart } from '../../../checkpoints/driver.ts';
import { fieldsOf, type Narrowed, selectFields } from '../../../store/tables.ts';
import type { CheckpointKind } from '../../checkpoints/checkpoint.ts';
import type { Context } from '../../context.ts';
import { inOrderOf } from '../../find-by-ids.ts';
import { checkListFilter, type ListFilter, listFilterConditions, oneOfConditions } from '../../list-filter.ts';
import { type NestedList, sessionOwners } from '../../nested-pages.ts';
import { inOrder, type ListOrder } from '../../sorted-pages.ts';
import type { SessionRecord } from '../session.ts';

// The content names the segments of the storage, which no API shows.
const checkpointFields = fieldsOf('Checkpoint', ['content', 'segmentIds', 'lenderIds', 'agentSessionId']);

/** The values of the fields whose columns have a wider type. */
interface CheckpointValues {
  readonly kind: CheckpointKind;
  readonly missing: readonly MissingPart[];
}

/** A checkpoint of a session as the APIs read it, without its content. */
export interface SessionCheckpoint extends Narrowed<'Checkpoint', (typeof checkpointFields)[number], CheckpointValues> {
  /** True for the newest one, with which the agent continues on another worker. */
  readonly isCurrent: boolean;
}

/** The columns of a {@link SessionCheckpoint} of a `checkpoint` aliased `c`. */
export const checkpointColumns = `${selectFields('Checkpoint', 'c', checkpointFields)},
  exists (select 1 from run r where r.session_id = c.session_id and r.checkpoint_id = c.id) as "isCurrent"`;

/** Conditions of a list of checkpoints. An item must match all of them. */
export interface CheckpointFilter extends Pick<ListFilter, 'createdAfter' | 'createdBefore'> {
  readonly kinds?: readonly CheckpointKind[] | undefined;
  readonly turn?: number | undefined;
}

/** Returns the checkpoints of a session as a nested list. Throws FORBIDDEN, INVALID_INPUT. */
export function checkpointsOf(
  context: Context,
  session: Pick<SessionRecord, 'id' | 'organizationId'>,
  filter: CheckpointFilter = {},
  order?: ListOrder<'createdAt'> | null,
): NestedList<SessionCheckpoint> {
  const { viewer } = context;
  requirePermission(viewer, permissionFor.viewSession, session.organizationId);
  checkListFilter(filter);
  return {
    ...inOrder('checkpoints', order, {}),
    key: `checkpoints ${JSON.stringify([filter, order])}`,
    ownerId: session.id,
    row: 'c',
    table: 'checkpoint',
    columns: checkpointColumns,
    owners: sessionOwners(viewer.enterpriseId),
    where: (bind) => [
      'c.session_id = owner.id',
      ...oneOfConditions('c.kind', filter.kinds, bind),
      ...(filter.turn === undefined ? [] : [`c.turn = ${bind(filter.turn)}::int`]),
      ...listFilterConditions('c', filter, [], bind),
    ],
  };
}

/** Returns the checkpoints of these unprefixed ids whose sessions the viewer may see, in the ids' order; null for each other id. */
export async function findCheckpoints(context: Context, ids: readonly string[]): Promise<(SessionCheckpoint | null)[]> {
  return inOrderOf(ids, await readVisible(context, 'c.id = any($1::text[])', ids));
}

/**
 * Returns the newest checkpoint of each of these sessions, by unprefixed ids and in their order; null for a session without one and for
 * one that the viewer may not see.
 */
export async function findCurrentCheckpoints(
  context: Context,
  sessionIds: readonly string[],
): Promise<(SessionCheckpoint | null)[]> {
  const current = 'c.id in (select r.checkpoint_id from run r where r.session_id = any($1::text[]))';
  const rows = await readVisible(context, current, sessionIds);
  const found = new Map(rows.map((row) => [row.sessionId, row]));
  return sessionIds.map((id) => found.get(id) ?? null);
}

function readVisible(
  { store, viewer }: Context,
  condition: string,
  ids: readonly string[],
): Promise<SessionCheckpoint[]> {
  const { enterpriseId, all, ids: organizationIds } = organizationsWith(viewer, permissionFor.viewSession);
  return store.query<SessionCheckpoint>(
    `select ${checkpointColumns} from checkpoint c join organization o on o.id = c.organization_id
      where ${condition} and o.enterprise_id = $2 and o.deleted_at is null and ($3::boolean or o.id = any($4::text[]))`,
    [ids, enterpriseId, all, organizationIds],
  );
}
