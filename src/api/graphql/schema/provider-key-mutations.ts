import { refuse } from '../../../common/errors.ts';
import { globalId } from '../../../domain/ids.ts';
import {
  createProviderKey,
  deleteProviderKey,
  type KeyOwnerInput,
  type ProviderKeyChange,
  updateProviderKey,
} from '../../../domain/library/provider-keys/change-provider-keys.ts';
import {
  checkStoredKey,
  checkUnsavedKey,
  type KeyCheck,
} from '../../../domain/library/provider-keys/check-provider-key.ts';
import { builder } from '../builder.ts';
import { addMutation, type InputFields } from './add-mutation.ts';
import { refuseNulls } from './payloads.ts';
import { ModelProviderEnum, ProviderFailureCodeEnum } from './provider-key-enums.ts';
import { ProviderKey } from './provider-keys.ts';
import { readScope, scopeMembers } from './scope-input.ts';

const descriptions = {
  id: 'Global ID of the provider key, or its id such as `provider-key-…`.',
  name: 'Name of the key: 1 to 100 characters, not blank, unique among the keys of its owner regardless of case.',
  key: 'The key itself: 1 to 4,096 visible ASCII characters. It is never returned.',
  baseUrl:
    'Base URL of the API, without a query, such as `https://llm.example.com/v1`. Must be https on a public network unless the operator allows private networks.',
  monthlyBudgetUsd: 'Maximum cost in US dollars in a calendar month in UTC. Sessions stop when the key has reached it.',
  prices: 'Own prices, for models whose prices the service does not know, or with discounts.',
  isEnabled: 'Whether sessions use the key.',
} as const;

const ProviderKeyScopeInput = builder.inputType('ProviderKeyScopeInput', {
  isOneOf: true,
  description: 'Owner of a provider key. Exactly one of the members must be set.',
  fields: (t) => ({
    ...scopeMembers(t),
    viewer: t.boolean({ description: 'Selects the user that the caller is. Must be true.' }),
  }),
});

const ProviderKeyPricesInput = builder.inputType('ProviderKeyPricesInput', {
  description: 'Prices of the models of a provider key, in US dollars for a million tokens.',
  fields: (t) => ({
    inputUsdPerMillion: t.float({ required: true, description: 'Price of a million input tokens.' }),
    cachedUsdPerMillion: t.float({
      description: 'Price of input tokens from the cache of the provider. Defaults to the price of input tokens.',
    }),
    outputUsdPerMillion: t.float({ required: true, description: 'Price of a million output tokens.' }),
  }),
});

const commonFields = (t: InputFields) => ({
  baseUrl: t.field({
    type: 'URI',
    description: `${descriptions.baseUrl} Null for the address of the provider itself.`,
  }),
  monthlyBudgetUsd: t.float({ description: `${descriptions.monthlyBudgetUsd} Null for no limit.` }),
  prices: t.field({ type: ProviderKeyPricesInput, description: `${descriptions.prices} Null for the known prices.` }),
});

// INVALID_INPUT unless `enterprise` and `viewer` are true where they are given.
function readOwner({ viewer, ...scope }: typeof ProviderKeyScopeInput.$inferInput): KeyOwnerInput {
  if (viewer == null) return readScope(scope);
  if (viewer) return 'viewer';
  throw refuse(['scope', 'viewer'], '"viewer" must be true.');
}

/** The payload of createProviderKey. */
export const CreateProviderKeyPayload = addMutation('createProviderKey', {
  description:
    'Creates a provider key. Sessions use it from their next call of a model on. Keys of the enterprise require MANAGE_ENTERPRISE_SETTINGS, keys of an organization MANAGE_ORG_SECRETS, and own keys USE_SESSIONS in any organization. An owner has at most 50 keys.',
  needs: [],
  input: (t) => ({
    scope: t.field({ type: ProviderKeyScopeInput, required: true, description: 'Owner that the key is created for.' }),
    provider: t.field({ type: ModelProviderEnum, required: true, description: 'Provider that the key is for.' }),
    name: t.string({ required: true, description: descriptions.name }),
    key: t.string({ description: `${descriptions.key} Required unless the provider is COMPATIBLE.` }),
    ...commonFields(t),
    isEnabled: t.boolean({ defaultValue: true, description: descriptions.isEnabled }),
  }),
  takes: 'idempotencyKey',
  payload: { providerKey: ProviderKey },
  act: async ({ scope, ...values }, { domain }, options) => ({
    providerKey: await createProviderKey(domain, values, readOwner(scope), options),
  }),
});

