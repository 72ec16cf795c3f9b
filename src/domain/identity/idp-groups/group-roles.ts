import { requireConfirmation } from '../../../auth/confirmation.ts';
import { permissionFor } from '../../../auth/permissions.ts';
import { requireEnterprisePermission } from '../../../auth/viewer.ts';
import { DomainError, MissingPermissionError, notFound } from '../../../common/errors.ts';
import { audit } from '../../audit/record-audit.ts';
import type { Context } from '../../context.ts';
import { newId } from '../../ids.ts';
import { announceKeyChange } from '../keys/key-changes.ts';
import type { RoleAssignmentRecord } from '../people/role-assignments.ts';
import { findLacking, requireAssignableRole } from '../people/roles.ts';
import { findIdpGroup, type IdpGroupRecord, rolesOfGroups } from './idp-groups.ts';

/** A role to assign to a group. `organizationId`: unprefixed, of an organization that the caller has read; null: on the enterprise. */
export interface AssignGroupRoleInput {
  readonly name: string;
  readonly organizationId: string | null;
  readonly roleId: string;
  /** Throws NOT_FOUND unless the group has a role in that scope already. */
  readonly mustExist?: boolean;
}

/** A group with roles. */
export interface GroupWithRoles {
  readonly group: IdpGroupRecord;
  readonly roleAssignments: readonly RoleAssignmentRecord[];
}

/** Throws FORBIDDEN with a permission's name if the viewer lacks a permission of one of the roles. */
export function requireRolesGranted({ viewer }: Context, assignments: readonly RoleAssignmentRecord[]): void {
  for (const { role, organizationId } of assignments) {
    const lacking = findLacking(viewer, role.permissions, organizationId);
    if (lacking === null) continue;
    throw new MissingPermissionError(lacking, `You cannot act on a group with a permission that you lack: ${lacking}.`);
  }
}

/**
 * Makes a role the group's only one in a scope, with effect on the next request of every member. A role in an organization needs one on
 * the enterprise first. The viewer must have every permission of the role, and every one that the group has anywhere. Returns the group
 * with all its roles. Throws FORBIDDEN, CONFIRMATION_REQUIRED, NOT_FOUND, UNKNOWN_REFERENCE or INVALID_INPUT at `roleId`, INVALID_STATE.
 */
export async function assignGroupRole(context: Context, input: AssignGroupRoleInput): Promise<GroupWithRoles> {
  requireEnterprisePermission(context.viewer, permissionFor.assignRole);
  requireConfirmation(context);
  const { name, organizationId } = input;
  const { enterpriseId } = context.viewer;
  return context.store.transact(async (tx) => {
    const group = await findIdpGroup(context, name, tx);
    if (group === null) throw notFound('IdP group');
    const existing = (await rolesOfGroups(context, [group.id], undefined, tx)).get(group.id) ?? [];
    const before = existing.find((each) => each.organizationId === organizationId);
    if (input.mustExist && before === undefined) throw notFound('IdP group');
    if (organizationId !== null && !existing.some((each) => each.organizationId === null)) {
      throw new DomainError('INVALID_STATE', 'Give the group a role on the enterprise first.');
    }
    const scope = organizationId === null ? 'enterprise' : 'organization';
    const role = await requireAssignableRole(context, input.roleId, scope, organizationId, { tx });
    requireRolesGranted(context, existing);
    if (before?.role.id !== role.id) {
      await tx.query(
        `insert into idp_group_role (id, enterprise_id, group_id, organization_id, role_id, created_at)
         values ($1, $2, $3, $4, $5, $6::timestamptz)
         on conflict (group_id, coalesce(organization_id, '')) do update set role_id = excluded.role_id`,
        [newId(), enterpriseId, group.id, organizationId, role.id, context.now()],
      );
      const action = before === undefined ? 'add_group_membership' : 'update_group_membership';
      const data = { name: group.name, role: role.id, ...(before && { roleBefore: before.role.id }) };
      await audit(context, tx, action, { organizationId, data });
      await announceKeyChange(context, tx);
    }
    const roles = await rolesOfGroups(context, [group.id], undefined, tx);
    return { group, roleAssignments: roles.get(group.id) ?? [] };
  });
}

/**
 * Removes the role of a group in an organization or, without one, all its roles, with effect on the next request of every member. The
 * group stays registered. Returns it with the removed roles. Throws FORBIDDEN, NOT_FOUND.
 */
export async function unassignGroupRoles(
  context: Context,
  { name, organizationId }: { readonly name: string; readonly organizationId: string | null },
): Promise<GroupWithRoles> {
  requireEnterprisePermission(context.viewer, permissionFor.assignRole);
  return context.store.transact(async (tx) => {
    const group = await findIdpGroup(context, name, tx);
    if (group === null) throw notFound('IdP group');
    const existing = (await rolesOfGroups(context, [group.id], undefined, tx)).get(group.id) ?? [];
    const removed = existing.filter((each) => organizationId === null || each.organizationId === organizationId);
    if (removed.length === 0) throw notFound('IdP group');
    requireRolesGranted(context, existing);
    await tx.query('delete from idp_group_role where group_id = $1 and ($2::text is null or organization_id = $2)', [
      group.id,
      organizationId,
    ]);
    for (const { organizationId: removedFrom, role } of removed) {
      const data = { name: group.name, role: null, roleBefore: role.id };
      await audit(context, tx, 'delete_group_membership', { organizationId: removedFrom, data });
    }
    await announceKeyChange(context, tx);
    return { group, roleAssignments: removed };
  });
}
