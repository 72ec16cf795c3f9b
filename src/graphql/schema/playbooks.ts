import { prefixedId } from '../../domain/ids.ts';
import { type PlaybookFilter, type PlaybookRecord, playbooksOf } from '../../domain/playbooks/playbooks.ts';
import { builder } from '../builder.ts';
import { nestedConnection } from '../connections.ts';
import { countedConnection } from './counted-connection.ts';
import { Enterprise } from './enterprise-ref.ts';
import { AccessTypeEnum } from './enums.ts';
import { createdMembers, listArgs, orderInput, parseListFilter } from './list-inputs.ts';
import { boundary } from './needs.ts';
import { Organization } from './organization-ref.ts';
import { accessTypeDescription, ownerDescription } from './places.ts';
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

const PlaybookFilterInput = builder.inputType('PlaybookFilter', {
  description: 'Narrows a list of playbooks: all members that are given must hold.',
  fields: (t) => ({
    search: t.string({
      description: 'Only those whose title or macro contains this text, upper and lower case alike.',
    }),
    accessType: t.field({ type: AccessTypeEnum, description: accessTypeDescription }),
    ...createdMembers(t),
  }),
});

const PlaybookOrderInput = orderInput('Playbook', 'When the playbook was made.', {
  title: 'The first 64 characters of the title, upper and lower case alike.',
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
      description: 'Its playbooks, newest first unless ordered otherwise.',
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
      description: 'Its own playbooks and those of all its organizations, newest first unless ordered otherwise.',
      args: listArgs(t.arg, PlaybookFilterInput, PlaybookOrderInput),
      resolve: async (_enterprise, args, context) => {
        const list = playbooksOf(context.domain, null, parsePlaybookFilter(args.filter), args.orderBy);
        return nestedConnection(context, list, args);
      },
    },
    PlaybookConnection,
  ),
}));
