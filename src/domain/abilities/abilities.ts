import { type OrganizationPermission, type Permission, permissionFor } from '../../auth/permissions.ts';
import { hasPermission } from '../../auth/viewer.ts';
import type { Context } from '../context.ts';
import { viewerOfAnySession } from '../identity/organizations/enterprise-scope.ts';
import { findMissingScopePermission } from '../identity/organizations/scope.ts';
import { changeNotes } from '../library/knowledge/change-notes.ts';
import { changePlaybooks } from '../library/playbooks/change-playbooks.ts';
import { isOwn } from '../sessions/find-session.ts';
import type { SessionRecord } from '../sessions/session.ts';

interface InOrganization {
  readonly organizationId: string;
}

interface InScope {
  readonly organizationId: string | null;
}

type Owned = Pick<SessionRecord, 'organizationId' | 'userId' | 'serviceUserId'>;

/**
 * Returns the permission that the viewer lacks to change and delete an object that it can read, by kind of object;
 * null: it has the permission. The acts check the same permission. The state of the object may still prevent an act.
 */
export const missingToManage = {
  session: (context: Context, session: Owned): Permission | null => {
    const { changeSession } = permissionFor;
    const viewer = viewerOfAnySession(context, 'manage');
    return hasPermission(viewer, changeSession, session.organizationId, isOwn(context, session)) ? null : changeSession;
  },
  automation: (context: Context, automation: InOrganization) => lacks(context, automation, 'changeAutomations'),
  secret: (context: Context, secret: InOrganization) => lacks(context, secret, 'changeSecrets'),
  webhookEndpoint: (context: Context, endpoint: InOrganization) =>
    lacks(context, endpoint, 'manageWebhooks') ?? lacks(context, endpoint, 'viewSession'),
  knowledge: ({ viewer }: Context, { organizationId }: InScope) =>
    findMissingScopePermission(viewer, organizationId, changeNotes),
  playbook: ({ viewer }: Context, { organizationId }: InScope) =>
    findMissingScopePermission(viewer, organizationId, changePlaybooks),
} as const;

type OrganizationAct = {
  [K in keyof typeof permissionFor]: (typeof permissionFor)[K] extends OrganizationPermission ? K : never;
}[keyof typeof permissionFor];

function lacks({ viewer }: Context, { organizationId }: InOrganization, act: OrganizationAct): Permission | null {
  const permission: OrganizationPermission = permissionFor[act];
  return hasPermission(viewer, permission, organizationId) ? null : permission;
}
