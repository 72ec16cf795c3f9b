import { requireConfirmation } from '../../../auth/confirmation.ts';
import { rolesOfUser } from '../../../auth/group-roles.ts';
import { permissionFor } from '../../../auth/permissions.ts';
import { requireEnterprisePermission } from '../../../auth/viewer.ts';
import { DomainError, MissingPermissionError, notFound } from '../../../common/errors.ts';
import type { Transaction } from '../../../store/store.ts';
import { type AuditAction, audit } from '../../audit/record-audit.ts';
import type { Context } from '../../context.ts';
import { newId, parseId } from '../../ids.ts';
import { announceKeyChange } from '../keys/key-changes.ts';
import { columnOf, type LockedPrincipal, lockPrincipal, type RoleHolder } from './lock-principal.ts';
import {
  findLacking,
  findRole,
  type RoleColumns,
  type RoleRecord,
  requireAssignableRole,
  roleColumns,
  toRole,
} from './roles.ts';

/** A role in a scope: an organization, or the enterprise if `organizationId` is null. */
export interface RoleAssignmentRecord {
  readonly organizationId: string | null;
  readonly role: RoleRecord;
}

/** Maximum number of assignments that are read of one principal: those on the enterprise first, then the oldest. */
const maxAssignments = 1_000;

/**
 * Returns the role assignments of principals, by the principals' unprefixed ids, without those in deleted
 * organizations. With an organization's unprefixed id, or null for the enterprise, only those in that scope. One
 * statement. For the domain's own lists, without a permission check.
 */
export async function findRoleAssignments(
  context: Context,
  principals: { readonly userIds?: readonly string[]; readonly serviceUserIds?: readonly string[] },
  organizationId?: string | null,
  tx?: Transaction,
): Promise<ReadonlyMap<string, readonly RoleAssignmentRecord[]>> {
  const { userIds = [], serviceUserIds = [] } = principals;
  const found = new Map<string, RoleAssignmentRecord[]>([...userIds, ...serviceUserIds].map((id) => [id, []]));
  if (found.size === 0) return found;
  const scopeCondition = organizationId === undefined ? '' : `and a.organization_id is not distinct from $4`;
  const assignments = (column: string) => `
    select a.id, a.organization_id, a.role_id, a.created_at from role_assignment a
      left join organization o on o.id = a.organization_id
     where a.${column} = p.id and a.enterprise_id = $3 and o.deleted_at is null ${scopeCondition}
     order by a.organization_id is not null, a.created_at, a.id limit ${maxAssignments}`;
  const rows = await (tx ?? context.store).query<RoleColumns & { principalId: string; organizationId: string | null }>(
    `select p.id as "principalId", a.organization_id as "organizationId", ${roleColumns}
       from (select unnest($1::text[]) as id) p cross join lateral (${assignments('user_id')}) a
       join role r on r.id = a.role_id
      union all
     select p.id, a.organization_id, ${roleColumns}
       from (select unnest($2::text[]) as id) p cross join lateral (${assignments('service_user_id')}) a
       join role r on r.id = a.role_id`,
    [userIds, serviceUserIds, context.viewer.enterpriseId, ...(organizationId === undefined ? [] : [organizationId])],
  );
  for (const row of rows) found.get(row.principalId)?.push({ organizationId: row.organizationId, role: toRole(row) });
  return found;
}

/** A role to assign. `organizationId` null: on the enterprise. */
export interface AssignRoleInput {
  readonly principal: RoleHolder;
  readonly organizationId: string | null;
  readonly roleId: string;
  /** Throws NOT_FOUND unless the principal has a role in that scope already. */
  readonly mustExist?: boolean;
}

/**
 * Makes a role the principal's only one in a scope; the same role again changes nothing. The viewer must have every
 * permission of the role, and every permission that the principal has anywhere. Throws FORBIDDEN, NOT_FOUND
 * (organization, principal, or an assignment that must exist), UNKNOWN_REFERENCE or INVALID_INPUT at `roleId`,
 * INVALID_STATE for a service user of another organization. A service user of an organization may have a role there and
 * one on the enterprise.
 */
export async function assignRole(context: Context, input: AssignRoleInput): Promise<void> {
  await context.store.transact((tx) => assignRoleIn(context, tx, input));
}

/** {@link assignRole} as the last part of a larger act. */
export async function assignRoleIn(context: Context, tx: Transaction, input: AssignRoleInput): Promise<void> {
  requireAssigning(context, input.principal);
  requireConfirmation(context);
  const organizationId = await resolveOrganizationId(context, tx, input.organizationId);
  const principal = await lockPrincipal(context, tx, input.principal);
  const before = await findAssignment(tx, principal, organizationId);
  if (input.mustExist && !before) throw notFound('role assignment');
  if (!mayHaveRole(principal, organizationId)) {
    throw new DomainError(
      'INVALID_STATE',
      'A service user of an organization can have a role there and on the enterprise, but in no other organization.',
    );
  }
  const scope = organizationId === null ? 'enterprise' : 'organization';
  const role = await requireAssignableRole(context, input.roleId, scope, organizationId, { tx });
  await requireNotAbove(context, input.principal, tx);
  if (before?.roleId === role.id) return;
  const { id: targetId } = principal;
  const data = { roleId: role.id };
  if (before) await tx.prisma.roleAssignment.update({ where: { id: before.id }, data, select: { id: true } });
  else await insertAssignment(context, tx, { principal, organizationId, roleId: role.id });
  const roles = before ? { role: role.id, roleBefore: before.roleId } : { role: role.id };
  await audit(context, tx, assignAction(principal, organizationId, !before), { organizationId, targetId, data: roles });
  await announceKeyChange(context, tx);
}

