import { z } from '@hono/zod-openapi';
import { listRoles } from '../../../domain/identity/people/list-roles.ts';
import type { RoleAssignmentRecord } from '../../../domain/identity/people/role-assignments.ts';
import type { RoleRecord } from '../../../domain/identity/people/roles.ts';
import { prefixedId } from '../../../domain/ids.ts';
import type { VersionApi } from '../version-api.ts';
import { page, pageOf, pageQuery, presentPage } from './dialect.ts';

const role = z
  .object({ role_id: z.string(), role_name: z.string(), role_type: z.enum(['enterprise', 'org']) })
  .openapi('Role');

/** A role assignment of a user or a service user; `org_id` null: in the enterprise. */
export const roleAssignment = z.object({ org_id: z.string().nullable(), role }).openapi('RoleAssignment');

function presentRole(record: RoleRecord): z.input<typeof role> {
  return {
    role_id: prefixedId('role', record.id),
    role_name: record.name,
    role_type: record.scope === 'organization' ? 'org' : 'enterprise',
  };
}

/** A {@link roleAssignment} as the wire has it. */
export function presentRoleAssignment({ organizationId, role }: RoleAssignmentRecord): z.input<typeof roleAssignment> {
  return {
    org_id: organizationId === null ? null : prefixedId('organization', organizationId),
    role: presentRole(role),
  };
}

/** `/v3/enterprise/roles`. */
export function serveRoles(api: VersionApi): void {
  api.serve(
    {
      method: 'get',
      paths: ['/v3/enterprise/roles'],
      name: 'listRoles',
      summary: 'List the roles of the enterprise, its own and the built-in ones',
      query: z.object(pageQuery),
      answer: pageOf(role),
      refusals: [403, 422],
    },
    async ({ context, query }) => presentPage(await listRoles(context, query, page), presentRole),
  );
}
