import { z } from '@hono/zod-openapi';
import { prefixedId } from '../../../domain/ids.ts';
import { createPlaybook, deletePlaybook, updatePlaybook } from '../../../domain/library/playbooks/change-playbooks.ts';
import { getPlaybook, listPlaybooks, type PlaybookRecord } from '../../../domain/library/playbooks/playbooks.ts';
import type { VersionApi } from '../version-api.ts';
import { valueFields } from '../wire-fields.ts';
import { page, pageOf, pageQuery, presentPage, time, timeSchema } from './dialect.ts';
import { accessTypeOf, accessTypeParam, accessTypeSchema, type RouteScope, routeScopes } from './scopes.ts';

/** The fields that a request sets and a response repeats. An omitted field stays; null clears it (docs/wire/v3.md#playbooks). */
const values = valueFields({
  title: z.string(),
  body: z.string(),
  macro: z.string().nullish().openapi({ description: '"!" and letters, digits, "_" or "-", such as "!my-macro".' }),
  structured_output_schema: z.record(z.string(), z.unknown()).nullish().openapi({
    description: 'JSON Schema (Draft 7) of what its sessions are to produce; at most 64 KB, self-contained.',
  }),
});

const playbookCreateRequest = z.object(values.request).openapi('PlaybookCreateRequest');

const playbookResponse = z
  .object({
    playbook_id: z.string(),
    access_type: accessTypeSchema,
    org_id: z.string().nullable(),
    ...values.response,
    created_at: timeSchema,
    created_by: z.string().openapi({ description: 'A user or a service user; empty for a service key.' }),
    updated_at: timeSchema,
    updated_by: z.string().openapi({ description: 'As `created_by`.' }),
  })
  .openapi('PlaybookResponse');

function actor(userId: string | null, serviceUserId: string | null): string {
  if (userId !== null) return prefixedId('user', userId);
  return serviceUserId === null ? '' : prefixedId('serviceUser', serviceUserId);
}

function presentPlaybook(playbook: PlaybookRecord): z.input<typeof playbookResponse> {
  const { organizationId } = playbook;
  return {
    playbook_id: prefixedId('playbook', playbook.id),
    access_type: organizationId === null ? 'enterprise' : 'org',
    org_id: organizationId === null ? null : prefixedId('organization', organizationId),
    ...values.present(playbook),
    created_at: time(playbook.createdAt),
    created_by: actor(playbook.userId, playbook.serviceUserId),
    updated_at: time(playbook.updatedAt),
    updated_by: actor(playbook.updatedByUserId, playbook.updatedByServiceUserId),
  };
}

/** `/v3/organizations/{org_id}/playbooks` and `/v3/enterprise/playbooks`. */
export function servePlaybooks(api: VersionApi): void {
  for (const scope of routeScopes) {
    serveCollection(api, scope);
    serveOne(api, scope);
  }
}

function serveCollection(api: VersionApi, { prefix, word, of, scopeOf, notThere }: RouteScope): void {
  const path = `${prefix}/playbooks` as const;
  api.serve(
    {
      method: 'get',
      paths: [path],
      name: `list${word}Playbooks`,
      summary: `List the playbooks ${of}, newest first`,
      query: z.object({ ...pageQuery, access_type: accessTypeParam }),
      answer: pageOf(playbookResponse),
      refusals: [403, ...notThere, 422],
    },
    async ({ context, query, param }) => {
      const { first, after, access_type } = query;
      const request = { scope: scopeOf(param), accessType: accessTypeOf(access_type), first, after };
      return presentPage(await listPlaybooks(context, request, page), presentPlaybook);
    },
  );

  api.serve(
    {
      method: 'post',
      paths: [path],
      name: `create${word}Playbook`,
      summary: `Make a playbook ${of}`,
      body: playbookCreateRequest,
      answer: playbookResponse,
      refusals: [400, 403, ...notThere, 409, 413, 422],
    },
    async ({ context, body, param }) =>
      presentPlaybook(await createPlaybook(context, scopeOf(param), values.parse(body))),
  );
}

function serveOne(api: VersionApi, { prefix, word, of, scopeOf }: RouteScope): void {
  const path = `${prefix}/playbooks/{playbook_id}` as const;
  api.serve(
    {
      method: 'get',
      paths: [path],
      name: `get${word}Playbook`,
      summary: `Read a playbook ${of}`,
      answer: playbookResponse,
      refusals: [403, 404],
    },
    async ({ context, param }) => presentPlaybook(await getPlaybook(context, param('playbook_id'), scopeOf(param))),
  );

  api.serve(
    {
      method: 'put',
      paths: [path],
      name: `update${word}Playbook`,
      summary: `Change a playbook ${of}: what may be null stays when it is left out`,
      body: playbookCreateRequest,
      answer: playbookResponse,
      refusals: [400, 403, 404, 409, 413, 422],
    },
    async ({ context, body, param }) =>
      presentPlaybook(await updatePlaybook(context, param('playbook_id'), values.parse(body), scopeOf(param))),
  );

  api.serve(
    {
      method: 'delete',
      paths: [path],
      name: `delete${word}Playbook`,
      summary: `Delete a playbook ${of}; its macro is free again`,
      answer: playbookResponse,
      refusals: [403, 404],
    },
    async ({ context, param }) => presentPlaybook(await deletePlaybook(context, param('playbook_id'), scopeOf(param))),
  );
}
