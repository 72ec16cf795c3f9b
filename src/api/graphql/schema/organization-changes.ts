import type { ChangedKind } from '../../../domain/changes/change-source.ts';
import type { EntityChange } from '../../../domain/changes/watch-entities.ts';
import { watchOrganization } from '../../../domain/changes/watch-organization.ts';
import { globalId } from '../../../domain/ids.ts';
import { builder } from '../builder.ts';
import { enumName } from '../enum-name.ts';
import { afterRemovalsDescription, Change, presentChange, startChanges } from './changes-field.ts';
import { needs } from './needs.ts';
import { loadNode } from './node.ts';
import { typedResources } from './resources.ts';

const ResourceTypeEnum = builder.enumType('ResourceType', {
  description: 'Type of an object whose changes `Subscription.changes` reports.',
  values: Object.fromEntries(
    typedResources.flatMap(({ kind, typeName, changes }) =>
      changes === undefined ? [] : [[enumName(typeName), { value: kind, description: changes }]],
    ),
  ) as Record<string, { value: ChangedKind; description: string }>,
});

const ResourceChange = builder.objectRef<EntityChange<unknown>>('ResourceChange').implement({
  description: 'Change of an object of an organization, as reported by `changes`.',
  interfaces: [Change],
  fields: (t) => ({
    resourceType: t.expose('kind', { type: ResourceTypeEnum, description: 'Type of the object that changed.' }),
    nodeId: t.id({
      description: 'Global ID of the object, also if the object was REMOVED.',
      resolve: ({ kind, id }) => globalId(kind, id),
    }),
    node: t.field({
      type: builder.nodeInterfaceRef(),
      nullable: true,
      description:
        'Object in its current state, which may be newer than the change; null if `type` is REMOVED, and if the object was deleted since.',
      resolve: ({ type, kind, id }, _args, context) =>
        (type === 'REMOVED' ? null : loadNode(context, globalId(kind, id))) as never,
    }),
  }),
});

builder.subscriptionField('changes', (t) =>
  t.field({
    type: ResourceChange,
    extensions: needs([
      'viewSession',
      'viewEnterpriseSessions',
      'viewSecrets',
      'viewAutomations',
      'changeAutomations',
      'viewMembers',
      'viewServiceUsers',
      'viewRoles',
    ]),
    description: [
      'Reports every object of an organization when it is created, changes or is deleted, and the playbooks, knowledge, roles and service users of the enterprise that the viewer may view. Each change is reported at least once; changes close together may arrive as one. The first report of an object by a connection is ADDED, also if the object existed before.',
      'Each type needs a permission of its own, as `ResourceType` says; FORBIDDEN if one of `types` is not permitted. Without `types`, all types that the viewer may view are reported. When the viewer loses a permission, REMOVED is reported for the last 1,000 objects that this connection has reported and that are no longer visible.',
      'To copy an organization, read `changesCursor` together with the lists and send it as `after`; then keep the last `cursor`.',
    ].join('\n\n'),
    args: {
      organizationId: t.arg.id({ required: true, description: 'Global ID or REST id of the organization.' }),
      types: t.arg({
        type: [ResourceTypeEnum],
        description: 'Types of objects to report. All types that the viewer may view if omitted.',
      }),
      after: t.arg.string({ description: afterRemovalsDescription('changes') }),
    },
    subscribe: (_root, { organizationId, types, after }, context) =>
      startChanges(context, 'changes', after, (cursor) =>
        watchOrganization(context.domain, context.watches, {
          organizationId,
          kinds: types ?? null,
          after: cursor,
        }),
      ),
    resolve: (change, _args, context) => presentChange(change, context),
  }),
);
