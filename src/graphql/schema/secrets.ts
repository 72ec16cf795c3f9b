import { prefixedId } from '../../domain/ids.ts';
import { type SecretRecord, secretsOf } from '../../domain/secrets/secrets.ts';
import { builder } from '../builder.ts';
import { nestedConnection } from '../connections.ts';
import { countedConnection } from './counted-connection.ts';
import { SecretTypeEnum } from './enums.ts';
import { createdMembers, listArgs, orderInput, parseListFilter } from './list-inputs.ts';
import { boundary } from './needs.ts';
import { Organization } from './organization-ref.ts';
import { authorshipFields } from './principals.ts';

/** Secret of the contract. */
export const Secret = builder.objectRef<SecretRecord>('Secret');

const SecretConnection = countedConnection(Secret, 'Secret', {
  page: 'A page of secrets.',
  edge: 'A secret in a list.',
});

builder.node(Secret, {
  description: 'A value that agents need. It is written, and never read back by anybody.',
  id: { resolve: ({ id }) => id, description: 'The global ID.' },
  fields: (t) => ({
    secretId: t.string({ description: 'The id as REST writes it.', resolve: ({ id }) => prefixedId('secret', id) }),
    key: t.exposeString('key', { description: 'Its name, which no other in the organization has.' }),
    type: t.expose('type', { type: SecretTypeEnum, description: 'What it is for.' }),
    note: t.exposeString('note', { nullable: true, description: 'What is noted of it.' }),
    isSensitive: t.exposeBoolean('isSensitive', {
      description: 'Whether its value is blotted out of what agents say.',
    }),
    organization: t.field({
      type: Organization,
      description: 'Where it belongs.',
      resolve: async ({ organizationId }, _args, { loaders }) =>
        (await loaders.organizations.load(organizationId)) as never,
    }),
    ...authorshipFields(t),
  }),
});

const SecretFilterInput = builder.inputType('SecretFilter', {
  description: 'Narrows a list of secrets: all members that are given must hold, and of a list any one value.',
  fields: (t) => ({
    search: t.string({ description: 'Only those whose key or note contains this text, upper and lower case alike.' }),
    type: t.field({ type: [SecretTypeEnum], description: 'Only secrets of one of these types.' }),
    isSensitive: t.boolean({ description: 'Only sensitive secrets, or only others; both when left out.' }),
    ...createdMembers(t),
  }),
});

const SecretOrderInput = orderInput('Secret', 'When the secret was made.', {
  key: 'The first 64 characters of the key, upper and lower case alike.',
});

builder.objectFields(Organization, (t) => ({
  secrets: t.connection(
    {
      type: Secret,
      ...boundary(['viewSecrets', 'changeSecrets']),
      description: 'Its secrets without their values, newest first unless ordered otherwise.',
      args: listArgs(t.arg, SecretFilterInput, SecretOrderInput),
      resolve: async ({ id }, args, context) => {
        const { type, isSensitive } = args.filter ?? {};
        const filter = {
          ...parseListFilter(args.filter),
          types: type ?? undefined,
          isSensitive: isSensitive ?? undefined,
        };
        return nestedConnection(context, secretsOf(context.domain, id, filter, args.orderBy), args);
      },
    },
    SecretConnection,
  ),
}));
