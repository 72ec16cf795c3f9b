import { createApiKey } from '../../../domain/identity/keys/api-keys.ts';
import { type ApiKeyRecord, findApiKeys, isActive } from '../../../domain/identity/keys/key-record.ts';
import { revokeAllApiKeys, revokeApiKey } from '../../../domain/identity/keys/revoke-api-keys.ts';
import { rotateApiKey } from '../../../domain/identity/keys/rotate-api-key.ts';
import { findRolesByIds } from '../../../domain/identity/people/list-roles.ts';
import { builder } from '../builder.ts';
import { addMutation, type InputFields } from './add-mutation.ts';
import { ApiKeyKindEnum } from './enums.ts';
import { exceptOwn } from './needs.ts';
import { organizationField, restIdField } from './organization-ref.ts';
import { shownOnceDescription } from './payloads.ts';
import { Role } from './people.ts';
import { loadPrincipal, Principal, ServiceKey } from './principals.ts';
import { organizationIdDescription, organizationIdOf, ScopeInput } from './scope-input.ts';

export const ApiKey = builder.objectRef<ApiKeyRecord>('ApiKey');
builder.node(ApiKey, {
  description: 'An API key. The token of a key is returned only once, when the key is created.',
  id: { resolve: ({ id }) => id, description: 'Global ID of the API key.' },
  fields: (t) => ({
    apiKeyId: restIdField(t, 'apiKey', 'REST id of the API key, which begins with `key-`.'),
    kind: t.expose('kind', {
      type: ApiKeyKindEnum,
      description: 'Kind of the API key, which determines its owner and purpose.',
    }),
    name: t.exposeString('name', { description: 'Name of the API key, chosen when the key was created.' }),
    display: t.exposeString('display', { description: 'First characters of the token, for recognizing the key.' }),
    organization: organizationField(
      t,
      'Organization in which the key acts, or to which its service user belongs. Null if there is no single organization.',
    ),
    owner: t.field({
      type: Principal,
      nullable: true,
      description:
        'Principal that acts with the key: its user, its service user or, for a key of kind `SERVICE`, the key itself. Null if the viewer may not see the principal.',
      resolve: (key, _args, context) =>
        loadPrincipal(context, { ...key, serviceKeyId: key.kind === 'SERVICE' ? key.id : null }),
    }),
    role: t.field({
      type: Role,
      nullable: true,
      description: 'Role of a service key. Null for keys of other kinds, which have the roles of their owner.',
      resolve: ({ roleId }, _args, { loaders }) => (roleId === null ? null : loaders.of(findRolesByIds).load(roleId)),
    }),
    isActive: t.boolean({
      description: 'Whether the key is neither revoked nor expired.',
      resolve: (key, _args, { domain }) => isActive(key, domain.now()),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Time when the key was created.' }),
    lastUsedAt: t.expose('lastUsedAt', {
      type: 'DateTime',
      nullable: true,
      description:
        'Time when the key was last used, with a delay of up to 30 seconds. Null if the key has not been used.',
    }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Time when the key expires. Null if the key does not expire.',
    }),
    revokedAt: t.expose('revokedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Time when the key was revoked. Null if the key has not been revoked.',
    }),
  }),
});

builder.objectField(ServiceKey, 'apiKey', (t) =>
  t.field({
    type: ApiKey,
    nullable: true,
    description:
      'API key behind the service key, with its role and dates. Null if the viewer may not see the keys of its organization or of the enterprise.',
    resolve: ({ id }, _args, { loaders }) => loaders.of(findApiKeys).load(id),
  }),
);

const userIdDescription = 'Global ID or REST id of the user. Defaults to the viewer, which must then be a user.';

const PersonalApiKeyInput = builder.inputType('PersonalApiKeyInput', {
  description: 'Values for a `PERSONAL` key, which belongs to a user and acts in one organization.',
  fields: (t) => ({
    userId: t.id({ description: userIdDescription }),
    organizationId: t.id({ description: organizationIdDescription }),
  }),
});

const PersonalAccessTokenInput = builder.inputType('PersonalAccessTokenInput', {
  description:
    'Values for a `PERSONAL_ACCESS_TOKEN` key, which belongs to a user and acts in all organizations that the user may use.',
  fields: (t) => ({ userId: t.id({ description: userIdDescription }) }),
});

const ServiceApiKeyInput = builder.inputType('ServiceApiKeyInput', {
  description: 'Values for a `SERVICE` key, which belongs to no user and has a role of its own.',
  fields: (t) => ({
    scope: t.field({
      type: ScopeInput,
      required: true,
      description: 'Scope in which the key acts: an organization or the enterprise.',
    }),
    roleId: t.id({
      required: true,
      description:
        'Global ID or REST id of the role that the key has in the scope, for example `org_member`. The role must not have permissions that the viewer lacks.',
    }),
  }),
});

const ServiceUserApiKeyInput = builder.inputType('ServiceUserApiKeyInput', {
  description: 'Values for a `SERVICE_USER` key, which has the roles of its service user.',
  fields: (t) => ({
    serviceUserId: t.id({ required: true, description: 'Global ID or REST id of the service user.' }),
  }),
});

