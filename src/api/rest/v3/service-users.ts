import { z } from '@hono/zod-openapi';
import type { Context } from '../../../domain/context.ts';
import type { ServiceUserRecord } from '../../../domain/identity/people/find-people.ts';
import {
  getServiceUser,
  listServiceUsers,
  readServiceUser,
  requireManagingAll,
} from '../../../domain/identity/people/list-service-users.ts';
import {
  assignRole,
  findRoleAssignments,
  type RoleAssignmentRecord,
  unassignRole,
} from '../../../domain/identity/people/role-assignments.ts';
import { deleteServiceUser } from '../../../domain/identity/people/service-users.ts';
import { parseId, prefixedId } from '../../../domain/ids.ts';
import type { Page } from '../../../domain/pages.ts';
import { booleanParam } from '../query.ts';
import type { VersionApi } from '../version-api.ts';
import { page, pageOf, pageQuery, presentPage, time, timeSchema } from './dialect.ts';
import { presentRoleAssignment, roleAssignment } from './roles.ts';

/** A service user on the wire. */
export const serviceUser = z
  .object({
    service_user_id: z.string(),
    name: z.string(),
    expires_at: timeSchema.nullable(),
    deleted_at: timeSchema.nullable(),
    role_assignments: z.array(roleAssignment),
  })
  .openapi('ServiceUser');

const roleRequest = z.object({ role_id: z.string() }).openapi('ServiceUserUpdateRoleRequest');

const of = {
  enterprise: '/v3/enterprise/members/service-users',
  managed: '/v3/enterprise/organizations/{org_id}/members/service-users',
} as const;

const listQuery = z.object({
  ...pageQuery,
  include_inactive: booleanParam('include_inactive', {
    description: 'Also those that were deleted or have expired.',
    default: false,
  }),
});

/** A {@link serviceUser} as the wire has it. */
export function presentServiceUser(
  record: ServiceUserRecord,
  assignments: readonly RoleAssignmentRecord[],
): z.input<typeof serviceUser> {
  return {
    service_user_id: prefixedId('serviceUser', record.id),
    name: record.name,
    expires_at: record.expiresAt === null ? null : time(record.expiresAt),
    deleted_at: record.deletedAt === null ? null : time(record.deletedAt),
    role_assignments: assignments.map(presentRoleAssignment),
  };
}

/** One service user with its roles. Within an organization, only the roles there. */
export async function presentOne(context: Context, record: ServiceUserRecord, organizationId?: string) {
  const roles = await findRoleAssignments(context, { serviceUserIds: [record.id] }, organizationId);
  return presentServiceUser(record, roles.get(record.id) ?? []);
}

async function presentServiceUsers(context: Context, users: Page<ServiceUserRecord>, organizationId?: string) {
  const ids = users.items.map(({ id }) => id);
  const roles = await findRoleAssignments(context, { serviceUserIds: ids }, organizationId);
  return presentPage(users, (record) => presentServiceUser(record, roles.get(record.id) ?? []));
}

// The id without its prefix, of an organization that the domain has accepted.
const unprefixedIdOf = (organizationId: string) => parseId('organization', organizationId) ?? organizationId;

/** `/v3/enterprise/members/service-users`: the service users of the enterprise and of all its organizations. */
export function serveServiceUsers(api: VersionApi): void {
  api.serve(
    {
      method: 'get',
      paths: [of.enterprise],
      name: 'listServiceUsers',
      summary: 'List the service users of the enterprise, newest first',
      query: listQuery,
      answer: pageOf(serviceUser),
      refusals: [403, 422],
    },
    async ({ context, query }) => {
      const filter = { includeInactive: query.include_inactive };
      return presentServiceUsers(context, await listServiceUsers(context, filter, query, page));
    },
  );

  api.serve(
    {
      method: 'get',
      paths: [`${of.enterprise}/{service_user_id}`],
      name: 'getServiceUser',
      summary: 'Read a service user with all its roles',
      answer: serviceUser,
      refusals: [403, 404],
    },
    async ({ context, param }) => {
      requireManagingAll(context);
      return presentOne(context, await getServiceUser(context, param('service_user_id')));
    },
  );

  for (const method of ['post', 'patch'] as const) {
    const mustExist = method === 'patch';
    api.serve(
      {
        method,
        paths: [`${of.enterprise}/{service_user_id}`],
        name: mustExist ? 'updateServiceUser' : 'assignServiceUser',
        summary: mustExist
          ? 'Give a service user another role on the enterprise, where it has one'
          : 'Give a service user a role on the enterprise',
        body: roleRequest,
        answer: serviceUser,
        refusals: [400, 403, 404, 409, 413, 422],
      },
      async ({ context, param, body }) => {
        const principal = { serviceUserId: param('service_user_id') };
        await assignRole(context, { principal, organizationId: null, roleId: body.role_id, mustExist });
        return presentOne(context, await readServiceUser(context, principal.serviceUserId));
      },
    );
  }

  api.serve(
    {
      method: 'delete',
      paths: [`${of.enterprise}/{service_user_id}`],
      name: 'deleteServiceUser',
      summary: 'Delete a service user: its roles and keys are gone at once',
      answer: serviceUser,
      refusals: [403, 404],
    },
    async ({ context, param }) => {
      requireManagingAll(context);
      const { serviceUser: deleted, roleAssignments } = await deleteServiceUser(context, param('service_user_id'));
      return presentServiceUser(deleted, roleAssignments);
    },
  );
}

/** The service users of one organization, for callers that manage the enterprise's service users. */
export function serveOrganizationServiceUsers(api: VersionApi): void {
  api.serve(
    {
      method: 'get',
      paths: [of.managed],
      name: 'listOrganizationServiceUsers',
      summary: 'List the service users of an organization with their roles there, newest first',
      query: listQuery,
      answer: pageOf(serviceUser),
      refusals: [403, 404, 422],
    },
    async ({ context, param, query }) => {
      const filter = { organizationId: param('org_id'), includeInactive: query.include_inactive };
      return presentServiceUsers(
        context,
        await listServiceUsers(context, filter, query, page),
        unprefixedIdOf(param('org_id')),
      );
    },
  );

  for (const method of ['post', 'patch'] as const) {
    const mustExist = method === 'patch';
    api.serve(
      {
        method,
        paths: [`${of.managed}/{service_user_id}`],
        name: mustExist ? 'updateOrganizationServiceUser' : 'assignOrganizationServiceUser',
        summary: mustExist
          ? 'Give a service user of an organization another role there'
          : 'Give a service user a role in an organization, or another one',
        body: roleRequest,
        answer: serviceUser,
        refusals: [400, 403, 404, 409, 413, 422],
      },
      async ({ context, param, body }) => {
        const organizationId = param('org_id');
        const principal = { serviceUserId: param('service_user_id') };
        await assignRole(context, { principal, organizationId, roleId: body.role_id, mustExist });
        const record = await readServiceUser(context, principal.serviceUserId);
        return presentOne(context, record, unprefixedIdOf(organizationId));
      },
    );
  }

  api.serve(
    {
      method: 'delete',
      paths: [`${of.managed}/{service_user_id}`],
      name: 'removeOrganizationServiceUser',
      summary: 'Take a service user’s role in an organization away',
      answer: serviceUser,
      refusals: [403, 404],
    },
    async ({ context, param }) => {
      const principal = { serviceUserId: param('service_user_id') };
      const taken = await unassignRole(context, { principal, organizationId: param('org_id') });
      return presentServiceUser(await readServiceUser(context, principal.serviceUserId), [taken]);
    },
  );
}
