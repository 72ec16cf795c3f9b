import {
  automationViewPermissions,
  type EnterprisePermission,
  type OrganizationPermission,
  permissionFor,
} from '../../auth/permissions.ts';
import { hasPermission, missingPermission, type Viewer } from '../../auth/viewer.ts';
import { refuse } from '../../common/errors.ts';
import type { Context } from '../context.ts';
import { ofAnySession, viewerOfAnySession } from '../identity/organizations/enterprise-scope.ts';
import { enterOrganization } from '../identity/organizations/use-organization.ts';
import {
  type ChangedKind,
  type ChangeSource,
  deletedSessionTable,
  resourceTable,
  sessionTable,
} from './change-source.ts';
import { type ChangeWatches, type EntityChange, watchEntities } from './watch-entities.ts';

/** Permissions of which any one suffices to view the objects of a kind. */
interface RequiredPermissions {
  /** In the organization. With `isShared`, it also suffices for the enterprise's own objects. */
  readonly ofOrganization: readonly OrganizationPermission[];
  readonly isShared?: boolean;
  readonly ofEnterprise?: EnterprisePermission;
}

const requiredPermissions: Readonly<Record<ChangedKind, RequiredPermissions>> = {
  session: { ofOrganization: [permissionFor.viewSession] },
  playbook: {
    ofOrganization: [permissionFor.viewPlaybooks],
    isShared: true,
    ofEnterprise: permissionFor.changeEnterprisePlaybooks,
  },
  note: {
    ofOrganization: [permissionFor.viewKnowledge],
    isShared: true,
    ofEnterprise: permissionFor.changeEnterpriseKnowledge,
  },
  folder: {
    ofOrganization: [permissionFor.viewKnowledge],
    isShared: true,
    ofEnterprise: permissionFor.changeEnterpriseKnowledge,
  },
  secret: { ofOrganization: [permissionFor.viewSecrets] },
  snapshot: { ofOrganization: [permissionFor.viewSession] },
  automation: { ofOrganization: automationViewPermissions },
  automationRun: { ofOrganization: automationViewPermissions },
  webhookEndpoint: { ofOrganization: [permissionFor.manageWebhooks] },
  webhookDelivery: { ofOrganization: [permissionFor.manageWebhooks] },
  role: { ofOrganization: [], ofEnterprise: permissionFor.viewRoles },
  member: { ofOrganization: [permissionFor.viewMembers] },
  serviceUser: {
    ofOrganization: [permissionFor.viewServiceUsers],
    ofEnterprise: permissionFor.viewEnterpriseServiceUsers,
  },
};

/** The kinds of objects whose changes in an organization can be followed. */
export const changedKinds = Object.keys(requiredPermissions) as readonly ChangedKind[];

/** A subscription to all changes of an organization. */
export interface OrganizationChangesRequest {
  /** In any form. */
  readonly organizationId: string;
  /** Null: all that the viewer may view. */
  readonly kinds: readonly ChangedKind[] | null;
  readonly after: string | null;
}

interface ChangedResource {
  /** Null: it is not a session. */
  readonly isUnlisted: boolean | null;
}

const sourceOf = (kinds: readonly ChangedKind[]): ChangeSource<ChangedResource> => ({
  name: 'organizationChanges',
  tables: kinds.flatMap((kind) =>
    kind === 'session' ? [sessionTable, deletedSessionTable('not c.is_unlisted')] : [resourceTable(kind)],
  ),
  record: {
    columns: 's.is_unlisted as "isUnlisted"',
    joins: `left join session s on c.kind = 'session' and s.id = c.id`,
  },
  topics: ['organization', 'resources'],
  // It only decides about reports of objects that left a filter, and only reported sessions leave.
  createdAt: () => new Date(0),
});

/**
 * Subscribes to the changes of an organization's objects, and of the enterprise's objects that it uses, as {@link
 * watchEntities} reports them, without unlisted sessions and without kinds that the viewer may not view. Throws
 * FORBIDDEN for a kind that the input names, and if no kind is left; INVALID_INPUT for an empty list of kinds;
 * ORGANIZATION_NOT_USABLE, NOT_FOUND, BAD_CURSOR before the first one.
 */
export async function watchOrganization(
  context: Context,
  watches: ChangeWatches,
  { organizationId, kinds, after }: OrganizationChangesRequest,
): Promise<AsyncIterableIterator<EntityChange<unknown>>> {
  if (kinds?.length === 0) throw refuse(['types'], '"types" must not be empty. Omit it to follow all types.');
  const { id } = await enterOrganization(ofAnySession(context, 'view'), organizationId);
  const { enterpriseId } = context.viewer;
  // A permission on the enterprise's sessions grants something for sessions only.
  const viewerOf = (kind: ChangedKind): Viewer =>
    kind === 'session' ? viewerOfAnySession(context, 'view') : context.viewer;
  const mayView = (kind: ChangedKind, scopeId: string): boolean => {
    const { ofOrganization, isShared = false, ofEnterprise } = requiredPermissions[kind];
    const viewer = viewerOf(kind);
    if (ofEnterprise !== undefined && viewer.enterprisePermissions.has(ofEnterprise)) return true;
    return (scopeId === id || isShared) && ofOrganization.some((permission) => hasPermission(viewer, permission, id));
  };
  const mayViewAny = (kind: ChangedKind) => mayView(kind, id) || mayView(kind, enterpriseId);
  const watchedKinds = [...new Set(kinds ?? changedKinds)].sort();
  const refused =
    kinds === null
      ? watchedKinds.some(mayViewAny)
        ? undefined
        : 'session'
      : watchedKinds.find((each) => !mayViewAny(each));
  if (refused !== undefined) {
    const { ofOrganization, ofEnterprise } = requiredPermissions[refused];
    throw missingPermission((ofOrganization[0] ?? ofEnterprise) as OrganizationPermission);
  }
  const isListed = ({ isUnlisted }: ChangedResource) => isUnlisted !== true;
  return watchEntities(context, watches, {
    source: sourceOf(watchedKinds),
    scopeNow: () => ({ enterpriseId, ids: [id], withEnterprise: true }),
    mayView: ({ kind, scopeId }) => mayView(kind, scopeId),
    isOver: (exists) => !exists(id) || !watchedKinds.some(mayViewAny),
    filterNow: () => ({ isMatch: isListed, couldMatch: isListed }),
    after,
  });
}
