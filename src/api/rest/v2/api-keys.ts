import { z } from '@hono/zod-openapi';
import type { Context } from '../../../domain/context.ts';
import {
  requireKeyAdministrator,
  revokeAllApiKeys,
  revokeApiKey,
} from '../../../domain/identity/keys/revoke-api-keys.ts';
import { RequestError } from '../refusal.ts';
import type { VersionApi } from '../version-api.ts';
import { dialect, requireAdministratorKey } from './dialect.ts';

const done = z.object({ status: z.string() }).openapi('Status');

/** The one path on which a slash at the end makes a difference (docs/wire/v2.md#revoke-all-keys). */
const everyKey = '/v2/enterprise/api-keys/';

function requireAdministrator(context: Context): void {
  requireAdministratorKey(context, 'personal or enterprise service');
  requireKeyAdministrator(context);
}

/** `/v2/enterprise/api-keys`: revokes keys, one or all. */
export function serveApiKeys(api: VersionApi): void {
  api.serve(
    {
      method: 'delete',
      paths: [everyKey],
      name: 'revokeAllApiKeys',
      summary: 'Revoke all keys of users and services in every organization; keys of service users stay',
      answer: done,
      refusals: [403, 404],
    },
    async ({ context, request }) => {
      if (request.path !== everyKey) throw new RequestError(dialect.unknownRoute, { status: 404 });
      requireAdministrator(context);
      await revokeAllApiKeys(context);
      return { status: 'success' };
    },
  );

  api.serve(
    {
      method: 'delete',
      paths: [`${everyKey}{api_key_id}`],
      name: 'revokeApiKey',
      summary: 'Revoke a key',
      answer: done,
      refusals: [400, 403, 404],
    },
    async ({ context, param }) => {
      requireAdministrator(context);
      await revokeApiKey(context, { apiKeyId: param('api_key_id') });
      return { status: 'success' };
    },
  );
}
