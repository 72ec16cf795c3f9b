import { manageOwnSessions, type Permission } from '../../../auth/permissions.ts';
import { ownerOf, type Viewer } from '../../../auth/viewer.ts';
import { findOrganizations } from '../../../domain/identity/organizations/use-organization.ts';
import { findServiceUsers, findUsers } from '../../../domain/identity/people/find-people.ts';
import { builder } from '../builder.ts';
import { PermissionEnum, PrincipalTypeEnum } from './enums.ts';
import { Organization } from './organization-ref.ts';
import { ServiceUser, User } from './people.ts';
import { loadPrincipal, Principal } from './principals.ts';

export const ViewerType = builder.objectRef<Viewer>('Viewer').implement({
  description: 'Authenticated caller of the request, with its permissions.',
  fields: (t) => ({
    principalType: t.field({
      type: PrincipalTypeEnum,
      description: 'Type of the principal that the caller is.',
      resolve: ({ principal }) => principal.type,
    }),
    principal: t.field({
      type: Principal,
      nullable: true,
      description: 'Principal that the caller acts as; null only if the caller may not see itself.',
      resolve: (viewer, _args, context) => loadPrincipal(context, ownerOf(viewer)),
    }),
    user: t.field({
      type: User,
      nullable: true,
      description: 'User that the caller is; null for any other type of principal.',
      resolve: ({ principal }, _args, { loaders }) =>
        principal.type === 'USER' ? loaders.of(findUsers).load(principal.id) : null,
    }),
    serviceUser: t.field({
      type: ServiceUser,
      nullable: true,
      description: 'Service user that the caller is; null for any other type of principal.',
      resolve: ({ principal }, _args, { loaders }) =>
        principal.type === 'SERVICE_USER' ? loaders.of(findServiceUsers).load(principal.id) : null,
    }),
    organization: t.field({
      type: Organization,
      nullable: true,
      description: 'Organization that the caller’s key is bound to; null if the key is bound to none.',
      resolve: ({ homeOrganizationId }, _args, { loaders }) =>
        homeOrganizationId === null ? null : loaders.of(findOrganizations).load(homeOrganizationId),
    }),
    permissions: t.field({
      type: [PermissionEnum],
      description:
        'Union of the permissions that the caller holds on the enterprise and in its organizations. The list does not say where a permission is held.',
      deprecationReason:
        'Use Organization.viewerPermissions and Viewer.enterprisePermissions. Removed after 2027-06-30.',
      resolve: (viewer) => {
        const grantedPermissions = [
          viewer.enterprisePermissions,
          viewer.everywhere,
          ...viewer.organizations.values(),
        ].flatMap((set) => [...set]);
        return [...new Set(grantedPermissions)]
          .filter((permission): permission is Permission => permission !== manageOwnSessions)
          .sort();
      },
    }),
  }),
});

builder.queryField('viewer', (t) =>
  t.field({
    type: ViewerType,
    description: 'Authenticated caller of the request.',
    resolve: (_root, _args, { domain }) => domain.viewer,
  }),
);
