import { z } from '@hono/zod-openapi';
import type { Context } from '../../../domain/context.ts';
import { createApiKey, createKeyOf } from '../../../domain/identity/keys/api-keys.ts';
import { type ApiKeyRecord, isActive } from '../../../domain/identity/keys/key-record.ts';
import { keyStatuses, listApiKeys } from '../../../domain/identity/keys/list-api-keys.ts';
import { revokeApiKey } from '../../../domain/identity/keys/revoke-api-keys.ts';
import { rotateApiKey } from '../../../domain/identity/keys/rotate-api-key.ts';
import { requireManagingAll } from '../../../domain/identity/people/list-service-users.ts';
import { createServiceUser } from '../../../domain/identity/people/service-users.ts';
import { prefixedId } from '../../../domain/ids.ts';
import { textParam } from '../query.ts';
import { invalidRequest } from '../refusal.ts';
import type { VersionApi } from '../version-api.ts';
import { page, pageOf, pageQuery, presentPage, time, timeSchema } from './dialect.ts';
import { presentOne, serviceUser } from './service-users.ts';

const provisionRequest = z
  .object({
    name: z.string().openapi({ minLength: 1, maxLength: 256 }),
    role_id: z.string(),
    ttl_seconds: z.number().openapi({ type: 'integer', minimum: 1, maximum: 31_536_000 }),
  })
  .openapi('ServiceUserCreateRequest');

const provisioned = z.object({ service_user: serviceUser, token: z.string() }).openapi('ServiceUserCreated');

const keyRequest = z
  .object({ name: z.string().openapi({ minLength: 1, maxLength: 256 }), expires_at: timeSchema.nullish() })
  .openapi('ApiKeyCreateRequest');

const rotateRequest = z
  .object({ new_key_expires_at: timeSchema.nullish(), revoke_current: z.boolean().nullish() })
  .openapi('ApiKeyRotateRequest');

const madeKey = z
  .object({ api_key_id: z.string(), api_key_name: z.string(), token: z.string() })
  .openapi('ApiKeyCreated');

const apiKey = z
  .object({
    api_key_id: z.string(),
    api_key_name: z.string(),
    created_at: timeSchema,
    expires_at: timeSchema.nullable(),
    is_active: z.boolean(),
    last_used_at: timeSchema.nullable(),
    revoked_at: timeSchema.nullable(),
  })
  .openapi('ApiKey');

const timeOrNull = (at: Date | null) => (at === null ? null : time(at));

function presentKey(context: Context, key: ApiKeyRecord): z.input<typeof apiKey> {
  return {
    api_key_id: prefixedId('apiKey', key.id),
    api_key_name: key.name,
    created_at: time(key.createdAt),
    expires_at: timeOrNull(key.expiresAt),
    is_active: isActive(key, context.now()),
    last_used_at: timeOrNull(key.lastUsedAt),
    revoked_at: timeOrNull(key.revokedAt),
  };
}

function presentMade({ apiKey: key, token }: { apiKey: ApiKeyRecord; token: string }): z.input<typeof madeKey> {
  return { api_key_id: prefixedId('apiKey', key.id), api_key_name: key.name, token };
}

// One second before the year 10000: PostgreSQL cannot read the text of later times.
const latest = 253_402_300_799;

function parseTime(name: string, seconds: number | null | undefined): Date | null {
  if (seconds == null) return null;
  if (seconds >= 0 && seconds <= latest) return new Date(seconds * 1_000);
  const msg = `"${name}" must be a time in Unix seconds, but was ${seconds}.`;
  throw invalidRequest([{ loc: ['body', name], msg, type: 'value_error' }]);
}

function readTtl(context: Context, seconds: number): Date {
  if (Number.isInteger(seconds) && seconds >= 1 && seconds <= 31_536_000) {
    return new Date(context.now().getTime() + seconds * 1_000);
  }
  const msg = `"ttl_seconds" must be an integer from 1 to 31536000, but was ${seconds}.`;
  throw invalidRequest([{ loc: ['body', 'ttl_seconds'], msg, type: 'value_error' }]);
}

