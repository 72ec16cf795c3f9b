import { permissionFor } from '../../../auth/permissions.ts';
import { requireEnterprisePermission } from '../../../auth/viewer.ts';
import { notFound } from '../../../common/errors.ts';
import type { Transaction } from '../../../store/store.ts';
import type { Context } from '../../context.ts';
import { inOrderOf } from '../../find-by-ids.ts';
import { parseId } from '../../ids.ts';
import { isStorable } from '../../input.ts';
import { checkListFilter, type ListFilter, listFilterConditions } from '../../list-filter.ts';
import type { NestedList } from '../../nested-pages.ts';
import type { Page, PageLimits, PageRequest } from '../../pages.ts';
import { textKey } from '../../sort-keys.ts';
import { inOrder, type ListOrder, sortedPage } from '../../sorted-pages.ts';
import type { RoleAssignmentRecord } from '../people/role-assignments.ts';
import { type RoleColumns, roleColumns, toRole } from '../people/roles.ts';

/** A group of an identity provider that the enterprise has registered, so that it can have roles. */
export interface IdpGroupRecord {
  readonly id: string;
  /** As the provider sends it, with the prefix of the provider. */
  readonly name: string;
  readonly createdAt: Date;
}

/** Groups with a role in a scope: an organization by its unprefixed id, or any scope. */
export type GroupScope = { readonly organizationId: string } | 'any' | 'registered';

const groupColumns = 'g.id, g.name, g.created_at as "createdAt"';

/**
 * Lists the groups of the enterprise, newest first: all that are registered, or those with a role. Throws FORBIDDEN. An organization
 * has been read by the caller.
 */
export async function listIdpGroups(
  context: Context,
  scope: GroupScope,
  request: PageRequest,
  limits: PageLimits,
): Promise<Page<IdpGroupRecord>> {
  requireEnterprisePermission(context.viewer, permissionFor.viewEnterpriseMembers);
  const values: unknown[] = [context.viewer.enterpriseId];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const where = ['g.enterprise_id = $1', ...(scope === 'registered' ? [] : [hasRole(scope, bind)])];
  const page = sortedPage({ name: `idp_groups ${JSON.stringify(scope)}`, row: 'g' }, request, limits, bind);
  where.push(...page.beyond);
  const rows = await context.store.query<IdpGroupRecord>(
    `select ${groupColumns} from idp_group g where ${where.join(' and ')} ${page.order} limit ${page.limit}`,
    values,
  );
  return page.toPage(rows, (group) => ({ at: group.createdAt, id: group.id }));
}

function hasRole(scope: Exclude<GroupScope, 'registered'>, bind: (value: unknown) => string): string {
  const within =
    scope === 'any'
      ? `(gr.organization_id is null or exists (
           select 1 from organization o where o.id = gr.organization_id and o.deleted_at is null))`
      : `gr.organization_id = ${bind(scope.organizationId)}`;
  return `exists (select 1 from idp_group_role gr where gr.group_id = g.id and ${within})`;
}

/** Returns a group of the enterprise with a role in the scope. Throws FORBIDDEN, NOT_FOUND. */
export async function getIdpGroup(context: Context, name: string, scope: GroupScope): Promise<IdpGroupRecord> {
  requireEnterprisePermission(context.viewer, permissionFor.viewEnterpriseMembers);
  const group = await findIdpGroup(context, name);
  const roles =
    group && scope !== 'registered' ? await rolesOfGroups(context, [group.id], organizationOf(scope)) : null;
  if (group === null || roles?.get(group.id)?.length === 0) throw notFound('IdP group');
  return group;
}

/** Returns the groups of these unprefixed ids, in their order; null for each other id, and without the permission. */
export async function findIdpGroups(
  { viewer, store }: Pick<Context, 'viewer' | 'store'>,
  ids: readonly string[],
): Promise<(IdpGroupRecord | null)[]> {
  if (!viewer.enterprisePermissions.has(permissionFor.viewEnterpriseMembers)) return ids.map(() => null);
  const rows = await store.query<IdpGroupRecord>(
    `select ${groupColumns} from idp_group g where g.id = any($1::text[]) and g.enterprise_id = $2`,
    [ids, viewer.enterpriseId],
  );
  return inOrderOf(ids, rows);
}

