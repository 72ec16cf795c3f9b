import { type EnterprisePermission, type OrganizationPermission, permissionFor } from '../../../auth/permissions.ts';
import { requireEnterprisePermission, type Viewer } from '../../../auth/viewer.ts';
import type { Context } from '../../context.ts';

// Organization permissions that an enterprise permission grants in every organization, on the enterprise's own paths.
const grantedPermissions = {
  view: { enterprise: permissionFor.viewEnterpriseSessions, organization: permissionFor.viewSession },
  manage: { enterprise: permissionFor.manageEnterpriseSessions, organization: permissionFor.changeSession },
} as const satisfies Record<string, { enterprise: EnterprisePermission; organization: OrganizationPermission }>;

/**
 * Creates the context of an act on a session through the enterprise. A viewer with ViewAccountSessions (or
 * ManageAccountSessions) has ViewOrgSessions (or ManageOrgSessions) in every organization. Throws FORBIDDEN without the
 * enterprise permission.
 */
export function throughEnterprise(context: Context, act: keyof typeof grantedPermissions): Context {
  requireEnterprisePermission(context.viewer, grantedPermissions[act].enterprise);
  return withViewer(context, () => widened(context.viewer, act));
}

/**
 * Creates the context for reading sessions, or acting on them, if no path names an organization or the enterprise. The
 * viewer's permissions in the organizations and on the enterprise both count. Use it only for sessions and their
 * contents: within an organization, the organization permission grants more than that.
 */
export function ofAnySession(context: Context, act: keyof typeof grantedPermissions): Context {
  return withViewer(context, () => widened(context.viewer, act));
}

/** Returns the current viewer of {@link ofAnySession}. */
export function viewerOfAnySession(context: Context, act: keyof typeof grantedPermissions): Viewer {
  return widened(context.viewer, act);
}

// Viewers are immutable: a change creates a new viewer, and therefore a new wider one.
const cachedViewers = { view: new WeakMap<Viewer, Viewer>(), manage: new WeakMap<Viewer, Viewer>() } as const;

function widened(viewer: Viewer, act: keyof typeof grantedPermissions): Viewer {
  const { enterprise, organization } = grantedPermissions[act];
  if (!viewer.enterprisePermissions.has(enterprise) || viewer.everywhere.has(organization)) return viewer;
  const before = cachedViewers[act].get(viewer);
  if (before) return before;
  const wide = { ...viewer, everywhere: new Set([...viewer.everywhere, organization]) };
  cachedViewers[act].set(viewer, wide);
  return wide;
}

/** Creates a context that calls `viewer` on each access. */
export function withViewer(context: Context, viewer: () => Viewer): Context {
  return {
    ...context,
    get viewer() {
      return viewer();
    },
  };
}
