import type { OrganizationPermission } from '../../auth/permissions.ts';
import { type Owner, ownerOf, requirePermission } from '../../auth/viewer.ts';
import { refuse } from '../../common/errors.ts';
import type { Context } from '../context.ts';
import { isMember } from '../identity/organizations/members.ts';
import { parseId } from '../ids.ts';

/** A request to act as a user: the id as received, the name of its argument, and the permission that it needs. */
export interface AsUser {
  readonly userId: string | null | undefined;
  readonly argument: 'createAsUserId' | 'messageAsUserId' | 'asUserId' | 'runAsUserId';
  readonly permission: OrganizationPermission;
}

/**
 * Returns the viewer itself, or the member of the organization as whom it acts. Throws FORBIDDEN without the
 * permission, and for a personal access token, which acts for its own user only; UNKNOWN_REFERENCE for a user who is
 * not a member.
 */
export async function chooseOwner(context: Context, organizationId: string, asUser: AsUser): Promise<Owner> {
  const owner = ownerOf(context.viewer);
  if (asUser.userId == null) return owner;
  const userId = parseId('user', asUser.userId);
  if (userId !== null && userId === owner.userId) return owner;
  const path = [asUser.argument];
  if (context.viewer.keyKind === 'PERSONAL_ACCESS_TOKEN') {
    throw refuse(path, 'A personal access token can only act for its own user.', 'FORBIDDEN');
  }
  requirePermission(context.viewer, asUser.permission, organizationId);
  if (userId === null || !(await isMember(context, organizationId, userId))) {
    throw refuse(path, `"${asUser.argument}" is not a member of this organization.`, 'UNKNOWN_REFERENCE');
  }
  return { userId, serviceUserId: null, serviceKeyId: null };
}