addMutation('updateProviderKey', {
  description:
    'Updates a provider key. A stored key is never sent to another server: if `provider` or `baseUrl` changes, `key` must be given again. Running sessions use the change from their next call of a model on.',
  needs: [],
  input: (t) => ({
    providerKeyId: t.id({ required: true, description: descriptions.id }),
    provider: t.field({ type: ModelProviderEnum, description: 'Provider that the key is for. Must not be null.' }),
    name: t.string({ description: `${descriptions.name} Must not be null.` }),
    key: t.string({ description: `${descriptions.key} Must not be null.` }),
    ...commonFields(t),
  }),
  takes: 'expectedVersion',
  payload: { providerKey: ProviderKey },
  act: async ({ providerKeyId, ...change }, { domain }) => {
    refuseNulls(change, ['key']);
    return { providerKey: await updateProviderKey(domain, providerKeyId, change as ProviderKeyChange) };
  },
});

for (const isEnabled of [true, false]) {
  addMutation(isEnabled ? 'enableProviderKey' : 'disableProviderKey', {
    description: isEnabled
      ? 'Enables a provider key. Sessions use it from their next call of a model on.'
      : 'Disables a provider key. Running sessions cannot use it for another call.',
    needs: [],
    input: (t) => ({ providerKeyId: t.id({ required: true, description: descriptions.id }) }),
    payload: { providerKey: ProviderKey },
    act: async ({ providerKeyId }, { domain }) => ({
      providerKey: await updateProviderKey(domain, providerKeyId, { isEnabled }),
    }),
  });
}

addMutation('deleteProviderKey', {
  description: 'Deletes a provider key and erases its value. Running sessions cannot use it for another call.',
  needs: [],
  input: (t) => ({ providerKeyId: t.id({ required: true, description: descriptions.id }) }),
  takes: 'expectedVersion',
  payload: { deletedProviderKeyId: 'ID' },
  act: async (input, { domain }) => {
    const { id } = await deleteProviderKey(domain, input.providerKeyId, input);
    return { deletedProviderKeyId: globalId('providerKey', id) };
  },
});

const ProviderKeyTest = builder.objectRef<KeyCheck>('ProviderKeyTest').implement({
  description: 'Result of a test of a provider key.',
  fields: (t) => ({
    isOk: t.exposeBoolean('isOk', { description: 'Whether the provider accepts the key.' }),
    code: t.expose('code', {
      type: ProviderFailureCodeEnum,
      nullable: true,
      description: 'Cause of the failure; null if the provider accepts the key.',
    }),
    message: t.exposeString('message', {
      description: 'Explanation for people. It names the key and, after a failure, the remedy.',
    }),
    modelCount: t.exposeInt('modelCount', {
      nullable: true,
      description:
        'Number of models that the provider offers for the key, at most 1,000; null if the provider does not tell.',
    }),
    tookMs: t.exposeInt('tookMs', { description: 'Duration of the test in milliseconds.' }),
  }),
});

addMutation('testProviderKey', {
  description:
    'Tests a provider key by one cheap call of the provider: either a stored key, or one that is not stored and that the caller could create. The number of calls in a minute is limited.',
  needs: [],
  input: (t) => ({
    providerKeyId: t.id({ description: `${descriptions.id} Omit the other members then.` }),
    provider: t.field({ type: ModelProviderEnum, description: 'Provider of a key that is not stored.' }),
    key: t.string({ description: `Key that is not stored. ${descriptions.key}` }),
    baseUrl: t.field({ type: 'URI', description: `Base URL for a key that is not stored. ${descriptions.baseUrl}` }),
  }),
  payload: {
    test: { type: ProviderKeyTest, description: 'Result of the test. Null if there are user errors.' },
    providerKey: {
      type: ProviderKey,
      description: 'Stored key after the test. Null if the key is not stored, or there are user errors.',
    },
  },
  act: async ({ providerKeyId, provider, key, baseUrl }, { domain }) => {
    if (providerKeyId == null) {
      const test = await checkUnsavedKey(domain, { provider, key, baseUrl });
      return { test, providerKey: null };
    }
    if (provider != null || key != null || baseUrl != null) {
      throw refuse(
        ['providerKeyId'],
        '"providerKeyId" must be given alone: a stored key is only sent to its own server.',
      );
    }
    return checkStoredKey(domain, providerKeyId);
  },
});
