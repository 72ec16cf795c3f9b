import {
  manageOwnSessions,
  type OrganizationPermission,
  organizationPermissions,
  type RolePermission,
} from '../../../auth/permissions.ts';
import { hasPermission, type Viewer } from '../../../auth/viewer.ts';
import { MissingPermissionError, refuse } from '../../../common/errors.ts';
import type { Transaction } from '../../../store/store.ts';
import { columnOf, fieldsOf, type Row } from '../../../store/tables.ts';
import type { Context } from '../../context.ts';
import { parseId } from '../../ids.ts';

const roleFields = fieldsOf('Role', ['enterpriseId']);
type RoleFields = Pick<Row<'Role'>, (typeof roleFields)[number]>;

/** A named set of permissions. Built-in roles have a word as their id and belong to no enterprise. */
export interface RoleRecord extends RoleFields {
  readonly scope: 'enterprise' | 'organization';
  readonly permissions: readonly RolePermission[];
  readonly isBuiltIn: boolean;
}

const prefixed = <F extends string>(field: F) =>
  `role${field.charAt(0).toUpperCase()}${field.slice(1)}` as `role${Capitalize<F>}`;

/**
 * The columns of a `role` aliased `r`, for {@link toRole}: prefixed, so that they can be selected with those of other
 * tables.
 */
export const roleColumns = `${roleFields.map((field) => `${columnOf('Role', 'r', field)} as "${prefixed(field)}"`).join(', ')},
  ${columnOf('Role', 'r', 'enterpriseId')} is null as "roleIsBuiltIn"`;

/** A row with {@link roleColumns}. */
export type RoleColumns = { readonly [F in keyof RoleRecord as `role${Capitalize<F>}`]: RoleRecord[F] };

/** The role in a row with {@link roleColumns}. */
export function toRole(row: RoleColumns): RoleRecord {
  return {
    id: row.roleId,
    name: row.roleName,
    scope: row.roleScope,
    permissions: row.rolePermissions,
    isBuiltIn: row.roleIsBuiltIn,
    version: row.roleVersion,
    createdAt: row.roleCreatedAt,
  };
}

/**
 * Returns the role of an id in any form that this enterprise has: built-in or its own; null if there is none. With a
 * transaction, the role stays as it is until that ends; `for update` also prevents its assignment.
 */
export async function findRole(
  context: Context,
  id: string,
  tx?: Transaction,
  lock: 'for share' | 'for update' = 'for share',
): Promise<RoleRecord | null> {
  const bare = parseId('role', id);
  if (bare === null) return null;
  const [row] = await (tx ?? context.store).query<RoleColumns>(
    `select ${roleColumns} from role r where r.id = $1 and (r.enterprise_id is null or r.enterprise_id = $2)
      ${tx ? lock : ''}`,
    [bare, context.viewer.enterpriseId],
  );
  return row ? toRole(row) : null;
}

/**
 * Returns a role to assign in a scope (organization null: the enterprise), after these checks: it exists, has the
 * scope, and contains only permissions that the viewer has itself, so that no viewer extends its own permissions
 * through a key or a service user. Throws UNKNOWN_REFERENCE, INVALID_INPUT (at `roleId`, or at `path`) or FORBIDDEN.
 * With a transaction, the role stays as it was checked until that ends.
 */
export async function requireAssignableRole(
  context: Context,
  id: string,
  scope: RoleRecord['scope'],
  organizationId: string | null,
  { tx, path: name = 'roleId' }: { readonly tx?: Transaction; readonly path?: string } = {},
): Promise<RoleRecord> {
  const role = await findRole(context, id, tx);
  const path = [name];
  if (!role) throw refuse(path, `"${name}" is not a role of this enterprise.`, 'UNKNOWN_REFERENCE');
  if (role.scope !== scope)
    throw refuse(path, `"${name}" must be a role of ${scope} scope, but "${role.id}" has ${role.scope} scope.`);
  const lacking = findLacking(context.viewer, role.permissions, organizationId);
  if (lacking !== null) {
    throw new MissingPermissionError(lacking, `You cannot give a role with a permission that you lack: ${lacking}.`);
  }
  return role;
}

/**
 * Returns the first of some permissions that the viewer lacks in a scope, or null. An organization permission granted
 * on the enterprise (organization null) applies in every organization, so the viewer must have it everywhere.
 */
export function findLacking(
  viewer: Viewer,
  permissions: readonly RolePermission[],
  organizationId: string | null,
): RolePermission | null {
  return permissions.find((permission) => !hasIn(viewer, permission, organizationId)) ?? null;
}

function hasIn(viewer: Viewer, permission: RolePermission, organizationId: string | null): boolean {
  if (permission === manageOwnSessions) return hasOwnSessions(viewer, organizationId);
  if (!isOrganizationPermission(permission)) return viewer.enterprisePermissions.has(permission);
  return organizationId === null
    ? viewer.everywhere.has(permission)
    : hasPermission(viewer, permission, organizationId);
}

function hasOwnSessions(viewer: Viewer, organizationId: string | null): boolean {
  if (organizationId !== null) return hasPermission(viewer, 'ManageOrgSessions', organizationId, true);
  return viewer.everywhere.has('ManageOrgSessions') || viewer.everywhere.has(manageOwnSessions);
}

/** True for a permission on an organization. */
export function isOrganizationPermission(permission: RolePermission): permission is OrganizationPermission {
  return (organizationPermissions as readonly string[]).includes(permission);
}
