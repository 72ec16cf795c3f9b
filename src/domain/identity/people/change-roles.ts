import { z } from 'zod';
import { requireConfirmation } from '../../../auth/confirmation.ts';
import {
  builtInRoles,
  enterprisePermissions,
  organizationPermissions,
  permissionFor,
} from '../../../auth/permissions.ts';
import { requireEnterprisePermission } from '../../../auth/viewer.ts';
import { DomainError, MissingPermissionError, notFound, refuse } from '../../../common/errors.ts';
import type { Transaction } from '../../../store/store.ts';
import { audit } from '../../audit/record-audit.ts';
import type { Context } from '../../context.ts';
import { type CreateOptions, findReplay } from '../../idempotency.ts';
import { newId } from '../../ids.ts';
import { parseInput, text } from '../../input.ts';
import { requireVersion, type VersionCondition } from '../../versions.ts';
import { announceKeyChange } from '../keys/key-changes.ts';
import { findLacking, findRole, isOrganizationPermission, type RoleRecord } from './roles.ts';

const allPermissions = [...enterprisePermissions, ...organizationPermissions] as const;

const nameSchema = text('name', { min: 1, max: 100, isBlankRefused: true });
// Without duplicates, in the order of the tables, so that equal sets are equal lists.
const permissionsSchema = z
  .array(z.enum(allPermissions, { error: '"permissions" must be names of permissions.' }))
  .min(1, '"permissions" must not be empty.')
  .transform((names) => allPermissions.filter((permission) => names.includes(permission)));

/** The values of a new role in inputs. */
export const roleSchema = z.object({
  name: nameSchema,
  scope: z.enum(['enterprise', 'organization'], { error: '"scope" must be "enterprise" or "organization".' }),
  permissions: permissionsSchema,
});

/** The input of a custom role. `permissions`: in any order; duplicates are removed. */
export interface CreateRoleInput {
  readonly name: string;
  readonly scope: RoleRecord['scope'];
  readonly permissions: readonly string[];
}

/**
 * Creates a role of the enterprise. A role of organization scope has organization permissions only; one of enterprise
 * scope any, and organization permissions in it apply in every organization. The viewer must have all of them,
 * everywhere. Throws FORBIDDEN, INVALID_INPUT, NOT_UNIQUE at `name`; IDEMPOTENCY_CONFLICT, and NOT_FOUND if the role
 * that the idempotency key created is gone.
 */
export async function createRole(
  context: Context,
  raw: CreateRoleInput,
  options: CreateOptions = {},
): Promise<RoleRecord> {
  requireEnterprisePermission(context.viewer, permissionFor.changeRoles);
  const input = parseInput(roleSchema, raw);
  requireInScope(input.scope, input.permissions);
  requireGranted(context, input.permissions);
  const role: RoleRecord = { id: newId(), ...input, isBuiltIn: false, version: 1, createdAt: context.now() };
  return context.store.transact(async (tx) => {
    const claim = { scope: context.viewer.enterpriseId, operation: 'createRole', input, resultId: role.id };
    const replay = await findReplay(context, tx, options, claim);
    if (replay !== null) return lockCustomRole(context, tx, replay);
    await requireFreeName(context, tx, role);
    const { id, name, scope, permissions, createdAt } = role;
    const { enterpriseId } = context.viewer;
    const row = { id, enterpriseId, name, scope, permissions: [...permissions], createdAt };
    await tx.prisma.role.create({ data: row, select: { id: true } });
    const data = { name: role.name, permissions: role.permissions.join(' ') };
    await audit(context, tx, 'create_role', { organizationId: null, targetId: role.id, data });
    return role;
  });
}

const changeSchema = z.object({ name: nameSchema.optional(), permissions: permissionsSchema.optional() });

/** The changes of a role: an omitted (or undefined) member does not change, and no member can be cleared. */
export interface RoleChange {
  readonly name?: string | null | undefined;
  readonly permissions?: readonly string[] | null | undefined;
}

/**
 * Changes a custom role, with effect on the next request of every principal that has it. The viewer must have,
 * everywhere, the role's permissions before and after the change. Throws FORBIDDEN, NOT_FOUND, INVALID_INPUT,
 * NOT_UNIQUE at `name`, INVALID_STATE for a built-in role.
 */
export async function updateRole(
  context: Context,
  id: string,
  raw: RoleChange & VersionCondition,
): Promise<RoleRecord> {
  requireEnterprisePermission(context.viewer, permissionFor.changeRoles);
  for (const name of ['name', 'permissions'] as const) {
    if (raw[name] === null) throw refuse([name], `"${name}" must not be null: a role always has it.`);
  }
  const change = parseInput(changeSchema, raw);
  return context.store.transact(async (tx) => {
    const before = await lockCustomRole(context, tx, id);
    requireVersion(before, raw);
    const { name = before.name, permissions = before.permissions } = change;
    const role: RoleRecord = { ...before, name, permissions, version: before.version + 1 };
    requireInScope(role.scope, role.permissions);
    requireGranted(context, role.permissions);
    const data = dataOfChange(before, role);
    if (Object.keys(data).length === 0) return before;
    if (isGrowing(before, role)) requireConfirmation(context);
    if (role.name !== before.name) await requireFreeName(context, tx, role);
    const row = { name, permissions: [...permissions], version: role.version };
    await tx.prisma.role.update({ where: { id: role.id }, data: row, select: { id: true } });
    await audit(context, tx, 'update_role', { organizationId: null, targetId: role.id, data });
    await announceKeyChange(context, tx);
    return role;
  });
}

