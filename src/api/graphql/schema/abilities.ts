import type { ObjectRef } from '@pothos/core';
import type { Permission } from '../../../auth/permissions.ts';
import { permissionsIn, permissionsOnEnterprise } from '../../../auth/viewer.ts';
import { missingToManage } from '../../../domain/abilities/abilities.ts';
import type { Context } from '../../../domain/context.ts';
import { builder, type SchemaTypes } from '../builder.ts';
import { Automation } from './automations.ts';
import { Enterprise } from './enterprise-ref.ts';
import { PermissionEnum } from './enums.ts';
import { KnowledgeFolder, KnowledgeNote } from './knowledge.ts';
import { Organization } from './organization-ref.ts';
import { Playbook } from './playbooks.ts';
import { Secret } from './secrets.ts';
import { Session } from './sessions.ts';
import { ViewerType } from './viewer.ts';
import { WebhookEndpoint } from './webhooks.ts';

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

function addAbility<T>(
  ref: ObjectRef<SchemaTypes, T>,
  description: string,
  findMissing: (context: Context, resource: T) => Permission | null,
): void {
  builder.objectField(ref, 'viewerCanManage', (t) =>
    t.field({
      type: ViewerAbility,
      description,
      resolve: (resource, _args, { domain }) => ({ missing: findMissing(domain, resource as T) }),
    }),
  );
}

addAbility(
  Session,
  'Whether the viewer may send messages to the session and may suspend, resume, archive, tag, change and terminate the session. For the viewer’s own sessions, the permission to manage own sessions is enough.',
  missingToManage.session,
);
addAbility(
  Automation,
  'Whether the viewer may change, enable, disable, run and delete the automation. An automation that runs as another user also requires `IMPERSONATE_ORG_SESSIONS`.',
  missingToManage.automation,
);
addAbility(Playbook, 'Whether the viewer may change and delete the playbook.', missingToManage.playbook);
addAbility(KnowledgeNote, 'Whether the viewer may change and delete the note.', missingToManage.knowledge);
addAbility(KnowledgeFolder, 'Whether the viewer may change, move and delete the folder.', missingToManage.knowledge);
addAbility(Secret, 'Whether the viewer may change and delete the secret.', missingToManage.secret);
addAbility(
  WebhookEndpoint,
  'Whether the viewer may change, test and delete the endpoint.',
  missingToManage.webhookEndpoint,
);

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
