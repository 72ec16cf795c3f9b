import { z } from 'zod';
import { permissionFor } from '../../../auth/permissions.ts';
import { requireEnterprisePermission } from '../../../auth/viewer.ts';
import { audit } from '../../audit/record-audit.ts';
import type { Context } from '../../context.ts';
import { parseId } from '../../ids.ts';
import { parseInput } from '../../input.ts';
import { eraseProviderKeys } from '../keys/erase-provider-keys.ts';
import { announceKeyChange } from '../keys/key-changes.ts';
import type { UserRecord } from './find-people.ts';
import { lockPrincipal } from './lock-principal.ts';
import { findRoleAssignments, type RoleAssignmentRecord, requireNotAbove } from './role-assignments.ts';
import { nameSchema } from './users.ts';

/** Changes of a user in inputs. */
export const userChangeSchema = z.object({ name: nameSchema });

/** The changes of a user: an omitted member does not change, null clears the name. */
export type UserChange = z.input<typeof userChangeSchema>;

/**
 * Changes a user's name: the viewer's own, or with ManageAccountMembership that of a user with no more permissions than
 * the viewer. Throws FORBIDDEN, NOT_FOUND.
 */
export async function updateUser(context: Context, id: string, raw: UserChange): Promise<UserRecord> {
  const { viewer } = context;
  const isOwn = viewer.principal.type === 'USER' && parseId('user', id) === viewer.principal.id;
  if (!isOwn) requireEnterprisePermission(viewer, permissionFor.updateUser);
  const change = parseInput(userChangeSchema, raw);
  return context.store.transact(async (tx) => {
    const { id: userId } = await lockPrincipal(context, tx, { userId: id });
    if (!isOwn) await requireNotAbove(context, { userId: id }, tx);
    const where = { id: userId };
    const before = await tx.prisma.user.findUniqueOrThrow({ where });
    const name = change.name === undefined ? before.name : change.name || null;
    if (name === before.name) return before;
    const user = await tx.prisma.user.update({ where, data: { name } });
    await audit(context, tx, 'update_member', { organizationId: null, targetId: userId });
    await announceKeyChange(context, tx);
    return user;
  });
}

/**
 * Deletes a user, possibly the viewer itself: its roles and keys are deleted at once, and its streams end. The values of
 * its provider keys are erased. The objects that it created stay, with its name. Returns the deleted user and its roles. `check`: throws
 * unless the user may be deleted. Throws FORBIDDEN, also if the user has permissions that the caller lacks; NOT_FOUND.
 */
export async function deleteUser(
  context: Context,
  id: string,
  check?: (user: UserRecord) => void,
): Promise<{ readonly user: UserRecord; readonly roleAssignments: readonly RoleAssignmentRecord[] }> {
  requireEnterprisePermission(context.viewer, permissionFor.deleteUser);
  return context.store.transact(async (tx) => {
    const { id: userId } = await lockPrincipal(context, tx, { userId: id });
    await requireNotAbove(context, { userId: id }, tx);
    check?.(await tx.prisma.user.findUniqueOrThrow({ where: { id: userId } }));
    const assignments = await findRoleAssignments(context, { userIds: [userId] }, undefined, tx);
    const now = context.now();
    await tx.prisma.roleAssignment.deleteMany({ where: { userId } });
    await tx.prisma.apiKey.updateMany({ where: { userId, revokedAt: null }, data: { revokedAt: now } });
    await tx.prisma.signInLink.deleteMany({ where: { forUserId: userId } });
    await tx.prisma.idpGroupMember.deleteMany({ where: { userId } });
    await eraseProviderKeys(context, tx, { ownerUserId: userId });
    const user = await tx.prisma.user.update({ where: { id: userId }, data: { deletedAt: now } });
    await audit(context, tx, 'delete_member', { organizationId: null, targetId: userId, data: { email: user.email } });
    await announceKeyChange(context, tx);
    return { user, roleAssignments: assignments.get(userId) ?? [] };
  });
}
