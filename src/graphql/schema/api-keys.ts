import { globalId, prefixedId } from '../../domain/ids.ts';
import { createApiKey } from '../../domain/keys/api-keys.ts';
import type { ApiKeyRecord } from '../../domain/keys/key-record.ts';
import { builder } from '../builder.ts';
import { ApiKeyKindEnum } from './enums.ts';
import { clientMutationIdDescription, inputDescription, payloadType, toPayload } from './payloads.ts';

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

builder.mutationField('createApiKey', (t) =>
  t.field({
    type: CreateApiKeyPayload,
    description: 'Makes a key and shows its token, once.',
    args: { input: t.arg({ type: CreateApiKeyInput, required: true, description: inputDescription }) },
    resolve: (_root, { input }, { domain }) =>
      toPayload(input, { apiKey: null, token: null }, () => createApiKey(domain, input)),
  }),
);
