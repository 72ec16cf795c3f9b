import type { RolePermission } from '../../auth/permissions.ts';
import { holds } from '../../auth/viewer.ts';
import type { Context } from '../context.ts';
import { DomainError, refuse } from '../errors.ts';
import { parseId } from '../ids.ts';
import type { RoleRecord } from '../organizations/members.ts';

type FullRole = RoleRecord & { readonly permissions: readonly RolePermission[] };

/** The role of an id that this enterprise knows: built in or its own; null when there is none. */
export async function findRole(context: Context, id: string): Promise<FullRole | null> {
  const bare = parseId('role', id);
  if (bare === null) return null;
  const rows = await context.store.query<FullRole>(
    'select id, name, scope, permissions from role where id = $1 and (enterprise_id is null or enterprise_id = $2)',
    [bare, context.viewer.enterpriseId],
  );
  return rows[0] ?? null;
}

/**
 * The role to be given, checked: it exists, has the scope, and gives nothing that the giver does not hold itself, so that
 * nobody raises itself through a key or a service user. UNKNOWN_REFERENCE, INVALID_INPUT or FORBIDDEN at `roleId`.
 */
export async function requireAssignableRole(
  context: Context,
  id: string,
  scope: RoleRecord['scope'],
  organizationId: string | null,
): Promise<RoleRecord> {
  const role = await findRole(context, id);
  const path = ['roleId'];
  if (!role) throw refuse(path, '"roleId" is not a role of this enterprise.', 'UNKNOWN_REFERENCE');
  if (role.scope !== scope)
    throw refuse(path, `"roleId" must be a role of ${scope} scope, but "${role.id}" has ${role.scope} scope.`);
  const { viewer } = context;
  const lacking = role.permissions.find((permission) =>
    organizationId === null
      ? !viewer.enterprisePermissions.has(permission)
      : permission !== 'ManageOwnSessions' && !holds(viewer, permission as Parameters<typeof holds>[1], organizationId),
  );
  if (lacking !== undefined) {
    throw new DomainError('FORBIDDEN', `You cannot give a role with a permission that you lack: ${lacking}.`);
  }
  return role;
}
