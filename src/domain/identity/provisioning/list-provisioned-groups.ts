import { permissionFor } from '../../../auth/permissions.ts';
import { requireEnterprisePermission } from '../../../auth/viewer.ts';
import { notFound } from '../../../common/errors.ts';
import type { Transaction } from '../../../store/store.ts';
import type { Context } from '../../context.ts';
import { parseId } from '../../ids.ts';
import type { Bind } from '../../nested-pages.ts';
import type { OffsetPage } from '../../offset-pages.ts';
import type { PageLimits } from '../../pages.ts';
import { type DirectoryRequest, listResources, type ResourceOrder } from './list-resources.ts';
import { type FilterColumns, filterCondition, type ResourceFilter } from './resource-filter.ts';

/** A registered group, as a directory sees it. */
export interface ProvisionedGroup {
  readonly id: string;
  readonly name: string;
  readonly externalId: string | null;
  readonly createdAt: Date;
}

/** A user whom a directory has added to a group. */
export interface GroupMember {
  readonly userId: string;
  readonly email: string;
}

/** The maximum number of members that a directory can add to a group, and that are read at once. */
export const maxGroupMembers = 10_000;

/** The columns of a {@link ProvisionedGroup} of an `idp_group` aliased `g`. */
export const groupColumns = 'g.id, g.name, g.external_id as "externalId", g.created_at as "createdAt"';

const columns = { id: 'g.id', name: 'g.name', externalId: 'g.external_id', createdAt: 'g.created_at' } as const;

/** A condition of a directory on groups. Names are compared without regard to case. */
export type GroupFilter = ResourceFilter<keyof typeof columns>;

const source: FilterColumns<keyof typeof columns> = {
  columns,
  exact: new Set(['externalId'] as const),
  element: (part) => `exists (select 1 from idp_group_member m where m.group_id = g.id and ${part})`,
  elementColumns: { columns: { memberId: 'm.user_id' }, exact: new Set() },
};

const sortColumns = { id: columns.id, name: `lower(${columns.name})`, createdAt: columns.createdAt } as const;

/** An order of a list of groups. */
export type GroupOrder = ResourceOrder<keyof typeof sortColumns>;

/** Lists the groups of the enterprise for a directory, as {@link listResources} does. */
export function listProvisionedGroups(
  context: Context,
  { filter, order, ...request }: DirectoryRequest<GroupFilter, GroupOrder>,
  limits: PageLimits,
): Promise<OffsetPage<ProvisionedGroup>> {
  const rows = {
    table: 'idp_group',
    row: 'g',
    columns: groupColumns,
    where: (bind: Bind) => (filter === null ? [] : [filterCondition(filter, source, bind)]),
    sortColumn: sortColumns[order.by],
    isDescending: order.isDescending,
  } as const;
  return listResources(context, rows, request, limits);
}

/** Returns a group by its id in any form. Throws FORBIDDEN, NOT_FOUND. */
export async function getProvisionedGroup(context: Context, id: string): Promise<ProvisionedGroup> {
  requireEnterprisePermission(context.viewer, permissionFor.viewEnterpriseMembers);
  return readGroup(context, id);
}

/** Reads a group of the enterprise, without a permission check. With a transaction, it is locked until that ends. Throws NOT_FOUND. */
export async function readGroup(context: Context, id: string, tx?: Transaction): Promise<ProvisionedGroup> {
  const lock = tx ? 'for no key update' : '';
  const [group] = await (tx ?? context.store).query<ProvisionedGroup>(
    `select ${groupColumns} from idp_group g where g.id = $1 and g.enterprise_id = $2 ${lock}`,
    [parseId('idpGroup', id), context.viewer.enterpriseId],
  );
  if (!group) throw notFound('group');
  return group;
}

/**
 * Returns the members that a directory has added to groups, by the groups' unprefixed ids, the oldest first. For groups that the viewer
 * has read. Null: there are more members than are read at once.
 */
export async function findGroupMembers(
  { viewer, store }: Context,
  groupIds: readonly string[],
  tx?: Transaction,
): Promise<ReadonlyMap<string, readonly GroupMember[]> | null> {
  const found = new Map<string, GroupMember[]>(groupIds.map((id) => [id, []]));
  const rows = await (tx ?? store).query<GroupMember & { groupId: string }>(
    `select m.group_id as "groupId", u.id as "userId", u.email from idp_group_member m
       join user_account u on u.id = m.user_id and u.deleted_at is null
      where m.group_id = any($1::text[]) and m.enterprise_id = $2
      order by m.group_id, m.created_at, m.user_id limit ${maxGroupMembers + 1}`,
    [groupIds, viewer.enterpriseId],
  );
  if (rows.length > maxGroupMembers) return null;
  for (const { groupId, userId, email } of rows) found.get(groupId)?.push({ userId, email });
  return found;
}
