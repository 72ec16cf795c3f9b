import { z } from '@hono/zod-openapi';
import { prefixedId } from '../../../domain/ids.ts';
import { createSecret, deleteSecret } from '../../../domain/library/secrets/change-secrets.ts';
import { listSecrets, type SecretRecord, secretTypes } from '../../../domain/library/secrets/secrets.ts';
import type { VersionApi } from '../version-api.ts';
import { page, pageOf, pageQuery, presentPage, time, timeSchema } from './dialect.ts';

const collection = '/v3/organizations/{org_id}/secrets';

const secretCreateRequest = z
  .object({
    type: z.enum(secretTypes),
    key: z.string().openapi({ description: 'Its name, unique in the organization.' }),
    value: z.string().openapi({ description: 'At most 65,536 characters; never given back.' }),
    is_sensitive: z.boolean().nullish().openapi({ default: true }),
    note: z.string().nullish(),
  })
  .openapi('SecretCreateRequest');

const secretResponse = z
  .object({
    secret_id: z.string(),
    secret_type: z.enum(secretTypes),
    key: z.string().nullable(),
    note: z.string().nullable(),
    is_sensitive: z.boolean(),
    access_type: z.enum(['org', 'personal']),
    created_by: z.string().openapi({ description: 'A user or a service user; empty for a service key.' }),
    created_at: timeSchema,
    updated_by: z.string().nullable(),
    updated_at: timeSchema.nullable(),
  })
  .openapi('SecretResponse');

function presentSecret(secret: SecretRecord): z.input<typeof secretResponse> {
  const { userId, serviceUserId } = secret;
  const serviceUser = serviceUserId === null ? '' : prefixedId('serviceUser', serviceUserId);
  return {
    secret_id: prefixedId('secret', secret.id),
    secret_type: secret.type,
    key: secret.key,
    note: secret.note,
    is_sensitive: secret.isSensitive,
    access_type: 'org',
    created_by: userId === null ? serviceUser : prefixedId('user', userId),
    created_at: time(secret.createdAt),
    // This API cannot update a secret. GraphQL can, but only the audit log records who did.
    updated_by: null,
    updated_at: secret.updatedAt > secret.createdAt ? time(secret.updatedAt) : null,
  };
}

/** `/v3/organizations/{org_id}/secrets`. */
export function serveSecrets(api: VersionApi): void {
  api.serve(
    {
      method: 'get',
      paths: [collection],
      name: 'listSecrets',
      summary: 'List the secrets of an organization, newest first, without their values',
      query: z.object(pageQuery),
      answer: pageOf(secretResponse),
      refusals: [403, 404, 422],
    },
    async ({ context, query, param }) =>
      presentPage(await listSecrets(context, { organizationId: param('org_id'), ...query }, page), presentSecret),
  );

  api.serve(
    {
      method: 'post',
      paths: [collection],
      name: 'createSecret',
      summary: 'Make a secret',
      body: secretCreateRequest,
      answer: secretResponse,
      refusals: [400, 403, 404, 409, 413, 422],
    },
    async ({ context, body, param }) => {
      const { type, key, value, note, is_sensitive: isSensitive } = body;
      return presentSecret(await createSecret(context, { type, key, value, note, isSensitive }, param('org_id')));
    },
  );

  api.serve(
    {
      method: 'delete',
      paths: [`${collection}/{secret_id}`],
      name: 'deleteSecret',
      summary: 'Delete a secret',
      answer: secretResponse,
      refusals: [403, 404],
    },
    async ({ context, param }) =>
      presentSecret(await deleteSecret(context, { organizationId: param('org_id'), secretId: param('secret_id') })),
  );
}
