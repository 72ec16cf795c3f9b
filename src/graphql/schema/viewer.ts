import { manageOwnSessions, type Permission } from '../../auth/permissions.ts';
import { ownerOf, type Viewer } from '../../auth/viewer.ts';
import { builder } from '../builder.ts';
import { PermissionEnum, PrincipalTypeEnum } from './enums.ts';
import { Organization } from './organization-ref.ts';
import { ServiceUser, User } from './people.ts';
import { loadPrincipal, Principal } from './principals.ts';

/** Viewer of the contract. */
export const ViewerType = builder.objectRef<Viewer>('Viewer').implement({
  description: 'Who asks, and what it may do.',
  fields: (t) => ({
    principalType: t.field({
      type: PrincipalTypeEnum,
      description: 'What kind of caller it is.',
      resolve: ({ principal }) => principal.type,
    }),
    principal: t.field({
      type: Principal,
      nullable: true,
      description: 'The principal that the caller acts as; null only for a caller that may not see itself.',
      resolve: (viewer, _args, context) => loadPrincipal(context, ownerOf(viewer)),
    }),
    user: t.field({
      type: User,
      nullable: true,
      description: 'The user, when it is one.',
      resolve: ({ principal }, _args, { loaders }) =>
        principal.type === 'USER' ? loaders.users.load(principal.id) : null,
    }),
    serviceUser: t.field({
      type: ServiceUser,
      nullable: true,
      description: 'The service user, when it is one.',
      resolve: ({ principal }, _args, { loaders }) =>
        principal.type === 'SERVICE_USER' ? loaders.serviceUsers.load(principal.id) : null,
    }),
    organization: t.field({
      type: Organization,
      nullable: true,
      description: 'The organization that its key is bound to, if it is bound to one.',
      resolve: ({ homeOrganizationId }, _args, { loaders }) =>
        homeOrganizationId === null ? null : loaders.organizations.load(homeOrganizationId),
    }),
    permissions: t.field({
      type: [PermissionEnum],
      description:
        'The union of the permissions that the caller holds on the enterprise and in its organizations: it does not say where.',
      deprecationReason:
        'Use Organization.viewerPermissions and Viewer.enterprisePermissions. Removed after 2027-06-30.',
      resolve: (viewer) => {
        const held = [viewer.enterprisePermissions, viewer.everywhere, ...viewer.organizations.values()].flatMap(
          (set) => [...set],
        );
        return [...new Set(held)]
          .filter((permission): permission is Permission => permission !== manageOwnSessions)
          .sort();
      },
    }),
  }),
});

builder.queryField('viewer', (t) =>
  t.field({ type: ViewerType, description: 'Who asks.', resolve: (_root, _args, { domain }) => domain.viewer }),
);
