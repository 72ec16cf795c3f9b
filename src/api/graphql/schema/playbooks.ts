import { prefixedId } from '../../../domain/ids.ts';
import { type PlaybookFilter, type PlaybookRecord, playbooksOf } from '../../../domain/library/playbooks/playbooks.ts';
import { builder } from '../builder.ts';
import { nestedConnection } from '../connections.ts';
import { countedConnectionAndEdge } from './counted-connection.ts';
import { Enterprise } from './enterprise-ref.ts';
import { AccessTypeEnum } from './enums.ts';
import { createdMembers, listArgs, orderInput, parseListFilter } from './list-inputs.ts';
import { boundary } from './needs.ts';
import { Organization } from './organization-ref.ts';
import { authorshipFields } from './principals.ts';
import { accessTypeDescription, ownerDescription } from './scope-input.ts';

export const Playbook = builder.objectRef<PlaybookRecord>('Playbook');

/** PlaybookConnection and PlaybookEdge. */
export const { connection: PlaybookConnection, edge: PlaybookEdge } = countedConnectionAndEdge(Playbook, 'Playbook', {
  page: 'Page of a list of playbooks.',
  edge: 'Playbook in a list, with its cursor.',
});

builder.node(Playbook, {
  description: 'Reusable instructions for agents, owned by an organization or by the enterprise.',
  id: { resolve: ({ id }) => id, description: 'Global ID of the playbook, unique across all types.' },
  fields: (t) => ({
    playbookId: t.string({
      description: 'REST id of the playbook: `playbook-` and 32 hexadecimal digits.',
      resolve: ({ id }) => prefixedId('playbook', id),
    }),
    title: t.exposeString('title', { description: 'Title of the playbook, at most 10,000 characters.' }),
    body: t.exposeString('body', { description: 'Instructions that the agent follows.' }),
    macro: t.exposeString('macro', {
      nullable: true,
      description: 'Shortcut of the playbook with its leading "!", for example `!release`; null if there is none.',
    }),
    structuredOutputSchema: t.expose('structuredOutputSchema', {
      type: 'JSON',
      nullable: true,
      description:
        'JSON Schema (Draft 7) for the structured output of sessions that follow the playbook; null if there is none.',
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
      description:
        'Time when the playbook was deleted; null if it was not. A deleted playbook is in no list and starts no sessions; sessions that follow it still show it.',
    }),
  }),
});

const PlaybookFilterInput = builder.inputType('PlaybookFilter', {
  description: 'Conditions for a list of playbooks. An item must meet every condition that is given.',
  fields: (t) => ({
    search: t.string({
      description: 'Only playbooks with a title or macro that contains this text, regardless of case.',
    }),
    accessType: t.field({ type: AccessTypeEnum, description: accessTypeDescription }),
    ...createdMembers(t),
  }),
});

const PlaybookOrderInput = orderInput('Playbook', 'Time when the playbook was created.', {
  title: 'The first 64 characters of the title, regardless of case.',
});

const parsePlaybookFilter = (filter: typeof PlaybookFilterInput.$inferInput | null | undefined): PlaybookFilter => ({
  ...parseListFilter(filter),
  accessType: filter?.accessType ?? undefined,
});

builder.objectFields(Organization, (t) => ({
  playbooks: t.connection(
    {
      type: Playbook,
      ...boundary('viewPlaybooks'),
      description: 'Playbooks of the organization. Newest first unless `orderBy` says otherwise.',
      args: listArgs(t.arg, PlaybookFilterInput, PlaybookOrderInput),
      resolve: async ({ id }, args, context) => {
        const list = playbooksOf(context.domain, id, parsePlaybookFilter(args.filter), args.orderBy);
        return nestedConnection(context, list, args);
      },
    },
    PlaybookConnection,
  ),
}));

builder.objectFields(Enterprise, (t) => ({
  playbooks: t.connection(
    {
      type: Playbook,
      ...boundary('changeEnterprisePlaybooks'),
      description:
        'Playbooks of the enterprise and of all its organizations. Newest first unless `orderBy` says otherwise.',
      args: listArgs(t.arg, PlaybookFilterInput, PlaybookOrderInput),
      resolve: async (_enterprise, args, context) => {
        const list = playbooksOf(context.domain, null, parsePlaybookFilter(args.filter), args.orderBy);
        return nestedConnection(context, list, args);
      },
    },
    PlaybookConnection,
  ),
}));