/**
 * Removes a principal's role in a scope; for the enterprise `organizationId` is null. The viewer must have every
 * permission that the principal has anywhere. Returns the removed assignment. Throws FORBIDDEN, NOT_FOUND.
 */
export async function unassignRole(
  context: Context,
  input: { readonly principal: RoleHolder; readonly organizationId: string | null },
): Promise<RoleAssignmentRecord> {
  requireAssigning(context, input.principal);
  return context.store.transact(async (tx) => {
    const organizationId = await resolveOrganizationId(context, tx, input.organizationId);
    const principal = await lockPrincipal(context, tx, input.principal);
    const before = await findAssignment(tx, principal, organizationId);
    if (!before) throw notFound('role assignment');
    await requireNotAbove(context, input.principal, tx);
    const role = await findRole(context, before.roleId, tx);
    if (!role) throw new Error(`The assignment ${before.id} is of a role that is not its enterprise's.`);
    await tx.prisma.roleAssignment.delete({ where: { id: before.id }, select: { id: true } });
    const target = { organizationId, targetId: principal.id, data: { role: null, roleBefore: before.roleId } };
    await audit(context, tx, unassignAction(principal, organizationId), target);
    await announceKeyChange(context, tx);
    return { organizationId, role };
  });
}

/**
 * Throws FORBIDDEN with a permission's name if a principal has a permission in a scope where the caller lacks it: a
 * caller can't act on a principal that may do more. The error does not show whether the principal exists.
 */
export async function requireNotAbove(context: Context, holder: RoleHolder, tx?: Transaction): Promise<void> {
  const { column, id } = columnOf(holder);
  // Reads as many rows as the authentication of the principal itself.
  const held =
    column === 'user_id'
      ? rolesOfUser('$1')
      : 'select b.organization_id, b.role_id from role_assignment b where b.service_user_id = $1';
  const rows = await (tx ?? context.store).query<RoleColumns & { organizationId: string | null }>(
    `select a.organization_id as "organizationId", ${roleColumns} from (${held}) a
       join role r on r.id = a.role_id left join organization o on o.id = a.organization_id
      where (r.enterprise_id is null or r.enterprise_id = $2) and o.deleted_at is null
        and exists (select 1 from ${column === 'user_id' ? 'user_account' : 'service_user'} p where p.id = $1 and p.enterprise_id = $2)`,
    [id, context.viewer.enterpriseId],
  );
  for (const { organizationId, rolePermissions } of rows) {
    const lacking = findLacking(context.viewer, rolePermissions, organizationId);
    if (lacking === null) continue;
    const message = `You cannot act on a principal with a permission that you lack: ${lacking}.`;
    throw new MissingPermissionError(lacking, message);
  }
}

/**
 * Throws FORBIDDEN with a permission's name if the user of a PERSONAL key has a permission in an organization outside
 * the key's scope: such a key can't create a key with a wider scope. Organization permissions in an enterprise role
 * apply there too. The key itself carries its user's enterprise permissions.
 */
export function requireOwnReach(context: Context, userId: string, tx?: Transaction): Promise<void> {
  const { viewer } = context;
  return requireNotAbove(
    { ...context, viewer: { ...viewer, everywhere: viewer.enterprisePermissions } },
    { userId },
    tx,
  );
}

function requireAssigning(context: Context, holder: RoleHolder): void {
  const act = 'userId' in holder ? permissionFor.assignRole : permissionFor.assignServiceUserRole;
  requireEnterprisePermission(context.viewer, act);
}

async function resolveOrganizationId(context: Context, tx: Transaction, id: string | null): Promise<string | null> {
  if (id === null) return null;
  const bare = parseId('organization', id);
  const where = { id: bare ?? '', enterpriseId: context.viewer.enterpriseId, deletedAt: null };
  const organization = bare && (await tx.prisma.organization.findFirst({ where, select: { id: true } }));
  if (!organization) throw notFound('organization');
  return organization.id;
}

function mayHaveRole(principal: LockedPrincipal, organizationId: string | null): boolean {
  const { homeOrganizationId } = principal;
  return homeOrganizationId === null || organizationId === null || homeOrganizationId === organizationId;
}

async function findAssignment(
  tx: Transaction,
  { column, id }: LockedPrincipal,
  organizationId: string | null,
): Promise<{ id: string; roleId: string } | null> {
  const where = { [fieldOf(column)]: id, organizationId };
  return tx.prisma.roleAssignment.findFirst({ where, select: { id: true, roleId: true } });
}

async function insertAssignment(
  context: Context,
  tx: Transaction,
  input: { principal: LockedPrincipal; organizationId: string | null; roleId: string },
): Promise<void> {
  const { principal, organizationId, roleId } = input;
  const { enterpriseId } = context.viewer;
  const holder = { [fieldOf(principal.column)]: principal.id };
  const data = { id: newId(), enterpriseId, organizationId, roleId, createdAt: context.now(), ...holder };
  await tx.prisma.roleAssignment.create({ data, select: { id: true } });
}

const fieldOf = (column: LockedPrincipal['column']) => (column === 'user_id' ? 'userId' : 'serviceUserId');

function assignAction({ column }: LockedPrincipal, organizationId: string | null, isFirst: boolean): AuditAction {
  if (column === 'service_user_id') return 'assign_service_user_role';
  if (!isFirst) return 'assign_roles';
  return organizationId === null ? 'add_members_to_enterprise' : 'add_members_to_org';
}

function unassignAction({ column }: LockedPrincipal, organizationId: string | null): AuditAction {
  if (column === 'service_user_id') return 'remove_service_user_role';
  return organizationId === null ? 'assign_roles' : 'remove_members_from_org';
}
