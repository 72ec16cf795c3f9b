import { prefixedId } from '../../domain/ids.ts';
import { createApiKey } from '../../domain/keys/api-keys.ts';
import { type ApiKeyRecord, isActive } from '../../domain/keys/key-record.ts';
import { type KeyListScope, keysOf } from '../../domain/keys/list-api-keys.ts';
import { revokeAllApiKeys, revokeApiKey } from '../../domain/keys/revoke-api-keys.ts';
import { rotateApiKey } from '../../domain/keys/rotate-api-key.ts';
import type { PageRequest } from '../../domain/pages.ts';
import type { ListOrder } from '../../domain/timed-pages.ts';
import { builder } from '../builder.ts';
import { nestedConnection } from '../connections.ts';
import type { GraphqlContext } from '../context.ts';
import { addMutation } from './add-mutation.ts';
import { countedConnection } from './counted-connection.ts';
import { Enterprise } from './enterprise-ref.ts';
import { ApiKeyKindEnum, ApiKeyStatusEnum } from './enums.ts';
import { createdBounds, listArgs, orderInput, parseListFilter, readId } from './list-inputs.ts';
import { boundary, exceptOwn } from './needs.ts';
import { Organization } from './organization-ref.ts';
import { clientMutationIdDescription, payloadType } from './payloads.ts';
import { Role, ServiceUser } from './people.ts';
import { loadPrincipal, Principal, ServiceKey } from './principals.ts';
import { ViewerType } from './viewer.ts';

