import { z } from '@hono/zod-openapi';
import { prefixedId } from '../../../domain/ids.ts';
import { createSecret, deleteSecret, maxSecrets } from '../../../domain/library/secrets/change-secrets.ts';
import { listSecrets, type SecretRecord, secretTypes } from '../../../domain/library/secrets/secrets.ts';
import { Reply } from '../../../http/reply.ts';
import type { VersionApi } from '../version-api.ts';
import { organizationOf, time } from './dialect.ts';

const createSecretRequest = z
  .object({
    type: z.enum(secretTypes),
    key: z.string().openapi({ description: 'Its name, unique in the organization.' }),
    value: z.string().openapi({ description: 'At most 65,536 characters; never given back.' }),
    sensitive: z.boolean(),
    note: z.string(),
  })
  .openapi('CreateSecretRequest');

// The names of both published editions of the list (docs/wire/v1.md#secrets).
const secretMetadata = z
  .object({
    secret_id: z.string(),
    secret_type: z.enum(['cookie', 'key-value', 'dictionary', 'totp']),
    secret_name: z.string(),
    created_at: z.iso.datetime(),
    id: z.string(),
    type: z.enum(['cookie', 'key-value', 'dictionary', 'totp']),
    key: z.string(),
  })
  .openapi('SecretMetadata');

function presentSecret(secret: SecretRecord): z.input<typeof secretMetadata> {
  const id = prefixedId('secret', secret.id);
  const { type, key } = secret;
  return { secret_id: id, secret_type: type, secret_name: key, created_at: time(secret.createdAt), id, type, key };
}

/** `/v1/secrets`. */
export function serveSecrets(api: VersionApi): void {
  api.serve(
    {
      method: 'get',
      paths: ['/v1/secrets'],
      name: 'listSecrets',
      successor: 'GET /v3/organizations/{org_id}/secrets',
      summary: 'List the secrets of the organization, newest first, without their values',
      answer: z.object({ secrets: z.array(secretMetadata) }),
      refusals: [403, 422],
    },
    async ({ context }) => {
      const organizationId = await organizationOf(context);
      // Reads all of them: the limit of an organization is one page.
      const { items } = await listSecrets(context, { organizationId }, { max: maxSecrets, default: maxSecrets });
      return { secrets: items.map(presentSecret) };
    },
  );

  api.serve(
    {
      method: 'post',
      paths: ['/v1/secrets'],
      name: 'createSecret',
      successor: 'POST /v3/organizations/{org_id}/secrets',
      summary: 'Make a secret',
      body: createSecretRequest,
      answer: z.object({ id: z.string() }),
      status: 201,
      refusals: [400, 403, 409, 413, 422],
    },
    async ({ context, body }) => {
      const { type, key, value, sensitive: isSensitive, note } = body;
      const organizationId = await organizationOf(context);
      const secret = await createSecret(context, { type, key, value, isSensitive, note }, organizationId);
      return { id: prefixedId('secret', secret.id) };
    },
  );

  api.serve(
    {
      method: 'delete',
      paths: ['/v1/secrets/{secret_id}'],
      name: 'deleteSecret',
      successor: 'DELETE /v3/organizations/{org_id}/secrets/{secret_id}',
      summary: 'Delete a secret',
      refusals: [403, 404, 422],
    },
    async ({ context, param }) => {
      const organizationId = await organizationOf(context);
      await deleteSecret(context, { organizationId, secretId: param('secret_id') });
      return new Reply(204);
    },
  );
}
