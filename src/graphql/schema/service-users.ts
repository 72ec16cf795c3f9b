import type { ServiceUserRecord } from '../../domain/people/find-people.ts';
import { createServiceUser } from '../../domain/people/service-users.ts';
import { builder } from '../builder.ts';
import { clientMutationIdDescription, inputDescription, payloadType, toPayload } from './payloads.ts';
import { ServiceUser } from './people.ts';

const CreateServiceUserInput = builder.inputType('CreateServiceUserInput', {
  description: 'What a service user is made from.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'What to call it.' }),
    organizationId: t.id({ description: 'Its organization; enterprise-scoped when left out.' }),
    roleId: t.id({ description: 'Its role; org_admin, or account_member for the enterprise, when left out.' }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const CreateServiceUserPayload = payloadType<{ serviceUser: ServiceUserRecord }>(
  'CreateServiceUserPayload',
  'A service user that was made. It has no token until createApiKey makes one.',
  (t) => ({
    serviceUser: t.expose('serviceUser', { type: ServiceUser, nullable: true, description: 'The service user.' }),
  }),
);

builder.mutationField('createServiceUser', (t) =>
  t.field({
    type: CreateServiceUserPayload,
    description: 'Makes a service user with its role.',
    args: { input: t.arg({ type: CreateServiceUserInput, required: true, description: inputDescription }) },
    resolve: (_root, { input }, { domain }) =>
      toPayload(input, { serviceUser: null }, async () => ({ serviceUser: await createServiceUser(domain, input) })),
  }),
);