/**
 * Deletes a custom role that is not assigned to a user, a service user or an active service key. Returns its unprefixed
 * id. Throws FORBIDDEN, NOT_FOUND, INVALID_STATE.
 */
export async function deleteRole(context: Context, id: string, condition?: VersionCondition): Promise<string> {
  requireEnterprisePermission(context.viewer, permissionFor.changeRoles);
  return context.store.transact(async (tx) => {
    const role = await lockCustomRole(context, tx, id);
    requireVersion(role, condition);
    // Assignments in a deleted organization must not prevent the deletion.
    await tx.query(
      `delete from role_assignment a using organization o
        where a.role_id = $1 and o.id = a.organization_id and o.deleted_at is not null`,
      [role.id],
    );
    await tx.query(
      `delete from idp_group_role g using organization o
        where g.role_id = $1 and o.id = g.organization_id and o.deleted_at is not null`,
      [role.id],
    );
    const [use] = await tx.query<{ isAssigned: boolean; isCarried: boolean }>(
      `select exists (select 1 from role_assignment where role_id = $1 union all select 1 from idp_group_role where role_id = $1)
                as "isAssigned",
              exists (select 1 from api_key k left join organization o on o.id = k.organization_id
                       where k.enterprise_id = $2 and k.role_id = $1 and k.revoked_at is null
                         and (k.expires_at is null or k.expires_at > $3::timestamptz) and o.deleted_at is null) as "isCarried"`,
      [role.id, context.viewer.enterpriseId, context.now()],
    );
    if (use?.isAssigned) throw new DomainError('INVALID_STATE', 'The role is still assigned: take it away first.');
    if (use?.isCarried) throw new DomainError('INVALID_STATE', 'A service key still has the role: revoke it first.');
    await tx.prisma.role.delete({ where: { id: role.id }, select: { id: true } });
    await audit(context, tx, 'delete_role', { organizationId: null, targetId: role.id, data: { name: role.name } });
    await announceKeyChange(context, tx);
    return role.id;
  });
}

function requireInScope(scope: RoleRecord['scope'], permissions: RoleRecord['permissions']): void {
  const stranger = scope === 'enterprise' ? undefined : permissions.find((each) => !isOrganizationPermission(each));
  if (stranger === undefined) return;
  const message = `"permissions" of a role of organization scope must be an organization's, but ${stranger} is one on the enterprise.`;
  throw refuse(['permissions'], message);
}

// The role may be assigned in any organization, so the permissions are needed everywhere.
function requireGranted(context: Context, permissions: RoleRecord['permissions']): void {
  const lacking = findLacking(context.viewer, permissions, null);
  if (lacking === null) return;
  throw new MissingPermissionError(lacking, `You cannot act on a role with a permission that you lack: ${lacking}.`);
}

async function lockCustomRole(context: Context, tx: Transaction, id: string): Promise<RoleRecord> {
  const role = await findRole(context, id, tx, 'for update');
  if (!role) throw notFound('role');
  if (role.isBuiltIn)
    throw new DomainError('INVALID_STATE', `The built-in role "${role.id}" cannot be changed or deleted.`);
  requireGranted(context, role.permissions);
  return role;
}

async function requireFreeName(context: Context, tx: Transaction, role: RoleRecord): Promise<void> {
  // Of two concurrent requests for a name, the second waits here and then finds the name taken.
  const { enterpriseId } = context.viewer;
  await tx.query('select 1 from enterprise where id = $1 for no key update', [enterpriseId]);
  const [other] = await tx.query(
    'select 1 from role where enterprise_id = $1 and scope = $2 and lower(name) = lower($3) and id <> $4',
    [enterpriseId, role.scope, role.name, role.id],
  );
  const isBuiltIn = builtInRoles.some(
    ({ name, scope }) => scope === role.scope && name.toLowerCase() === role.name.toLowerCase(),
  );
  if (!other && !isBuiltIn) return;
  throw refuse(['name'], `"name" is already that of a role of ${role.scope} scope.`, 'NOT_UNIQUE');
}

const isGrowing = (before: RoleRecord, after: RoleRecord) =>
  after.permissions.some((permission) => !before.permissions.includes(permission));

function dataOfChange(before: RoleRecord, after: RoleRecord): Record<string, string> {
  const listed = ({ permissions }: RoleRecord) => permissions.join(' ');
  return {
    ...(after.name === before.name ? {} : { name: after.name, nameBefore: before.name }),
    ...(listed(after) === listed(before) ? {} : { permissions: listed(after), permissionsBefore: listed(before) }),
  };
}