const ApiKeyKindInput = builder.inputType('ApiKeyKindInput', {
  isOneOf: true,
  description: 'Kind of a new key, with the values that a key of this kind requires. Exactly one member must be given.',
  fields: (t) => ({
    personal: t.field({
      type: PersonalApiKeyInput,
      description: 'Creates a `PERSONAL` key: a key of a user for one organization.',
    }),
    personalAccessToken: t.field({
      type: PersonalAccessTokenInput,
      description:
        'Creates a `PERSONAL_ACCESS_TOKEN` key: a key of a user for all organizations that the user may use.',
    }),
    service: t.field({
      type: ServiceApiKeyInput,
      description: 'Creates a `SERVICE` key: a key that acts for itself, with a role of its own.',
    }),
    serviceUser: t.field({
      type: ServiceUserApiKeyInput,
      description: 'Creates a `SERVICE_USER` key: a key of a service user.',
    }),
  }),
});

type KindInput = typeof ApiKeyKindInput.$inferInput;

/** Owner of a new key, as the domain has it. */
function holderOf({ personal, personalAccessToken, service, serviceUser }: KindInput) {
  if (personal) return { kind: 'PERSONAL', ...personal } as const;
  if (personalAccessToken) return { kind: 'PERSONAL_ACCESS_TOKEN', ...personalAccessToken } as const;
  if (serviceUser) return { kind: 'SERVICE_USER', ...serviceUser } as const;
  // GraphQL guarantees exactly one member.
  if (!service) throw new Error('An input of one member has none.');
  return { kind: 'SERVICE', roleId: service.roleId, organizationId: organizationIdOf(service.scope) } as const;
}

const namesIn = (kind: string) =>
  Object.fromEntries(['userId', 'organizationId', 'roleId', 'scope'].map((name) => [name, `kind.${kind}.${name}`]));

/** The payload of createApiKey. */
export const CreateApiKeyPayload = addMutation('createApiKey', {
  description: 'Creates an API key and returns its token, which cannot be retrieved again.',
  needs: [exceptOwn('createServiceKey', 'manageEnterpriseServiceKeys', 'createKeyForUser')],
  input: (t) => ({
    kind: t.field({
      type: ApiKeyKindInput,
      required: true,
      description: 'Kind of the key, with the values that a key of this kind requires.',
    }),
    name: t.string({ required: true, description: 'Name of the key. 1 to 256 characters.' }),
    expiresAt: t.field({
      type: 'DateTime',
      description:
        'Time when the key expires. Must be in the future and not after the expiry of the viewer’s own key. Null if the key does not expire.',
    }),
  }),
  takes: 'idempotencyKey',
  payload: {
    apiKey: ApiKey,
    token: { type: 'String', description: `Token of the new key. ${shownOnceDescription}` },
  },
  names: ({ kind }) => namesIn(Object.keys(kind)[0] ?? ''),
  act: ({ name, expiresAt, kind }, { domain }, options) =>
    createApiKey(domain, { name, expiresAt, ...holderOf(kind) }, options),
});

const oneKey = (t: InputFields) => ({
  apiKeyId: t.id({ required: true, description: 'Global ID or REST id of the API key.' }),
});

addMutation('revokeApiKey', {
  description:
    'Revokes an API key permanently: a key of the viewer, or of a principal that the viewer manages. WebSocket connections and event streams that use the key are closed. Fails with `INVALID_STATE` if the key is already revoked.',
  needs: [],
  input: oneKey,
  payload: {
    apiKey: { type: ApiKey, description: 'API key that was revoked. Null if there are user errors.' },
  },
  act: async (input, { domain }) => ({ apiKey: await revokeApiKey(domain, input) }),
});

addMutation('revokeAllApiKeys', {
  description:
    'Revokes all keys of users and all service keys in every organization, including the key of the request if it is one of these. Keys of service users are not revoked.',
  needs: ['revokeAllKeys', 'manageUserKeys', 'manageEnterpriseServiceKeys'],
  payload: {
    revokedCount: { type: 'Int', description: 'Number of keys that were revoked. Null if there are user errors.' },
  },
  act: async (_input, { domain }) => ({ revokedCount: await revokeAllApiKeys(domain) }),
});

addMutation('rotateApiKey', {
  description:
    'Creates a key with the name, owner, organization and role of an active key and returns its token, which cannot be retrieved again. Revokes the current key unless `revokeCurrent` is false.',
  needs: [],
  input: (t) => ({
    ...oneKey(t),
    newExpiresAt: t.field({
      type: 'DateTime',
      description:
        'Time when the new key expires. Defaults to the same lifetime as that of the current key, counted from now.',
    }),
    revokeCurrent: t.boolean({
      defaultValue: true,
      description: 'Whether the current key is revoked immediately. Defaults to true.',
    }),
  }),
  takes: 'idempotencyKey',
  payload: {
    apiKey: { type: ApiKey, description: 'New API key. Null if there are user errors.' },
    token: { type: 'String', description: `Token of the new key. ${shownOnceDescription}` },
  },
  act: (input, { domain }, options) => rotateApiKey(domain, input, input, options),
});
