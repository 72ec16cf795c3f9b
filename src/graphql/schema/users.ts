import type { UserRecord } from '../../domain/people/find-people.ts';
import { createUser } from '../../domain/people/users.ts';
import { builder } from '../builder.ts';
import { clientMutationIdDescription, inputDescription, payloadType, toPayload } from './payloads.ts';
import { User } from './people.ts';

const CreateUserInput = builder.inputType('CreateUserInput', {
  description: 'What a user is made from.',
  fields: (t) => ({
    email: t.string({ required: true, description: 'Its address, unique in the enterprise.' }),
    name: t.string({ description: 'Its name.' }),
    organizationId: t.id({
      description: 'Where it is a member; may be left out when the viewer has one, or with an enterprise role.',
    }),
    roleId: t.id({ description: 'Its role; org_member when left out.' }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const CreateUserPayload = payloadType<{ user: UserRecord }>('CreateUserPayload', 'A user that was made.', (t) => ({
  user: t.expose('user', { type: User, nullable: true, description: 'The user.' }),
}));

builder.mutationField('createUser', (t) =>
  t.field({
    type: CreateUserPayload,
    description: 'Makes a user with its first role.',
    args: { input: t.arg({ type: CreateUserInput, required: true, description: inputDescription }) },
    resolve: (_root, { input }, { domain }) =>
      toPayload(input, { user: null }, async () => ({ user: await createUser(domain, input) })),
  }),
);
