import { z } from '@hono/zod-openapi';
import { listLimitedOrganizations, setCycleAcuLimit } from '../../../domain/identity/organizations/acu-limits.ts';
import type { OrganizationRecord } from '../../../domain/identity/organizations/use-organization.ts';
import { prefixedId } from '../../../domain/ids.ts';
import { Reply } from '../../../http/reply.ts';
import type { VersionApi } from '../version-api.ts';
import { page, pageOf, pageQuery, presentPage } from './dialect.ts';

const updateRequest = z
  .object({ cycle_acu_limit: z.number().openapi({ type: 'integer', minimum: 0 }) })
  .openapi('UpdateACULimitRequest');

const limitResponse = z
  .object({
    scope: z.enum(['enterprise', 'org', 'user']),
    cycle_acu_limit: z.int(),
    org_id: z.string().nullable(),
    user_id: z.string().nullable(),
  })
  .openapi('ACULimitResponse');

// Only organizations have limits; the wire's other scopes never occur.
function presentLimit(organization: OrganizationRecord): z.input<typeof limitResponse> {
  return {
    scope: 'org',
    cycle_acu_limit: organization.maxCycleAcuLimit ?? 0,
    org_id: prefixedId('organization', organization.id),
    user_id: null,
  };
}

const path = '/v3/enterprise/consumption/acu-limits/devin';
const organizationPath = `${path}/organizations/{org_id}` as const;
const done = () => new Reply(204);

/** `/v3/enterprise/consumption/acu-limits/devin`: the limits of organizations per cycle. */
export function serveAcuLimits(api: VersionApi): void {
  api.serve(
    {
      method: 'get',
      paths: [path],
      name: 'listAcuLimits',
      summary: 'List the organizations’ limits of ACUs in a cycle, the newest organization first',
      query: z.object(pageQuery),
      answer: pageOf(limitResponse),
      refusals: [403, 422],
    },
    async ({ context, query }) => presentPage(await listLimitedOrganizations(context, query, page), presentLimit),
  );

  api.serve(
    {
      method: 'put',
      paths: [organizationPath],
      name: 'setAcuLimit',
      summary: 'Limit an organization’s ACUs in a cycle',
      body: updateRequest,
      refusals: [400, 403, 404, 413, 422],
    },
    async ({ context, param, body }) => {
      await setCycleAcuLimit(context, param('org_id'), body.cycle_acu_limit);
      return done();
    },
  );

  api.serve(
    {
      method: 'delete',
      paths: [organizationPath],
      name: 'deleteAcuLimit',
      summary: 'Take an organization’s limit of ACUs in a cycle away',
      refusals: [403, 404],
    },
    async ({ context, param }) => {
      await setCycleAcuLimit(context, param('org_id'), null);
      return done();
    },
  );
}
