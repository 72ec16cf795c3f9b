import { z } from '@hono/zod-openapi';
import { deleteOrganization, updateOrganization } from '../../../domain/identity/organizations/change-organization.ts';
import {
  createOrganization,
  getEnterpriseOrganization,
  listEnterpriseOrganizations,
} from '../../../domain/identity/organizations/organizations.ts';
import type { OrganizationRecord } from '../../../domain/identity/organizations/use-organization.ts';
import { prefixedId } from '../../../domain/ids.ts';
import type { VersionApi } from '../version-api.ts';
import { page, pageOf, pageQuery, presentPage, time, timeSchema } from './dialect.ts';

const acuLimit = z
  .number()
  .nullish()
  .openapi({ type: ['integer', 'null'], minimum: 0 });

const organizationCreateRequest = z
  .object({ name: z.string(), max_cycle_acu_limit: acuLimit, max_session_acu_limit: acuLimit })
  .openapi('OrganizationCreateRequest');

const organizationUpdateRequest = z
  .object({ name: z.string().nullish(), max_cycle_acu_limit: acuLimit, max_session_acu_limit: acuLimit })
  .openapi('OrganizationUpdateRequest');

const organizationResponse = z
  .object({
    org_id: z.string(),
    name: z.string(),
    max_cycle_acu_limit: z.int().nullable(),
    max_session_acu_limit: z.int().nullable(),
    created_at: timeSchema,
    updated_at: timeSchema,
  })
  .openapi('OrganizationResponse');

function presentOrganization(organization: OrganizationRecord): z.input<typeof organizationResponse> {
  return {
    org_id: prefixedId('organization', organization.id),
    name: organization.name,
    max_cycle_acu_limit: organization.maxCycleAcuLimit,
    max_session_acu_limit: organization.maxSessionAcuLimit,
    created_at: time(organization.createdAt),
    updated_at: time(organization.updatedAt),
  };
}

/** `/v3/enterprise/organizations`. */
export function serveOrganizations(api: VersionApi): void {
  api.serve(
    {
      method: 'get',
      paths: ['/v3/enterprise/organizations'],
      name: 'listOrganizations',
      summary: 'List the organizations of the enterprise, newest first',
      query: z.object(pageQuery),
      answer: pageOf(organizationResponse),
      refusals: [403, 422],
    },
    async ({ context, query }) =>
      presentPage(await listEnterpriseOrganizations(context, query, page), presentOrganization),
  );

  api.serve(
    {
      method: 'post',
      paths: ['/v3/enterprise/organizations'],
      name: 'createOrganization',
      summary: 'Make an organization',
      body: organizationCreateRequest,
      answer: organizationResponse,
      refusals: [400, 403, 413, 422],
    },
    async ({ context, body }) =>
      presentOrganization(
        await createOrganization(context, {
          name: body.name,
          maxCycleAcuLimit: body.max_cycle_acu_limit,
          maxSessionAcuLimit: body.max_session_acu_limit,
        }),
      ),
  );

  api.serve(
    {
      method: 'get',
      paths: ['/v3/enterprise/organizations/{org_id}'],
      name: 'getOrganization',
      summary: 'Read an organization of the enterprise',
      answer: organizationResponse,
      refusals: [403, 404],
    },
    async ({ context, param }) => presentOrganization(await getEnterpriseOrganization(context, param('org_id'))),
  );

  api.serve(
    {
      method: 'patch',
      paths: ['/v3/enterprise/organizations/{org_id}'],
      name: 'updateOrganization',
      summary: 'Change an organization: what is left out stays, null clears a limit',
      body: organizationUpdateRequest,
      answer: organizationResponse,
      refusals: [400, 403, 404, 413, 422],
    },
    async ({ context, param, body }) =>
      presentOrganization(
        await updateOrganization(context, param('org_id'), {
          // The wire's type lets a client send null to keep the name; there is nothing to clear.
          name: body.name ?? undefined,
          maxCycleAcuLimit: body.max_cycle_acu_limit,
          maxSessionAcuLimit: body.max_session_acu_limit,
        }),
      ),
  );

  api.serve(
    {
      method: 'delete',
      paths: ['/v3/enterprise/organizations/{org_id}'],
      name: 'deleteOrganization',
      summary: 'Delete an organization and all that is in it',
      answer: organizationResponse,
      refusals: [403, 404, 409],
    },
    async ({ context, param }) => presentOrganization(await deleteOrganization(context, param('org_id'))),
  );
}