/** Returns the name of a group by its id in any form. Throws FORBIDDEN without a permission to change groups, NOT_FOUND. */
export async function nameOfIdpGroup(context: Context, id: string): Promise<string> {
  requireEnterprisePermission(context.viewer, permissionFor.assignRole);
  const [group] = await context.store.query<{ name: string }>(
    'select g.name from idp_group g where g.id = $1 and g.enterprise_id = $2',
    [parseId('idpGroup', id), context.viewer.enterpriseId],
  );
  if (!group) throw notFound('IdP group');
  return group.name;
}

/** Conditions of a list of groups; ids are unprefixed. `search`: in the name. `roleIds`: groups with one of them in any scope. */
export interface IdpGroupFilter extends Omit<ListFilter, 'createdBy'> {
  readonly roleIds?: readonly string[] | undefined;
}

const sortKeys = { name: textKey('IdpGroup', 'name') };

/** An order of a list of groups. */
export type IdpGroupOrder = ListOrder<'createdAt' | keyof typeof sortKeys>;

/** Returns the registered groups of the enterprise as a list that can be ordered and counted. Throws FORBIDDEN, INVALID_INPUT. */
export function idpGroupsOf(
  { viewer }: Context,
  filter: IdpGroupFilter = {},
  order?: IdpGroupOrder | null,
): NestedList<IdpGroupRecord> {
  requireEnterprisePermission(viewer, permissionFor.viewEnterpriseMembers);
  checkListFilter(filter);
  const { roleIds } = filter;
  return {
    ...inOrder('idpGroups', order, sortKeys),
    key: `IdP groups ${JSON.stringify([filter, order])}`,
    ownerId: viewer.enterpriseId,
    row: 'g',
    table: 'idp_group',
    columns: groupColumns,
    owners: () => '',
    where: (bind) => [
      'g.enterprise_id = owner.id',
      ...(roleIds === undefined
        ? []
        : [
            `exists (select 1 from idp_group_role gr where gr.group_id = g.id and gr.role_id = any(${bind(roleIds)}::text[]))`,
          ]),
      ...listFilterConditions('g', filter, ['name'], bind),
    ],
  };
}

/** Returns the organization of a scope; undefined: every scope. */
export const organizationOf = (scope: GroupScope): string | undefined =>
  typeof scope === 'string' ? undefined : scope.organizationId;

/** Returns a registered group of the viewer's enterprise, or null. With a transaction, it is locked until that ends. */
export async function findIdpGroup(context: Context, name: string, tx?: Transaction): Promise<IdpGroupRecord | null> {
  if (!isStorable(name)) return null;
  const lock = tx ? 'for no key update' : '';
  const [group] = await (tx ?? context.store).query<IdpGroupRecord>(
    `select ${groupColumns} from idp_group g where g.enterprise_id = $1 and g.name = $2 ${lock}`,
    [context.viewer.enterpriseId, name],
  );
  return group ?? null;
}

/**
 * Returns the roles of groups by the groups' unprefixed ids, without those in deleted organizations: all, or those in an organization.
 * Those on the enterprise come first, then the oldest.
 */
export async function rolesOfGroups(
  context: Context,
  groupIds: readonly string[],
  organizationId?: string,
  tx?: Transaction,
): Promise<ReadonlyMap<string, readonly RoleAssignmentRecord[]>> {
  const found = new Map<string, RoleAssignmentRecord[]>(groupIds.map((id) => [id, []]));
  const rows = await (tx ?? context.store).query<RoleColumns & { groupId: string; organizationId: string | null }>(
    `select gr.group_id as "groupId", gr.organization_id as "organizationId", ${roleColumns}
       from idp_group_role gr join role r on r.id = gr.role_id left join organization o on o.id = gr.organization_id
      where gr.group_id = any($1::text[]) and gr.enterprise_id = $2 and o.deleted_at is null
        and ($3::text is null or gr.organization_id = $3)
      order by gr.organization_id is not null, gr.created_at, gr.id`,
    [groupIds, context.viewer.enterpriseId, organizationId ?? null],
  );
  for (const row of rows) found.get(row.groupId)?.push({ organizationId: row.organizationId, role: toRole(row) });
  return found;
}
