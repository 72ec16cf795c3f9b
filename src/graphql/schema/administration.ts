import { globalId, prefixedId } from '../../domain/ids.ts';
import { type ApiKeyRecord, createApiKey } from '../../domain/keys/api-keys.ts';
import { createOrganization } from '../../domain/organizations/organizations.ts';
import type { OrganizationRecord } from '../../domain/organizations/use-organization.ts';
import type { ServiceUserRecord, UserRecord } from '../../domain/people/find-people.ts';
import { createServiceUser } from '../../domain/people/service-users.ts';
import { createUser } from '../../domain/people/users.ts';
import { builder } from '../builder.ts';
import { ApiKeyKindEnum } from './enums.ts';
import { Organization } from './organization-ref.ts';
import { clientMutationIdDescription, inputDescription, payloadType, toPayload } from './payloads.ts';
import { ServiceUser, User } from './people.ts';

const ApiKey = builder.objectRef<ApiKeyRecord>('ApiKey').implement({
  description: 'A key. Its token was shown once, when it was made.',
  fields: (t) => ({
    id: t.id({ description: 'The global ID.', resolve: ({ id }) => globalId('apiKey', id) }),
    apiKeyId: t.string({ description: 'The id as REST writes it.', resolve: ({ id }) => prefixedId('apiKey', id) }),
    kind: t.expose('kind', { type: ApiKeyKindEnum, description: 'What it is for.' }),
    name: t.exposeString('name', { description: 'Its name.' }),
    display: t.exposeString('display', { description: 'How its token begins.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    lastUsedAt: t.expose('lastUsedAt', { type: 'DateTime', nullable: true, description: 'When it was last used.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', nullable: true, description: 'When it ends; null: never.' }),
    revokedAt: t.expose('revokedAt', { type: 'DateTime', nullable: true, description: 'When it was revoked.' }),
  }),
});

const CreateApiKeyInput = builder.inputType('CreateApiKeyInput', {
  description: 'What a key is made from.',
  fields: (t) => ({
    kind: t.field({ type: ApiKeyKindEnum, required: true, description: 'What it is for.' }),
    name: t.string({ required: true, description: 'What to call it.' }),
    organizationId: t.id({
      description: 'The organization of a PERSONAL or SERVICE key; may be left out when there is one.',
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

const CreateOrganizationInput = builder.inputType('CreateOrganizationInput', {
  description: 'What an organization is made from.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'What to call it.' }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const CreateOrganizationPayload = payloadType<{ organization: OrganizationRecord }>(
  'CreateOrganizationPayload',
  'An organization that was made.',
  (t) => ({
    organization: t.expose('organization', { type: Organization, nullable: true, description: 'The organization.' }),
  }),
);

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

const CreateServiceUserInput = builder.inputType('CreateServiceUserInput', {
  description: 'What a service user is made from.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'What to call it.' }),
    organizationId: t.id({ description: 'Its organization; enterprise-scoped when left out.' }),
    roleId: t.id({ description: 'Its role; org_admin, or account_member for the enterprise, when left out.' }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});

const CreateServiceUserPayload = payloadType<{ serviceUser: ServiceUserRecord }>(
  'CreateServiceUserPayload',
  'A service user that was made. It has no token until createApiKey makes one.',
  (t) => ({
    serviceUser: t.expose('serviceUser', { type: ServiceUser, nullable: true, description: 'The service user.' }),
  }),
);

builder.mutationFields((t) => ({
  createApiKey: t.field({
    type: CreateApiKeyPayload,
    description: 'Makes a key and shows its token, once.',
    args: { input: t.arg({ type: CreateApiKeyInput, required: true, description: inputDescription }) },
    resolve: (_root, { input }, { domain }) =>
      toPayload(input, { apiKey: null, token: null }, () => createApiKey(domain, input)),
  }),
  createOrganization: t.field({
    type: CreateOrganizationPayload,
    description: 'Makes an organization.',
    args: { input: t.arg({ type: CreateOrganizationInput, required: true, description: inputDescription }) },
    resolve: (_root, { input }, { domain }) =>
      toPayload(input, { organization: null }, async () => ({ organization: await createOrganization(domain, input) })),
  }),
  createUser: t.field({
    type: CreateUserPayload,
    description: 'Makes a user with its first role.',
    args: { input: t.arg({ type: CreateUserInput, required: true, description: inputDescription }) },
    resolve: (_root, { input }, { domain }) =>
      toPayload(input, { user: null }, async () => ({ user: await createUser(domain, input) })),
  }),
  createServiceUser: t.field({
    type: CreateServiceUserPayload,
    description: 'Makes a service user with its role.',
    args: { input: t.arg({ type: CreateServiceUserInput, required: true, description: inputDescription }) },
    resolve: (_root, { input }, { domain }) =>
      toPayload(input, { serviceUser: null }, async () => ({ serviceUser: await createServiceUser(domain, input) })),
  }),
}));
