import { prefixedId } from '../../domain/ids.ts';
import { type PlaybookRecord, playbooksOf } from '../../domain/playbooks/playbooks.ts';
import { builder } from '../builder.ts';
import { nestedConnection } from '../connections.ts';
import { countedConnection } from './counted-connection.ts';
import { Enterprise } from './enterprise-ref.ts';
import { AccessTypeEnum } from './enums.ts';
import { boundary } from './needs.ts';
import { Organization } from './organization-ref.ts';
import { ownerDescription } from './places.ts';
import { authorshipFields } from './principals.ts';

/** Playbook of the contract. */
export const Playbook = builder.objectRef<PlaybookRecord>('Playbook');

const PlaybookConnection = countedConnection(Playbook, 'Playbook', {
  page: 'A page of playbooks.',
  edge: 'A playbook in a list.',
});

builder.node(Playbook, {
  description: 'Instructions to be used again.',
  id: { resolve: ({ id }) => id, description: 'The global ID.' },
  fields: (t) => ({
    playbookId: t.string({ description: 'The id as REST writes it.', resolve: ({ id }) => prefixedId('playbook', id) }),
    title: t.exposeString('title', { description: 'What it is called.' }),
    body: t.exposeString('body', { description: 'The instructions.' }),
    macro: t.exposeString('macro', { nullable: true, description: 'Its shortcut, with its "!".' }),
    structuredOutputSchema: t.expose('structuredOutputSchema', {
      type: 'JSON',
      nullable: true,
      description: 'The JSON Schema (Draft 7) of what its sessions are to produce.',
    }),
    organization: t.field({
      type: Organization,
      nullable: true,
      description: ownerDescription,
      resolve: ({ organizationId }, _args, { loaders }) =>
        organizationId === null ? null : loaders.organizations.load(organizationId),
    }),
    ...authorshipFields(t),
    deletedAt: t.expose('deletedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Since when it is in no list and starts no sessions; those that it started still show it.',
    }),
  }),
});

builder.objectFields(Organization, (t) => ({
  playbooks: t.connection(
    {
      type: Playbook,
      ...boundary('viewPlaybooks'),
      description: 'Its playbooks, newest first.',
      args: {
        accessType: t.arg({
          type: AccessTypeEnum,
          description: 'ENTERPRISE: those of the enterprise, which it may use too; its own when left out.',
        }),
      },
      resolve: async ({ id }, { accessType, ...page }, context) =>
        nestedConnection(context, playbooksOf(context.domain, id, accessType), page),
    },
    PlaybookConnection,
  ),
}));

builder.objectFields(Enterprise, (t) => ({
  playbooks: t.connection(
    {
      type: Playbook,
      ...boundary('changeEnterprisePlaybooks'),
      description: 'Its own playbooks and those of all its organizations, newest first.',
      args: { accessType: t.arg({ type: AccessTypeEnum, description: 'Only its own, or only the organizations’.' }) },
      resolve: async (_enterprise, { accessType, ...page }, context) =>
        nestedConnection(context, playbooksOf(context.domain, null, accessType), page),
    },
    PlaybookConnection,
  ),
}));
