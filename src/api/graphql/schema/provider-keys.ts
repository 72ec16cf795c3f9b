import { findUsers } from '../../../domain/identity/people/find-people.ts';
import { findModelsOfKey } from '../../../domain/library/provider-keys/key-models.ts';
import { checkKeyPeriod, type KeyUsageSums, sumKeyUsage } from '../../../domain/library/provider-keys/key-usage.ts';
import {
  type KeyFailure,
  type ProviderKeyRecord,
  providerKeysOf,
  scopeOf,
} from '../../../domain/library/provider-keys/provider-keys.ts';
import { budgetStart, type KeyPrices } from '../../../domain/library/provider-keys/stored-key.ts';
import { builder } from '../builder.ts';
import { addList, listTypes } from './add-list.ts';
import { Enterprise } from './enterprise-ref.ts';
import { createdMembers, filterInput, orderInput, parseListFilter } from './list-inputs.ts';
import { Organization, organizationField, restIdField } from './organization-ref.ts';
import { User } from './people.ts';
import { authorshipFields } from './principals.ts';
import {
  itemsOfModels,
  ModelProviderEnum,
  ProviderFailureCodeEnum,
  ProviderKeyScopeEnum,
} from './provider-key-enums.ts';
import { ViewerType } from './viewer.ts';

const ProviderKeyPrices = builder.objectRef<KeyPrices>('ProviderKeyPrices').implement({
  description: 'Prices of the models of a provider key, in US dollars for a million tokens.',
  fields: (t) => ({
    inputUsdPerMillion: t.exposeFloat('inputUsdPerMillion', {
      nullable: true,
      description: 'Price of a million input tokens.',
    }),
    cachedUsdPerMillion: t.exposeFloat('cachedUsdPerMillion', {
      nullable: true,
      description: 'Price of input tokens from the cache of the provider; null if they cost as much as others.',
    }),
    outputUsdPerMillion: t.exposeFloat('outputUsdPerMillion', {
      nullable: true,
      description: 'Price of a million output tokens.',
    }),
  }),
});

const ProviderKeyUsage = builder.objectRef<KeyUsageSums>('ProviderKeyUsage').implement({
  description: 'Usage of a provider key in a period.',
  fields: (t) => ({
    calls: t.exposeFloat('calls', { description: 'Number of calls of models.' }),
    inputTokens: t.exposeFloat('inputTokens', {
      description: 'Number of input tokens, including those from the cache.',
    }),
    cachedTokens: t.exposeFloat('cachedTokens', {
      description: 'Number of input tokens from the cache of the provider.',
    }),
    outputTokens: t.exposeFloat('outputTokens', { description: 'Number of tokens that the models wrote.' }),
    costUsd: t.exposeFloat('costUsd', { description: 'Cost in US dollars, as far as prices are known.' }),
  }),
});

const ProviderKeyFailure = builder.objectRef<KeyFailure>('ProviderKeyFailure').implement({
  description: 'Failed call with a provider key.',
  fields: (t) => ({
    code: t.expose('code', { type: ProviderFailureCodeEnum, description: 'Cause of the failed call.' }),
    message: t.exposeString('message', { description: 'Explanation of the failure for people, with the remedy.' }),
    at: t.field({
      type: 'DateTime',
      description: 'Time when the failed call was made.',
      resolve: ({ at }) => new Date(at),
    }),
  }),
});

export const ProviderKey = builder.objectRef<ProviderKeyRecord>('ProviderKey');

/** The types of lists of ProviderKey. */
export const ProviderKeyList = listTypes(ProviderKey, 'ProviderKey');

