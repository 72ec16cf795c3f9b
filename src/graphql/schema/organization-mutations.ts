import { createOrganization } from '../../domain/organizations/organizations.ts';
import type { OrganizationRecord } from '../../domain/organizations/use-organization.ts';
import { builder } from '../builder.ts';
import { Organization } from './organization-ref.ts';
import { clientMutationIdDescription, inputDescription, payloadType, toPayload } from './payloads.ts';

const CreateOrganizationInput = builder.inputType('CreateOrganizationInput', {
  description: 'What an organization is made from.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'What to call it.' }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const CreateOrganizationPayload = payloadType<{ organization: OrganizationRecord }>(
  'CreateOrganizationPayload',
  'An organization that was made.',
  (t) => ({
    organization: t.expose('organization', { type: Organization, nullable: true, description: 'The organization.' }),
  }),
);

builder.mutationField('createOrganization', (t) =>
  t.field({
    type: CreateOrganizationPayload,
    description: 'Makes an organization.',
    args: { input: t.arg({ type: CreateOrganizationInput, required: true, description: inputDescription }) },
    resolve: (_root, { input }, { domain }) =>
      toPayload(input, { organization: null }, async () => ({ organization: await createOrganization(domain, input) })),
  }),
);
