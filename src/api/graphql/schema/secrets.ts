import { prefixedId } from '../../../domain/ids.ts';
import { type SecretRecord, secretsOf } from '../../../domain/library/secrets/secrets.ts';
import { builder } from '../builder.ts';
import { nestedConnection } from '../connections.ts';
import { countedConnectionAndEdge } from './counted-connection.ts';
import { SecretTypeEnum } from './enums.ts';
import { createdMembers, listArgs, orderInput, parseListFilter } from './list-inputs.ts';
import { boundary } from './needs.ts';
import { Organization } from './organization-ref.ts';
import { authorshipFields } from './principals.ts';

export const Secret = builder.objectRef<SecretRecord>('Secret');

/** SecretConnection and SecretEdge. */
export const { connection: SecretConnection, edge: SecretEdge } = countedConnectionAndEdge(Secret, 'Secret', {
  page: 'Page of a list of secrets.',
  edge: 'Secret in a list, with its cursor.',
});

builder.node(Secret, {
  description: 'Confidential value that agents need, such as a password. The value can be written but never read.',
  id: { resolve: ({ id }) => id, description: 'Global ID of the secret, unique across all types.' },
  fields: (t) => ({
    secretId: t.string({
      description: 'REST id of the secret: `sec_` and 32 hexadecimal digits.',
      resolve: ({ id }) => prefixedId('secret', id),
    }),
    key: t.exposeString('key', { description: 'Name of the secret, unique in the organization.' }),
    type: t.expose('type', {
      type: SecretTypeEnum,
      description: 'Type of the secret: a cookie, an environment variable or the seed of one-time passwords.',
    }),
    note: t.exposeString('note', { nullable: true, description: 'Note about the secret; null if there is none.' }),
    isSensitive: t.exposeBoolean('isSensitive', {
      description: 'Whether the value is masked in everything that agents write.',
    }),
    organization: t.field({
      type: Organization,
      description: 'Organization that the secret belongs to.',
      resolve: async ({ organizationId }, _args, { loaders }) =>
        (await loaders.organizations.load(organizationId)) as never,
    }),
    ...authorshipFields(t),
  }),
});

const SecretFilterInput = builder.inputType('SecretFilter', {
  description:
    'Conditions for a list of secrets. An item must meet every condition that is given, and match one value of each list.',
  fields: (t) => ({
    search: t.string({ description: 'Only secrets with a key or note that contains this text, regardless of case.' }),
    type: t.field({ type: [SecretTypeEnum], description: 'Only secrets of one of these types.' }),
    isSensitive: t.boolean({ description: 'If true, only sensitive secrets. If false, only the others.' }),
    ...createdMembers(t),
  }),
});

const SecretOrderInput = orderInput('Secret', 'Time when the secret was created.', {
  key: 'The first 64 characters of the key, regardless of case.',
});

builder.objectFields(Organization, (t) => ({
  secrets: t.connection(
    {
      type: Secret,
      ...boundary(['viewSecrets', 'changeSecrets']),
      description: 'Secrets of the organization, without their values. Newest first unless `orderBy` says otherwise.',
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