builder.node(ProviderKey, {
  description:
    'Stored key of a model provider. The key can be written but never read. Agents never have it: the service adds it to their calls.',
  id: { resolve: ({ id }) => id, description: 'Global ID of the provider key, unique across all types.' },
  fields: (t) => ({
    providerKeyId: restIdField(t, 'providerKey', 'Id of the provider key: `provider-key-` and 32 hexadecimal digits.'),
    provider: t.expose('provider', { type: ModelProviderEnum, description: 'Provider that the key is for.' }),
    name: t.exposeString('name', { description: 'Name of the key, unique among the keys of its owner.' }),
    baseUrl: t.expose('baseUrl', {
      type: 'URI',
      nullable: true,
      description: 'Base URL of the API; null for the address of the provider itself.',
    }),
    hasKey: t.exposeBoolean('hasKey', {
      description: 'Whether a key is stored. False for a compatible server that needs none.',
    }),
    scope: t.field({
      type: ProviderKeyScopeEnum,
      description: 'Kind of owner: a user, an organization or the enterprise.',
      resolve: scopeOf,
    }),
    organization: organizationField(t, 'Organization that owns the key; null for any other owner.'),
    user: t.field({
      type: User,
      nullable: true,
      description: 'User who owns the key; null for any other owner.',
      resolve: ({ ownerUserId }, _args, { loaders }) =>
        ownerUserId === null ? null : loaders.of(findUsers).load(ownerUserId),
    }),
    monthlyBudgetUsd: t.exposeFloat('monthlyBudgetUsd', {
      nullable: true,
      description: 'Maximum cost in US dollars in a calendar month in UTC; null for no limit.',
    }),
    spentThisMonthUsd: t.field({
      type: 'Float',
      description: 'Cost in US dollars in the current calendar month in UTC, as far as prices are known.',
      resolve: async ({ id }, _args, { domain, loaders }) => {
        const to = domain.now().toISOString().slice(0, 10);
        const usage = await loaders.ofKeys(sumKeyUsage).load({ id, from: budgetStart(domain), to });
        return usage?.costUsd ?? 0;
      },
    }),
    usage: t.field({
      type: ProviderKeyUsage,
      description: 'Usage of the key in a period of at most 366 days.',
      args: {
        from: t.arg({ type: 'Date', required: true, description: 'First day of the period, in UTC.' }),
        to: t.arg({ type: 'Date', required: true, description: 'Last day of the period, in UTC.' }),
      },
      resolve: async ({ id }, { from, to }, { loaders }) => {
        checkKeyPeriod({ from, to });
        const day = (date: Date) => date.toISOString().slice(0, 10);
        return (await loaders.ofKeys(sumKeyUsage).load({ id, from: day(from), to: day(to) })) as KeyUsageSums;
      },
    }),
    prices: t.field({
      type: ProviderKeyPrices,
      nullable: true,
      description: 'Own prices of the key; null if the known prices of the models apply.',
      resolve: (key) => (key.inputUsdPerMillion === null && key.outputUsdPerMillion === null ? null : key),
    }),
    isEnabled: t.exposeBoolean('isEnabled', { description: 'Whether sessions use the key.' }),
    lastUsedAt: t.expose('lastUsedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Time when a session last used the key; null if none has.',
    }),
    lastFailure: t.expose('lastFailure', {
      type: ProviderKeyFailure,
      nullable: true,
      description: 'Last call with the key if it failed; null if it succeeded or there was none.',
    }),
    models: t.stringList({
      nullable: true,
      description:
        'Ids of the models that the provider offers for the key, at most 1,000. The service asks the provider at most every 10 minutes. Null if the provider does not answer.',
      extensions: { items: itemsOfModels },
      resolve: (key, _args, { domain }) => findModelsOfKey(domain, key),
    }),
    ...authorshipFields(t),
  }),
});

const ProviderKeyFilterInput = filterInput('ProviderKey', (t) => ({
  search: t.string({ description: 'Only keys with a name that contains this text, regardless of case.' }),
  provider: t.field({ type: [ModelProviderEnum], description: 'Only keys of one of these providers.' }),
  isEnabled: t.boolean({ description: 'If true, only enabled keys. If false, only disabled ones.' }),
  ...createdMembers(t),
}));

const ProviderKeyOrderInput = orderInput('ProviderKey', 'Time when the key was created.', {
  name: 'The first 64 characters of the name, regardless of case.',
});

const readFilter = (filter: typeof ProviderKeyFilterInput.$inferInput | null | undefined) => ({
  ...parseListFilter(filter),
  providers: filter?.provider ?? undefined,
});

const list = { types: ProviderKeyList, filter: ProviderKeyFilterInput, order: ProviderKeyOrderInput } as const;

addList(Enterprise, 'providerKeys', {
  ...list,
  description: 'Provider keys of the enterprise itself, without their values.',
  needs: 'manageEnterpriseProviderKeys',
  read: (_enterprise, args, { domain }) => providerKeysOf(domain, 'enterprise', readFilter(args.filter), args.orderBy),
});

addList(Organization, 'providerKeys', {
  ...list,
  description: 'Provider keys of the organization itself, without their values.',
  needs: 'manageProviderKeys',
  read: ({ id }, args, { domain }) =>
    providerKeysOf(domain, { organizationId: id }, readFilter(args.filter), args.orderBy),
});

addList(ViewerType, 'providerKeys', {
  ...list,
  description: 'Provider keys of the user that the caller is, without their values. Empty for any other caller.',
  read: (_viewer, args, { domain }) => providerKeysOf(domain, 'viewer', readFilter(args.filter), args.orderBy),
});
