import type { Permission } from '../../../auth/permissions.ts';
import { permissionsIn, permissionsOnEnterprise } from '../../../auth/viewer.ts';
import { builder } from '../builder.ts';
import { Enterprise } from './enterprise-ref.ts';
import { PermissionEnum } from './enums.ts';
import { Organization } from './organization-ref.ts';
import { typedResources } from './resources.ts';
import { ViewerType } from './viewer.ts';

interface Ability {
  readonly missing: Permission | null;
}

const ViewerAbility = builder.objectRef<Ability>('ViewerAbility').implement({
  description:
    'The result of a permission check: whether the viewer may manage a resource, and which permission is missing if not.',
  fields: (t) => ({
    isAllowed: t.boolean({
      description:
        'Whether the viewer has the required permission. An operation can still be refused because of the state of the resource.',
      resolve: ({ missing }) => missing === null,
    }),
    missingPermission: t.field({
      type: PermissionEnum,
      nullable: true,
      description: 'Permission that the viewer lacks. Null if the viewer has the required permission.',
      resolve: ({ missing }) => missing,
    }),
  }),
});

for (const { type, manage } of typedResources) {
  if (!manage) continue;
  builder.objectField(type, 'viewerCanManage', (t) =>
    t.field({
      type: ViewerAbility,
      description: manage.description,
      resolve: (resource, _args, { domain }) => ({ missing: manage.missing(domain, resource as never) }),
    }),
  );
}

builder.objectField(Organization, 'viewerPermissions', (t) =>
  t.field({
    type: [PermissionEnum],
    description:
      'Permissions that the viewer holds in the organization through a role in the organization or on the enterprise. Permissions on the enterprise itself are in `Viewer.enterprisePermissions`.',
    resolve: ({ id }, _args, { domain }) => permissionsIn(domain.viewer, id),
  }),
);

const onEnterprise =
  'Permissions that the viewer holds on the enterprise. Organization permissions among them apply to every organization.';

builder.objectField(Enterprise, 'viewerPermissions', (t) =>
  t.field({
    type: [PermissionEnum],
    description: onEnterprise,
    resolve: (_enterprise, _args, { domain }) => permissionsOnEnterprise(domain.viewer),
  }),
);

builder.objectField(ViewerType, 'enterprisePermissions', (t) =>
  t.field({
    type: [PermissionEnum],
    description: `${onEnterprise} Equal to Enterprise.viewerPermissions, but also available to viewers who may not read the enterprise.`,
    resolve: (viewer) => permissionsOnEnterprise(viewer),
  }),
);
