import type { OrganizationPermission } from '../../auth/permissions.ts';
import { type Owner, ownerOf, requirePermission } from '../../auth/viewer.ts';
import type { Context } from '../context.ts';
import { refuse } from '../errors.ts';
import { findMember } from '../identity/organizations/members.ts';
import { parseId } from '../ids.ts';

/** A wish to act as a user: the id as it came, the argument that it came in, and what it takes. */
export interface AsUser {
  readonly userId: string | null | undefined;
  readonly argument: 'createAsUserId' | 'messageAsUserId' | 'asUserId' | 'runAsUserId';
  readonly permission: OrganizationPermission;
}

/**
 * The viewer itself, or the member of the organization that it acts as. FORBIDDEN without the permission, and to a personal
 * access token, which acts for its own user alone (pinned 1); UNKNOWN_REFERENCE for who is no member.
 */
export async function chooseOwner(context: Context, organizationId: string, asUser: AsUser): Promise<Owner> {
  const owner = ownerOf(context.viewer);
  if (asUser.userId == null) return owner;
  const userId = parseId('user', asUser.userId);
  if (userId !== null && userId === owner.userId) return owner;
  const path = [asUser.argument];
  if (context.viewer.keyKind === 'PERSONAL_ACCESS_TOKEN') {
    throw refuse(path, 'A personal access token can act for its own user only.', 'FORBIDDEN');
  }
  requirePermission(context.viewer, asUser.permission, organizationId);
  const member = userId === null ? null : await findMember(context, organizationId, userId);
  if (!member) throw refuse(path, `"${asUser.argument}" is not a member of this organization.`, 'UNKNOWN_REFERENCE');
  return { userId: member.userId, serviceUserId: null, serviceKeyId: null };
}
