import { type EnterprisePermission, type OrganizationPermission, permissionFor } from '../../auth/permissions.ts';
import { requireEnterprisePermission, type Viewer } from '../../auth/viewer.ts';
import type { Context } from '../context.ts';

// What the enterprise's permission is worth in each of its organizations, on the enterprise's own paths.
const grantedPermissions = {
  view: { enterprise: permissionFor.viewEnterpriseSessions, organization: permissionFor.viewSession },
  manage: { enterprise: permissionFor.manageEnterpriseSessions, organization: permissionFor.changeSession },
} as const satisfies Record<string, { enterprise: EnterprisePermission; organization: OrganizationPermission }>;

/**
 * The context of an act on a session through the enterprise: its viewer holds ViewOrgSessions, or ManageOrgSessions, in every
 * organization, as long as it holds ViewAccountSessions, or ManageAccountSessions. FORBIDDEN without that.
 */
export function throughEnterprise(context: Context, act: keyof typeof grantedPermissions): Context {
  requireEnterprisePermission(context.viewer, grantedPermissions[act].enterprise);
  return withViewer(context, () => widened(context.viewer, act));
}

/**
 * The context of reading sessions, or acting on them, where no path says through what: what the viewer holds in the
 * organizations counts, and what it holds on the enterprise. Only for sessions and what is in them: the permission is worth
 * more than that in an organization.
 */
export function ofAnySession(context: Context, act: keyof typeof grantedPermissions): Context {
  return withViewer(context, () => widened(context.viewer, act));
}

/** The viewer of {@link ofAnySession} as it is now. */
export function viewerOfAnySession(context: Context, act: keyof typeof grantedPermissions): Viewer {
  return widened(context.viewer, act);
}

// A viewer never changes: another one takes its place. So does its wider one.
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

/** A context whose viewer is asked for anew whenever it is needed. */
export function withViewer(context: Context, viewer: () => Viewer): Context {
  return {
    ...context,
    get viewer() {
      return viewer();
    },
  };
}
