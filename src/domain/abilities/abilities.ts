import { type OrganizationPermission, type Permission, permissionFor } from '../../auth/permissions.ts';
import { hasPermission } from '../../auth/viewer.ts';
import type { Context } from '../context.ts';
import { viewerOfAnySession } from '../identity/organizations/enterprise-scope.ts';
import { findMissingScopePermission, type ScopePermissions } from '../identity/organizations/scope.ts';
import { isOwn } from '../sessions/find-session.ts';
import type { SessionRecord } from '../sessions/session.ts';
import { mayChangeSnapshot } from '../snapshots/change-snapshots.ts';
import type { SnapshotRecord } from '../snapshots/snapshots.ts';

/**
 * Returns the permission that the viewer lacks to change and delete an object that it can read; null: it has the permission. The acts
 * check the same permission. The state of the object may still prevent an act.
 */
export type FindMissing<T> = (context: Context, resource: T) => Permission | null;

type OrganizationAct = {
  [K in keyof typeof permissionFor]: (typeof permissionFor)[K] extends OrganizationPermission ? K : never;
}[keyof typeof permissionFor];

/** {@link FindMissing} for objects of an organization that need the permissions of these acts there. */
export const missingInOrganization =
  (...acts: readonly OrganizationAct[]): FindMissing<{ readonly organizationId: string }> =>
  ({ viewer }, { organizationId }) => {
    const needed = acts.map((act): OrganizationPermission => permissionFor[act]);
    return needed.find((permission) => !hasPermission(viewer, permission, organizationId)) ?? null;
  };

/** {@link FindMissing} for objects of an organization or of the enterprise. */
export const missingInScope =
  (permissions: ScopePermissions): FindMissing<{ readonly organizationId: string | null }> =>
  ({ viewer }, { organizationId }) =>
    findMissingScopePermission(viewer, organizationId, permissions);

/** {@link FindMissing} for sessions, which their creators may manage with a permission of its own. */
export const missingForSession: FindMissing<Pick<SessionRecord, 'organizationId' | 'userId' | 'serviceUserId'>> = (
  context,
  session,
) => {
  const { changeSession } = permissionFor;
  const viewer = viewerOfAnySession(context, 'manage');
  return hasPermission(viewer, changeSession, session.organizationId, isOwn(context, session)) ? null : changeSession;
};

/** {@link FindMissing} for snapshots, which their creators may manage with a permission of its own. */
export const missingForSnapshot: FindMissing<SnapshotRecord> = (context, snapshot) =>
  mayChangeSnapshot(context, snapshot) ? null : permissionFor.changeSession;