/** ApiKey of the contract. */
export const ApiKey = builder.objectRef<ApiKeyRecord>('ApiKey');
builder.node(ApiKey, {
  description: 'A key. Its token was shown once, when it was made.',
  id: { resolve: ({ id }) => id, description: 'The global ID.' },
  fields: (t) => ({
    apiKeyId: t.string({ description: 'The id as REST writes it.', resolve: ({ id }) => prefixedId('apiKey', id) }),
    kind: t.expose('kind', { type: ApiKeyKindEnum, description: 'What it is for.' }),
    name: t.exposeString('name', { description: 'Its name.' }),
    display: t.exposeString('display', { description: 'How its token begins.' }),
    organization: t.field({
      type: Organization,
      nullable: true,
      description: 'The one organization that it acts in, or that its service user is of; null: none in particular.',
      resolve: ({ organizationId }, _args, { loaders }) =>
        organizationId === null ? null : loaders.organizations.load(organizationId),
    }),
    owner: t.field({
      type: Principal,
      nullable: true,
      description:
        'The principal that acts with it: its user, its service user, or for a key of kind SERVICE the key itself; null: the viewer may not see that principal.',
      resolve: (key, _args, context) =>
        loadPrincipal(context, { ...key, serviceKeyId: key.kind === 'SERVICE' ? key.id : null }),
    }),
    role: t.field({
      type: Role,
      nullable: true,
      description: 'The role that a service key carries; others have those of their owner.',
      resolve: ({ roleId }, _args, { loaders }) => (roleId === null ? null : loaders.roles.load(roleId)),
    }),
    isActive: t.boolean({
      description: 'Neither revoked nor expired.',
      resolve: (key, _args, { domain }) => isActive(key, domain.now()),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    lastUsedAt: t.expose('lastUsedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was last used, up to half a minute late.',
    }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', nullable: true, description: 'When it ends; null: never.' }),
    revokedAt: t.expose('revokedAt', { type: 'DateTime', nullable: true, description: 'When it was revoked.' }),
  }),
});

const ApiKeyConnection = countedConnection(ApiKey, 'ApiKey', {
  page: 'A page of keys.',
  edge: 'A key in a list.',
});

builder.objectField(ServiceKey, 'apiKey', (t) =>
  t.field({
    type: ApiKey,
    nullable: true,
    description: 'The key, with its role and its dates; null: the viewer may not see the keys there.',
    resolve: ({ id }, _args, { loaders }) => loaders.apiKeys.load(id),
  }),
);

const ApiKeyFilterInput = builder.inputType('ApiKeyFilter', {
  description: 'Narrows a list of keys: all members that are given must hold, and of a list any one value.',
  fields: (t) => ({
    status: t.field({
      type: ApiKeyStatusEnum,
      description: 'Only keys in this state. Left out: ACTIVE, those that can be used.',
    }),
    kind: t.field({ type: [ApiKeyKindEnum], description: 'Only keys of one of these kinds.' }),
    search: t.string({ description: 'Only keys whose name contains this text, upper and lower case alike.' }),
    userId: t.id({ description: 'Only keys of this user, by its global ID or any form of its id.' }),
    serviceUserId: t.id({ description: 'Only keys of this service user, by its global ID or any form of its id.' }),
    ...createdBounds(t),
  }),
});

const ApiKeyOrderInput = orderInput('ApiKey', 'When the key was made.');

interface KeyListArgs extends PageRequest {
  readonly filter?: typeof ApiKeyFilterInput.$inferInput | null | undefined;
  readonly orderBy?: ListOrder<'createdAt'> | null | undefined;
}

async function keyConnection(context: GraphqlContext, scope: KeyListScope, args: KeyListArgs) {
  const { status, kind, userId, serviceUserId } = args.filter ?? {};
  const filter = {
    ...parseListFilter(args.filter),
    status: status ?? undefined,
    kinds: kind ?? undefined,
    userId: readId('user', userId),
    serviceUserId: readId('serviceUser', serviceUserId),
  };
  return nestedConnection(context, keysOf(context.domain, scope, filter, args.orderBy), args);
}

builder.objectFields(Organization, (t) => ({
  apiKeys: t.connection(
    {
      type: ApiKey,
      ...boundary('manageOrganizationKeys'),
      description:
        'Its service keys and those of its service users, newest first unless ordered otherwise; those of users bound to it for who manages users.',
      args: listArgs(t.arg, ApiKeyFilterInput, ApiKeyOrderInput),
      resolve: async ({ id }, args, context) => keyConnection(context, { of: 'organization', id }, args),
    },
    ApiKeyConnection,
  ),
}));

builder.objectFields(Enterprise, (t) => ({
  apiKeys: t.connection(
    {
      type: ApiKey,
      ...boundary(['manageEnterpriseServiceKeys', 'manageUserKeys']),
      description:
        'Keys of the whole enterprise, newest first unless ordered otherwise: of services with MANAGE_ACCOUNT_SERVICE_USERS, of users with MANAGE_ACCOUNT_MEMBERSHIP.',
      args: listArgs(t.arg, ApiKeyFilterInput, ApiKeyOrderInput),
      resolve: async (_enterprise, args, context) => keyConnection(context, { of: 'enterprise' }, args),
    },
    ApiKeyConnection,
  ),
}));

builder.objectFields(ServiceUser, (t) => ({
  apiKeys: t.connection(
    {
      type: ApiKey,
      description:
        'Its keys, newest first unless ordered otherwise: none for a viewer who neither is it nor manages it.',
      args: listArgs(t.arg, ApiKeyFilterInput, ApiKeyOrderInput),
      resolve: async ({ id }, args, context) => keyConnection(context, { of: 'serviceUser', id }, args),
    },
    ApiKeyConnection,
  ),
}));

builder.objectFields(ViewerType, (t) => ({
  apiKeys: t.connection(
    {
      type: ApiKey,
      description:
        'Its own keys, newest first unless ordered otherwise; of a key that acts in one organization, those for that one.',
      args: listArgs(t.arg, ApiKeyFilterInput, ApiKeyOrderInput),
      resolve: async (_viewer, args, context) => keyConnection(context, { of: 'viewer' }, args),
    },
    ApiKeyConnection,
  ),
}));

const CreateApiKeyInput = builder.inputType('CreateApiKeyInput', {
  description: 'What a key is made from.',
  fields: (t) => ({
    kind: t.field({ type: ApiKeyKindEnum, required: true, description: 'What it is for.' }),
    name: t.string({ required: true, description: 'What to call it.' }),
    organizationId: t.id({
      description:
        'The organization of a PERSONAL or SERVICE key; may be left out when there is one, and for a SERVICE key with a role on the enterprise, which acts there.',
    }),
    userId: t.id({ description: 'Whose it is, for the two kinds of users; the caller when left out.' }),
    serviceUserId: t.id({ description: 'Whose it is, for SERVICE_USER.' }),
    roleId: t.id({ description: 'The role of a SERVICE key; org_admin when left out.' }),
    expiresAt: t.field({ type: 'DateTime', description: 'When it ends; never when left out.' }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const CreateApiKeyPayload = payloadType<{ apiKey: ApiKeyRecord; token: string }>(
  'CreateApiKeyPayload',
  'A key that was made.',
  (t) => ({
    apiKey: t.expose('apiKey', { type: ApiKey, nullable: true, description: 'The key.' }),
    token: t.exposeString('token', { nullable: true, description: 'Its token: shown now, and never again.' }),
  }),
);

addMutation('createApiKey', {
  input: CreateApiKeyInput,
  payload: CreateApiKeyPayload,
  needs: [exceptOwn('createServiceKey', 'manageEnterpriseServiceKeys', 'createKeyForUser')],
  description: 'Makes a key and shows its token, once.',
  act: (input, { domain }) => createApiKey(domain, input),
});

const apiKeyIdDescription = 'The key: its global ID, or any form of its id.';

const RevokeApiKeyInput = builder.inputType('RevokeApiKeyInput', {
  description: 'Which key is to end.',
  fields: (t) => ({
    apiKeyId: t.id({ required: true, description: apiKeyIdDescription }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const RevokeApiKeyPayload = payloadType<{ apiKey: ApiKeyRecord }>(
  'RevokeApiKeyPayload',
  'A key that was revoked.',
  (t) => ({ apiKey: t.expose('apiKey', { type: ApiKey, nullable: true, description: 'The key.' }) }),
);

addMutation('revokeApiKey', {
  input: RevokeApiKeyInput,
  payload: RevokeApiKeyPayload,
  needs: [],
  description: 'Ends a key for good: one’s own, or one of who the viewer manages. Its sockets and streams close.',
  act: async (input, { domain }) => ({ apiKey: await revokeApiKey(domain, input) }),
});

const RevokeAllApiKeysInput = builder.inputType('RevokeAllApiKeysInput', {
  description: 'Nothing to choose.',
  fields: (t) => ({ clientMutationId: t.string({ description: clientMutationIdDescription }) }),
});

const RevokeAllApiKeysPayload = payloadType<{ revokedCount: number }>(
  'RevokeAllApiKeysPayload',
  'Keys that were revoked.',
  (t) => ({ revokedCount: t.exposeInt('revokedCount', { nullable: true, description: 'How many.' }) }),
);

addMutation('revokeAllApiKeys', {
  input: RevokeAllApiKeysInput,
  payload: RevokeAllApiKeysPayload,
  needs: ['revokeAllKeys', 'manageUserKeys', 'manageEnterpriseServiceKeys'],
  description:
    'Ends all keys of users and all service keys, in every organization, the one that asks among them; those of service users stay.',
  act: async (_input, { domain }) => ({ revokedCount: await revokeAllApiKeys(domain) }),
});

const RotateApiKeyInput = builder.inputType('RotateApiKeyInput', {
  description: 'Which key is to have a successor.',
  fields: (t) => ({
    apiKeyId: t.id({ required: true, description: apiKeyIdDescription }),
    newExpiresAt: t.field({
      type: 'DateTime',
      description: 'When the new one ends. Left out: it lives as long as the present one was meant to.',
    }),
    revokeCurrent: t.boolean({ defaultValue: true, description: 'Whether the present one ends now.' }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const RotateApiKeyPayload = payloadType<{ apiKey: ApiKeyRecord; token: string }>(
  'RotateApiKeyPayload',
  'A key that has a successor.',
  (t) => ({
    apiKey: t.expose('apiKey', { type: ApiKey, nullable: true, description: 'The new key.' }),
    token: t.exposeString('token', { nullable: true, description: 'Its token: shown now, and never again.' }),
  }),
);

addMutation('rotateApiKey', {
  input: RotateApiKeyInput,
  payload: RotateApiKeyPayload,
  needs: [],
  description: 'Makes a new key with the name, owner, organization and role of another, and shows its token, once.',
  act: (input, { domain }) => rotateApiKey(domain, input, input),
});
