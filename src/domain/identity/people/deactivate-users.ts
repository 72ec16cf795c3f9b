import { requireConfirmation } from '../../../auth/confirmation.ts';
import { permissionFor } from '../../../auth/permissions.ts';
import { ownerOf, requireEnterprisePermission } from '../../../auth/viewer.ts';
import { refuse } from '../../../common/errors.ts';
import type { Transaction } from '../../../store/store.ts';
import { audit } from '../../audit/record-audit.ts';
import type { Context } from '../../context.ts';
import { announceKeyChange } from '../keys/key-changes.ts';
import type { UserRecord } from './find-people.ts';
import { lockPrincipal } from './lock-principal.ts';
import { requireNotAbove } from './role-assignments.ts';

/**
 * Ends all access of a user at once, and keeps its roles, keys and objects for its return. A deactivated user stays as it is. Throws
 * FORBIDDEN, also if the user has permissions that the caller lacks; INVALID_INPUT for the viewer itself; NOT_FOUND.
 */
export async function deactivateUser(context: Context, id: string): Promise<UserRecord> {
  requireEnterprisePermission(context.viewer, permissionFor.deactivateUser);
  return context.store.transact((tx) => changeActivity(context, tx, id, false));
}

/**
 * Gives a deactivated user its access back: its roles and keys count again, and it may sign in. An active user stays as it is. Throws
 * FORBIDDEN, also if the user has permissions that the caller lacks; CONFIRMATION_REQUIRED; NOT_FOUND.
 */
export async function reactivateUser(context: Context, id: string): Promise<UserRecord> {
  requireEnterprisePermission(context.viewer, permissionFor.deactivateUser);
  requireConfirmation(context);
  return context.store.transact((tx) => changeActivity(context, tx, id, true));
}

/** {@link deactivateUser} or {@link reactivateUser} as a part of a larger act, which has checked the permission and the confirmation. */
export async function changeActivity(
  context: Context,
  tx: Transaction,
  id: string,
  isActive: boolean,
): Promise<UserRecord> {
  const { id: userId } = await lockPrincipal(context, tx, { userId: id });
  await requireNotAbove(context, { userId }, tx);
  const where = { id: userId };
  const before = await tx.prisma.user.findUniqueOrThrow({ where });
  if ((before.deactivatedAt === null) === isActive) return before;
  if (userId === ownerOf(context.viewer).userId) {
    throw refuse(['userId'], 'You cannot deactivate yourself. Ask another administrator.');
  }
  const user = await tx.prisma.user.update({ where, data: { deactivatedAt: isActive ? null : context.now() } });
  await endSignIns(tx, userId);
  const action = isActive ? 'reactivate_member' : 'deactivate_member';
  await audit(context, tx, action, { organizationId: null, targetId: userId });
  await announceKeyChange(context, tx);
  return user;
}

// Also at the reactivation: a sign-in may have been completed while the user was being deactivated.
async function endSignIns(tx: Transaction, userId: string): Promise<void> {
  await tx.prisma.signInLink.deleteMany({ where: { forUserId: userId } });
  await tx.query(
    `delete from console_session c
      where c.user_id = $1 or c.api_key_id in (select k.id from api_key k where k.user_id = $1)`,
    [userId],
  );
}
