import {
  createSignInLink,
  findSignInLinks,
  revokeSignInLink,
  type SignInLinkRecord,
} from '../../../domain/identity/sign-on/sign-in-links.ts';
import { builder } from '../builder.ts';
import { addMutation } from './add-mutation.ts';
import { boundary } from './needs.ts';
import { shownOnceDescription } from './payloads.ts';
import { User } from './people.ts';
import { loadPrincipal, Principal } from './principals.ts';

const SignInLink = builder.objectRef<SignInLinkRecord>('SignInLink').implement({
  description: 'A link that signs a user in to the console once, and that nobody has used yet.',
  fields: (t) => ({
    createdBy: t.field({
      type: Principal,
      nullable: true,
      description: 'Principal that created the link; null if the viewer may not see that principal.',
      resolve: (link, _args, context) => loadPrincipal(context, link),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Time when the link was created.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'Time until which the link can be used.' }),
  }),
});

builder.objectField(User, 'signInLink', (t) =>
  t.field({
    ...boundary('manageSignInLinks'),
    type: SignInLink,
    description: 'Link that signs the user in to the console once; null if there is none that can still be used.',
    resolve: ({ id }, _args, { loaders }) => loaders.of(findSignInLinks).load(id),
  }),
);

const userIdDescription = 'Global ID or REST id of the user (`user-…`).';

addMutation('createSignInLink', {
  description:
    'Creates a link that signs another user in to the console once, without a token. It replaces the link that the user has, if there is one. The viewer must have all permissions of the user.',
  needs: ['manageSignInLinks'],
  input: (t) => ({
    userId: t.id({ required: true, description: userIdDescription }),
    expiresInDays: t.int({
      description:
        'Number of days for which the link can be used, 1 to 7. Defaults to 7. A link ends no later than the key of the viewer.',
    }),
  }),
  takes: 'idempotencyKey',
  payload: {
    user: { type: User, description: 'User that the link signs in. Null if there are user errors.' },
    url: { type: 'URI', description: `Address of the link, for the user alone. ${shownOnceDescription}` },
  },
  act: async (input, { domain }, options) => createSignInLink(domain, input, options),
});

addMutation('revokeSignInLink', {
  description:
    'Revokes the link that signs a user in to the console. Fails with `NOT_FOUND` if there is none that can still be used.',
  needs: ['manageSignInLinks'],
  input: (t) => ({ userId: t.id({ required: true, description: userIdDescription }) }),
  payload: { user: { type: User, description: 'User whose link was revoked. Null if there are user errors.' } },
  act: async (input, { domain }) => ({ user: await revokeSignInLink(domain, input.userId) }),
});
