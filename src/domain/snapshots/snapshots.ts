import { permissionFor } from '../../auth/permissions.ts';
import { organizationsWith } from '../../auth/viewer.ts';
import { fieldsOf, type Narrowed, selectFields } from '../../store/tables.ts';
import type { Context } from '../context.ts';
import { findInOrganizations, inOrderOfKeys, type WithKeyPosition } from '../find-by-ids.ts';
import { requireUsable } from '../identity/organizations/use-organization.ts';
import { checkListFilter, type ListFilter, listFilterConditions } from '../list-filter.ts';
import { type NestedList, organizationOwners } from '../nested-pages.ts';
import type { InheritedRepository } from '../sessions/repositories/inherited-repositories.ts';
import { textKey } from '../sort-keys.ts';
import { inOrder, type ListOrder } from '../sorted-pages.ts';

const snapshotFields = fieldsOf('Snapshot');

/** A named checkpoint from which sessions of its organization start. Ids are unprefixed. */
export type SnapshotRecord = Narrowed<
  'Snapshot',
  (typeof snapshotFields)[number],
  { readonly repositories: readonly InheritedRepository[] }
>;

/** The columns of a {@link SnapshotRecord} of a `snapshot` aliased `n`. */
export const snapshotColumns = selectFields('Snapshot', 'n', snapshotFields);

const table = { table: 'snapshot', row: 'n', columns: snapshotColumns };

/** Returns the snapshots of these unprefixed ids that the viewer may see, in the ids' order; null for each other id. */
export function findSnapshots(context: Context, ids: readonly string[]): Promise<(SnapshotRecord | null)[]> {
  return findInOrganizations<SnapshotRecord>(context, table, ids, permissionFor.viewSession);
}

/** The name of a snapshot with its organization, by its unprefixed id. */
export interface SnapshotName {
  readonly organizationId: string;
  readonly name: string;
}

/** Returns the snapshots with these names that the viewer may see, in the names' order; null for each other name. */
export async function findSnapshotsByName(
  { store, viewer }: Context,
  names: readonly SnapshotName[],
): Promise<(SnapshotRecord | null)[]> {
  const { enterpriseId, all, ids } = organizationsWith(viewer, permissionFor.viewSession);
  const rows = await store.query<WithKeyPosition<SnapshotRecord>>(
    `select k.position::int as "keyPosition", ${snapshotColumns}
       from unnest($1::text[], $2::text[]) with ordinality k (organization_id, name, position)
       join snapshot n on n.organization_id = k.organization_id and n.name = k.name
       join organization o on o.id = n.organization_id
      where o.enterprise_id = $3 and o.deleted_at is null and ($4::boolean or o.id = any($5::text[]))`,
    [names.map(({ organizationId }) => organizationId), names.map(({ name }) => name), enterpriseId, all, ids],
  );
  return inOrderOfKeys(names.length, rows);
}

/** Conditions of a list of snapshots. `search`: in the name and the description. */
export interface SnapshotFilter extends ListFilter {
  /** Unprefixed id of the session that they are of. */
  readonly sessionId?: string | undefined;
}

const sortKeys = { name: textKey('Snapshot', 'name') };

/** An order of a list of snapshots. */
export type SnapshotOrder = ListOrder<'createdAt' | keyof typeof sortKeys>;

/**
 * Returns the snapshots of an organization that has been read, by its unprefixed id, as a nested list. Throws
 * ORGANIZATION_NOT_USABLE, FORBIDDEN, INVALID_INPUT.
 */
export function snapshotsOf(
  context: Context,
  organizationId: string,
  filter: SnapshotFilter = {},
  order?: SnapshotOrder | null,
): NestedList<SnapshotRecord> {
  requireUsable(context, organizationId, permissionFor.viewSession);
  checkListFilter(filter);
  return {
    ...inOrder('snapshots', order, sortKeys),
    key: `snapshots ${JSON.stringify([filter, order])}`,
    ownerId: organizationId,
    row: 'n',
    table: 'snapshot',
    columns: snapshotColumns,
    owners: organizationOwners(context.viewer.enterpriseId),
    where: (bind) => [
      'n.organization_id = owner.id',
      ...(filter.sessionId === undefined ? [] : [`n.session_id = ${bind(filter.sessionId)}`]),
      ...listFilterConditions('n', filter, ['name', 'description'], bind),
    ],
  };
}
