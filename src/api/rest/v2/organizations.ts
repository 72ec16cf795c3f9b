import { z } from '@hono/zod-openapi';
import { createOrganizationOfOwn } from '../../../domain/identity/organizations/create-organization-of-own.ts';
import {
  listSizedOrganizations,
  type SizedOrganization,
  withSizes,
} from '../../../domain/identity/organizations/organization-sizes.ts';
import { createOrganization } from '../../../domain/identity/organizations/organizations.ts';
import { prefixedId } from '../../../domain/ids.ts';
import type { VersionApi } from '../version-api.ts';
import { requireAdministratorKey } from './dialect.ts';
import { page, pageOf, pageQuery, presentPage, readPage } from './offset-pages.ts';

const path = '/v2/enterprise/organizations';

const createRequest = z
  .object({
    display_name: z.string(),
    acu_limit: z
      .number()
      .nullish()
      .openapi({ type: ['integer', 'null'], minimum: 0, description: 'ACUs in a cycle.' }),
    add_creator_as_member: z
      .boolean()
      .nullish()
      .openapi({ default: true, description: 'Whether the key’s user becomes its administrator.' }),
  })
  .openapi('EnterpriseOrgCreate');

const organization = z
  .object({
    org_id: z.string(),
    org_name: z.string(),
    created_at: z.string().openapi({ format: 'date-time' }),
    max_cycle_acu_limit: z.int().nullable(),
    max_session_acu_limit: z.int().nullable(),
    org_admin_count: z.int().openapi({ description: 'Members with the role `org_admin`.' }),
    org_member_count: z.int().openapi({ description: 'All members.' }),
    org_user_count: z.int().openapi({ description: 'The same: only users are members.' }),
  })
  .openapi('OrganizationResponse');

function presentOrganization(record: SizedOrganization): z.input<typeof organization> {
  return {
    org_id: prefixedId('organization', record.id),
    org_name: record.name,
    created_at: record.createdAt.toISOString(),
    max_cycle_acu_limit: record.maxCycleAcuLimit,
    max_session_acu_limit: record.maxSessionAcuLimit,
    org_admin_count: record.adminCount,
    org_member_count: record.userCount,
    org_user_count: record.userCount,
  };
}

/** `/v2/enterprise/organizations`: for personal keys of administrators. */
export function serveOrganizations(api: VersionApi): void {
  api.serve(
    {
      method: 'get',
      paths: [path],
      name: 'listOrganizations',
      successor: 'GET /v3/enterprise/organizations',
      summary: 'List the organizations of the enterprise, oldest first',
      query: z.object(pageQuery),
      answer: pageOf(organization),
      refusals: [403, 422],
    },
    async ({ context, query }) => {
      requireAdministratorKey(context, 'personal');
      return presentPage(await listSizedOrganizations(context, readPage(query), page), presentOrganization);
    },
  );

  api.serve(
    {
      method: 'post',
      paths: [path],
      name: 'createOrganization',
      successor: 'POST /v3/enterprise/organizations',
      summary: 'Make an organization',
      body: createRequest,
      answer: organization,
      refusals: [400, 403, 413, 422],
    },
    async ({ context, body }) => {
      requireAdministratorKey(context, 'personal');
      const create = body.add_creator_as_member === false ? createOrganization : createOrganizationOfOwn;
      const made = await create(context, { name: body.display_name, maxCycleAcuLimit: body.acu_limit });
      const [sized] = await withSizes(context, [made]);
      return presentOrganization(sized as SizedOrganization);
    },
  );
}
