import { findOrganizations } from '../../../domain/identity/organizations/use-organization.ts';
import { type SecretRecord, secretsOf } from '../../../domain/library/secrets/secrets.ts';
import { environmentNameOf } from '../../../domain/secret-names.ts';
import { builder } from '../builder.ts';
import { addList, listTypes } from './add-list.ts';
import { SecretTypeEnum } from './enums.ts';
import { createdMembers, filterInput, orderInput, parseListFilter } from './list-inputs.ts';
import { Organization, restIdField } from './organization-ref.ts';
import { authorshipFields } from './principals.ts';

export const Secret = builder.objectRef<SecretRecord>('Secret');

/** The types of lists of Secret. */
export const SecretList = listTypes(Secret, 'Secret');

builder.node(Secret, {
  description: 'Confidential value that agents need, such as a password. The value can be written but never read.',
  id: { resolve: ({ id }) => id, description: 'Global ID of the secret, unique across all types.' },
  fields: (t) => ({
    secretId: restIdField(t, 'secret', 'REST id of the secret: `sec_` and 32 hexadecimal digits.'),
    key: t.exposeString('key', { description: 'Name of the secret, unique in the organization.' }),
    type: t.expose('type', {
      type: SecretTypeEnum,
      description: 'Type of the secret: a cookie, an environment variable or the seed of one-time passwords.',
    }),
    environmentVariable: t.string({
      nullable: true,
      description:
        'Environment variable with the value: the key, with `_` for every character that a variable cannot have. Null for cookies and seeds of one-time passwords.',
      resolve: ({ key, type }) => (type === 'key-value' ? environmentNameOf(key) : null),
    }),
    note: t.exposeString('note', { nullable: true, description: 'Note about the secret; null if there is none.' }),
    isSensitive: t.exposeBoolean('isSensitive', {
      description: 'Whether the value is masked in everything that agents write.',
    }),
    organization: t.field({
      type: Organization,
      description: 'Organization that the secret belongs to.',
      resolve: async ({ organizationId }, _args, { loaders }) =>
        (await loaders.of(findOrganizations).load(organizationId)) as never,
    }),
    ...authorshipFields(t),
  }),
});

const SecretFilterInput = filterInput('Secret', (t) => ({
  search: t.string({ description: 'Only secrets with a key or note that contains this text, regardless of case.' }),
  type: t.field({ type: [SecretTypeEnum], description: 'Only secrets of one of these types.' }),
  isSensitive: t.boolean({ description: 'If true, only sensitive secrets. If false, only the others.' }),
  ...createdMembers(t),
}));

const SecretOrderInput = orderInput('Secret', 'Time when the secret was created.', {
  key: 'The first 64 characters of the key, regardless of case.',
});

addList(Organization, 'secrets', {
  types: SecretList,
  description: 'Secrets of the organization, without their values.',
  needs: ['viewSecrets', 'changeSecrets'],
  filter: SecretFilterInput,
  order: SecretOrderInput,
  read: ({ id }, args, { domain }) => {
    const filter = {
      ...parseListFilter(args.filter),
      types: args.filter?.type ?? undefined,
    };
    return secretsOf(domain, id, filter, args.orderBy);
  },
});
