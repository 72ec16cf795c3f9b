import { type PlaybookRecord, playbooksOf } from '../../../domain/library/playbooks/playbooks.ts';
import { builder } from '../builder.ts';
import { addList, listTypes } from './add-list.ts';
import { Enterprise } from './enterprise-ref.ts';
import { AccessTypeEnum } from './enums.ts';
import { createdMembers, filterInput, orderInput, parseListFilter } from './list-inputs.ts';
import { Organization, organizationField, restIdField } from './organization-ref.ts';
import { authorshipFields } from './principals.ts';
import { accessTypeDescription, ownerDescription } from './scope-input.ts';

export const Playbook = builder.objectRef<PlaybookRecord>('Playbook');

/** The types of lists of Playbook. */
export const PlaybookList = listTypes(Playbook, 'Playbook');

builder.node(Playbook, {
  description: 'Reusable instructions for agents, owned by an organization or by the enterprise.',
  id: { resolve: ({ id }) => id, description: 'Global ID of the playbook, unique across all types.' },
  fields: (t) => ({
    playbookId: restIdField(t, 'playbook', 'REST id of the playbook: `playbook-` and 32 hexadecimal digits.'),
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
    organization: organizationField(t, ownerDescription),
    ...authorshipFields(t),
    deletedAt: t.expose('deletedAt', {
      type: 'DateTime',
      nullable: true,
      description:
        'Time when the playbook was deleted; null if it was not. A deleted playbook is in no list and starts no sessions; sessions that follow it still show it.',
    }),
  }),
});

const PlaybookFilterInput = filterInput('Playbook', (t) => ({
  search: t.string({
    description: 'Only playbooks with a title or macro that contains this text, regardless of case.',
  }),
  accessType: t.field({ type: AccessTypeEnum, description: accessTypeDescription }),
  ...createdMembers(t),
}));

const PlaybookOrderInput = orderInput('Playbook', 'Time when the playbook was created.', {
  title: 'The first 64 characters of the title, regardless of case.',
});

const playbooks = { types: PlaybookList, filter: PlaybookFilterInput, order: PlaybookOrderInput };

addList(Organization, 'playbooks', {
  ...playbooks,
  description: 'Playbooks of the organization.',
  needs: 'viewPlaybooks',
  read: ({ id }, args, { domain }) => playbooksOf(domain, id, parseListFilter(args.filter), args.orderBy),
});

addList(Enterprise, 'playbooks', {
  ...playbooks,
  description: 'Playbooks of the enterprise and of all its organizations.',
  needs: 'changeEnterprisePlaybooks',
  read: (_enterprise, args, { domain }) => playbooksOf(domain, null, parseListFilter(args.filter), args.orderBy),
});
