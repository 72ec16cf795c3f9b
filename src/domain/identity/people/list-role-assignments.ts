import { permissionFor } from '../../../auth/permissions.ts';
import { organizationsWith } from '../../../auth/viewer.ts';
import type { Context } from '../../context.ts';
import { oneOfConditions } from '../../list-filter.ts';
import type { Bind, NestedList } from '../../nested-pages.ts';
import { inOrder, type ListOrder } from '../../sorted-pages.ts';
import { inLivingOrganization } from '../organizations/scope.ts';
import type { RoleAssignmentRecord } from './role-assignments.ts';
import { type RoleColumns, roleColumns, toRole } from './roles.ts';

/** A role assignment in a list, with its sort key. */
export type ListedRoleAssignment = RoleAssignmentRecord & { readonly id: string; readonly createdAt: Date };

// The permissions to see the roles of others: in an organization, and everywhere.
const holders = {
  user: {
    table: 'role_assignment',
    column: 'user_id',
    ofOrganization: permissionFor.viewMembers,
    ofEnterprise: permissionFor.viewEnterpriseMembers,
  },
  serviceUser: {
    table: 'role_assignment',
    column: 'service_user_id',
    ofOrganization: permissionFor.viewServiceUsers,
    ofEnterprise: permissionFor.viewEnterpriseServiceUsers,
  },
  idpGroup: {
    table: 'idp_group_role',
    column: 'group_id',
    ofOrganization: permissionFor.viewMembers,
    ofEnterprise: permissionFor.viewEnterpriseMembers,
  },
} as const;

/** The kind of principal, or of group, whose roles a list has. */
export type RoleHolderKind = keyof typeof holders;

/**
 * Conditions of a list of role assignments; ids are unprefixed. `organizationIds`: in one of these, and not on the
 * enterprise.
 */
export interface RoleAssignmentFilter {
  readonly organizationIds?: readonly string[] | undefined;
  readonly roleIds?: readonly string[] | undefined;
}

type Row = RoleColumns & Omit<ListedRoleAssignment, 'role'>;

/**
 * Returns the role assignments of a user, service user or group, by its unprefixed id, as a nested list. The viewer sees its
 * own, those in organizations whose members, or service users, it may see, and all if it may see the enterprise's.
 */
export function roleAssignmentsOf(
  { viewer }: Context,
  kind: RoleHolderKind,
  holderId: string,
  filter: RoleAssignmentFilter = {},
  order?: ListOrder<'createdAt'> | null,
): NestedList<ListedRoleAssignment> {
  const { table, column, ofOrganization, ofEnterprise } = holders[kind];
  const { all, ids } = organizationsWith(viewer, ofOrganization);
  const seesEnterprise = viewer.enterprisePermissions.has(ofEnterprise);
  const isVisible = (bind: Bind) =>
    `(${bind(seesEnterprise)}::boolean or owner.id = ${bind(viewer.principal.id)}
      or (a.organization_id is not null and ${bind(all)}::boolean) or a.organization_id = any(${bind(ids)}::text[]))`;
  return {
    ...inOrder('role_assignments', order, {}),
    key: `role assignments ${JSON.stringify([kind, filter, order])}`,
    ownerId: holderId,
    row: 'a',
    table,
    columns: `a.id, a.organization_id as "organizationId", a.created_at as "createdAt", ${roleColumns}`,
    joins: 'join role r on r.id = a.role_id',
    toItem: (row: Row): ListedRoleAssignment => {
      const { id, organizationId, createdAt } = row;
      return { id, organizationId, createdAt, role: toRole(row) };
    },
    owners: () => '',
    where: (bind) => [
      `a.${column} = owner.id`,
      `a.enterprise_id = ${bind(viewer.enterpriseId)}`,
      inLivingOrganization('a'),
      isVisible(bind),
      ...oneOfConditions('a.organization_id', filter.organizationIds, bind),
      ...oneOfConditions('a.role_id', filter.roleIds, bind),
    ],
  };
}
