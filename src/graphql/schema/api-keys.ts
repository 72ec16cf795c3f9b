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
import { organizationIdDescription, organizationIdOf, ScopeInput } from './places.ts';
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

const userIdDescription = 'The user: its global ID, or any form of its id. The caller when left out.';

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

const PersonalApiKeyInput = builder.inputType('PersonalApiKeyInput', {
  description: 'A key of a user for one organization.',
  fields: (t) => ({
    userId: t.id({ description: userIdDescription }),
    organizationId: t.id({ description: organizationIdDescription }),
  }),
});

const PersonalAccessTokenInput = builder.inputType('PersonalAccessTokenInput', {
  description: 'A key of a user for all organizations that the user may use.',
  fields: (t) => ({ userId: t.id({ description: userIdDescription }) }),
});

const ServiceApiKeyInput = builder.inputType('ServiceApiKeyInput', {
  description: 'A key that acts for itself, with a role of its own.',
  fields: (t) => ({
    scope: t.field({
      type: ScopeInput,
      required: true,
      description: 'The organization in which it acts, or the enterprise.',
    }),
    roleId: t.id({
      required: true,
      description:
        'Its role in that scope: a global ID, or an id such as "org_member". It must hold nothing that the caller lacks.',
    }),
  }),
});

const ServiceUserApiKeyInput = builder.inputType('ServiceUserApiKeyInput', {
  description: 'A key of a service user, with its roles.',
  fields: (t) => ({
    serviceUserId: t.id({ required: true, description: 'The service user: its global ID, or any form of its id.' }),
  }),
});

const ApiKeyKindInput = builder.inputType('ApiKeyKindInput', {
  isOneOf: true,
  description: 'The kind of a new key, with what a key of this kind needs. Exactly one member.',
  fields: (t) => ({
    personal: t.field({ type: PersonalApiKeyInput, description: 'PERSONAL: a user’s key for one organization.' }),
    personalAccessToken: t.field({
      type: PersonalAccessTokenInput,
      description: 'PERSONAL_ACCESS_TOKEN: a user’s key for all of the user’s organizations.',
    }),
    service: t.field({ type: ServiceApiKeyInput, description: 'SERVICE: a key that acts for itself.' }),
    serviceUser: t.field({ type: ServiceUserApiKeyInput, description: 'SERVICE_USER: a key of a service user.' }),
  }),
});

type KindInput = typeof ApiKeyKindInput.$inferInput;

/** Whose a new key is, as the domain has it. */
function holderOf({ personal, personalAccessToken, service, serviceUser }: KindInput) {
  if (personal) return { kind: 'PERSONAL', ...personal } as const;
  if (personalAccessToken) return { kind: 'PERSONAL_ACCESS_TOKEN', ...personalAccessToken } as const;
  if (serviceUser) return { kind: 'SERVICE_USER', ...serviceUser } as const;
  // GraphQL itself lets pass only what has exactly one.
  if (!service) throw new Error('An input of one member has none.');
  return { kind: 'SERVICE', roleId: service.roleId, organizationId: organizationIdOf(service.scope) } as const;
}

const namesIn = (kind: string) =>
  Object.fromEntries(['userId', 'organizationId', 'roleId', 'scope'].map((name) => [name, `kind.${kind}.${name}`]));

const CreateApiKeyInput = builder.inputType('CreateApiKeyInput', {
  description: 'What a key is made from.',
  fields: (t) => ({
    kind: t.field({
      type: ApiKeyKindInput,
      required: true,
      description: 'The kind of the key, with what a key of this kind needs.',
    }),
    name: t.string({ required: true, description: 'The name of the key: 1 to 256 characters.' }),
    expiresAt: t.field({ type: 'DateTime', description: 'The time at which the key ends; null: it does not end.' }),
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
  names: ({ kind }) => namesIn(Object.keys(kind)[0] ?? ''),
  act: async ({ name, expiresAt, kind }, { domain }) => createApiKey(domain, { name, expiresAt, ...holderOf(kind) }),
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