const keys = '/v3beta1/enterprise/service-users/{service_user_id}/api-keys';

/**
 * `/v3beta1/…/service-users` creates service users with their first key; `…/api-keys` creates further keys. Tokens are
 * shown once.
 */
export function serveApiKeys(api: VersionApi): void {
  for (const [path, name] of [
    ['/v3beta1/enterprise/service-users', 'createServiceUser'],
    ['/v3beta1/organizations/{org_id}/service-users', 'createOrganizationServiceUser'],
  ] as const) {
    const isOfOrganization = path.includes('{org_id}');
    api.serve(
      {
        method: 'post',
        paths: [path],
        name,
        summary: `Make a service user of the ${isOfOrganization ? 'organization' : 'enterprise'} and its first key`,
        body: provisionRequest,
        answer: provisioned,
        refusals: isOfOrganization ? [400, 403, 404, 413, 422] : [400, 403, 413, 422],
      },
      async ({ context, body, param }) => {
        const expiresAt = readTtl(context, body.ttl_seconds);
        const organizationId = isOfOrganization ? param('org_id') : null;
        const input = { name: body.name, roleId: body.role_id, expiresAt, organizationId };
        let token = '';
        const made = await createServiceUser(context, input, {
          async within(tx, record) {
            ({ token } = await createKeyOf(context, tx, record, { name: record.name, expiresAt }));
          },
        });
        return { service_user: await presentOne(context, made), token };
      },
    );
  }

  api.serve(
    {
      method: 'get',
      paths: [keys],
      name: 'listServiceUserKeys',
      summary: 'List the keys of a service user, newest first',
      query: z.object({
        ...pageQuery,
        status: textParam('status', { description: `Which keys: ${keyStatuses.join(', ')}; active when left out.` }),
      }),
      answer: pageOf(apiKey),
      refusals: [403, 404, 422],
    },
    async ({ context, param, query }) => {
      requireManagingAll(context);
      const scope = { of: 'serviceUser', serviceUserId: param('service_user_id') } as const;
      const found = await listApiKeys(context, scope, query.status ?? 'active', query, page);
      return presentPage(found, (key) => presentKey(context, key));
    },
  );

  api.serve(
    {
      method: 'post',
      paths: [keys],
      name: 'createServiceUserKey',
      summary: 'Make a key of a service user',
      body: keyRequest,
      answer: madeKey,
      refusals: [403, 404, 413, 422],
    },
    async ({ context, param, body }) => {
      requireManagingAll(context);
      const expiresAt = parseTime('expires_at', body.expires_at);
      const serviceUserId = param('service_user_id');
      return presentMade(
        await createApiKey(context, { kind: 'SERVICE_USER', name: body.name, serviceUserId, expiresAt }),
      );
    },
  );

  api.serve(
    {
      method: 'delete',
      paths: [`${keys}/{api_key_id}`],
      name: 'revokeServiceUserKey',
      summary: 'Revoke a key of a service user',
      answer: apiKey,
      refusals: [403, 404, 409],
    },
    async ({ context, param }) => {
      const path = { apiKeyId: param('api_key_id'), serviceUserId: param('service_user_id') };
      requireManagingAll(context, path.serviceUserId);
      return presentKey(context, await revokeApiKey(context, path));
    },
  );

  api.serve(
    {
      method: 'post',
      paths: [`${keys}/{api_key_id}/rotate`],
      name: 'rotateServiceUserKey',
      summary: 'Replace a key of a service user',
      body: rotateRequest,
      answer: madeKey,
      refusals: [400, 403, 404, 413, 422],
      // 400 for a key that is not active, where other routes answer 409 (docs/wire/v3.md#keys-of-service-users).
      statusOf: { INVALID_STATE: 400 },
    },
    async ({ context, param, body }) => {
      const path = { apiKeyId: param('api_key_id'), serviceUserId: param('service_user_id') };
      requireManagingAll(context, path.serviceUserId);
      const newExpiresAt = parseTime('new_key_expires_at', body.new_key_expires_at);
      return presentMade(await rotateApiKey(context, path, { newExpiresAt, revokeCurrent: body.revoke_current }));
    },
  );
}
