import { z } from '@hono/zod-openapi';
import type { Context } from '../../../domain/context.ts';
import { findIdpRoles } from '../../../domain/identity/idp-groups/idp-users.ts';
import { deleteUser } from '../../../domain/identity/people/change-users.ts';
import type { UserRecord } from '../../../domain/identity/people/find-people.ts';
import {
  getOrganizationUser,
  getUser,
  listOrganizationUsers,
  listUsers,
  readUser,
} from '../../../domain/identity/people/list-users.ts';
import {
  assignRole,
  findRoleAssignments,
  type RoleAssignmentRecord,
  unassignRole,
} from '../../../domain/identity/people/role-assignments.ts';
import { inviteUsers } from '../../../domain/identity/people/users.ts';
import { parseId, prefixedId } from '../../../domain/ids.ts';
import type { Page, PageRequest } from '../../../domain/pages.ts';
import { textParam } from '../query.ts';
import type { VersionApi } from '../version-api.ts';
import { page, pageOf, pageQuery, presentPage } from './dialect.ts';
import { idpRoleAssignment, presentIdpRoleAssignment } from './idp-users.ts';
import { presentRoleAssignment, roleAssignment } from './roles.ts';

const userShape = {
  user_id: z.string(),
  email: z.string().nullable(),
  name: z.string().nullable(),
  role_assignments: z.array(roleAssignment),
};
const user = z.object(userShape).openapi('User');

const userWithIdpRoles = z
  .object({
    ...userShape,
    idp_role_assignments: z
      .array(idpRoleAssignment)
      .openapi({ description: 'The roles that the user has by groups of an identity provider.' }),
  })
  .openapi('UserWithIdpRoles');

const inviteRequest = z
  .object({ emails: z.array(z.string()).openapi({ maxItems: 100 }), enterprise_role_id: z.string() })
  .openapi('UserBulkCreateRequest');

const roleRequest = z.object({ role_id: z.string() }).openapi('UserUpdateRoleRequest');

const of = {
  enterprise: '/v3/enterprise/members/users',
  managed: '/v3/enterprise/organizations/{org_id}/members/users',
  organization: '/v3/organizations/{org_id}/members/users',
} as const;

const listQuery = z.object({
  ...pageQuery,
  email: textParam('email', { description: 'Only the user with exactly this address, in any case.' }),
});

function presentUser(record: UserRecord, assignments: readonly RoleAssignmentRecord[]): z.input<typeof user> {
  return {
    user_id: prefixedId('user', record.id),
    email: record.email,
    name: record.name,
    role_assignments: assignments.map(presentRoleAssignment),
  };
}

// Within an organization, only the roles there.
async function present(
  context: Context,
  users: readonly UserRecord[],
  organizationId?: string,
): Promise<z.input<typeof user>[]> {
  const roles = await findRoleAssignments(context, { userIds: users.map(({ id }) => id) }, organizationId);
  return users.map((record) => presentUser(record, roles.get(record.id) ?? []));
}

async function presentOne(context: Context, record: UserRecord, organizationId?: string) {
  const [presented] = await present(context, [record], organizationId);
  return presented as z.input<typeof user>;
}

async function presentIdpRoles(context: Context, userId: string, organizationId?: string) {
  const id = parseId('user', userId) ?? userId;
  const roles = await findIdpRoles(context, [id], organizationId);
  return (roles.get(id) ?? []).map(presentIdpRoleAssignment);
}

async function presentUsers<T extends UserRecord>(context: Context, users: Page<T>, organizationId?: string) {
  const presented = await present(context, users.items, organizationId);
  const byId = new Map(users.items.map((record, index) => [record.id, presented[index]]));
  return presentPage(users, (record) => byId.get(record.id) as z.input<typeof user>);
}

// The id without its prefix, of an organization that the domain has accepted.
const unprefixedIdOf = (organizationId: string) => parseId('organization', organizationId) ?? organizationId;

/** `/v3/enterprise/members/users`: the users of the enterprise. */
export function serveUsers(api: VersionApi): void {
  api.serve(
    {
      method: 'get',
      paths: [of.enterprise],
      name: 'listUsers',
      summary: 'List the users of the enterprise, newest first',
      query: listQuery,
      answer: pageOf(user),
      refusals: [403, 422],
    },
    async ({ context, query }) => presentUsers(context, await listUsers(context, { email: query.email }, query, page)),
  );

  api.serve(
    {
      method: 'post',
      paths: [of.enterprise],
      name: 'inviteUsers',
      summary: 'Make users of addresses, with a role on the enterprise; an address that has a user gives that one',
      body: inviteRequest,
      answer: z.array(user),
      refusals: [400, 403, 413, 422],
    },
    async ({ context, body }) => {
      const input = { emails: body.emails, enterpriseRoleId: body.enterprise_role_id };
      return present(context, await inviteUsers(context, input));
    },
  );

  api.serve(
    {
      method: 'get',
      paths: [`${of.enterprise}/{user_id}`],
      name: 'getUser',
      summary: 'Read a user of the enterprise with all its roles',
      answer: userWithIdpRoles,
      refusals: [403, 404],
    },
    async ({ context, param }) => ({
      ...(await presentOne(context, await getUser(context, param('user_id')))),
      idp_role_assignments: await presentIdpRoles(context, param('user_id')),
    }),
  );

  api.serve(
    {
      method: 'patch',
      paths: [`${of.enterprise}/{user_id}`],
      name: 'updateUser',
      summary: 'Give a user another role on the enterprise, where it has one',
      body: roleRequest,
      answer: user,
      refusals: [400, 403, 404, 413, 422],
    },
    async ({ context, param, body }) => {
      const userId = param('user_id');
      await assignRole(context, { principal: { userId }, organizationId: null, roleId: body.role_id, mustExist: true });
      return presentOne(context, await readUser(context, userId));
    },
  );

  api.serve(
    {
      method: 'delete',
      paths: [`${of.enterprise}/{user_id}`],
      name: 'deleteUser',
      summary: 'Delete a user: its roles and keys are gone at once',
      answer: user,
      refusals: [403, 404],
    },
    async ({ context, param }) => {
      const { user: deleted, roleAssignments } = await deleteUser(context, param('user_id'));
      return presentUser(deleted, roleAssignments);
    },
  );
}

/** The users of one organization, for callers that manage the members of the enterprise or of the organization. */
export function serveOrganizationUsers(api: VersionApi): void {
  for (const { path, name, list } of [
    {
      path: of.managed,
      name: 'listManagedOrganizationUsers',
      list: (context: Context, organizationId: string, email: string | undefined, query: PageRequest) =>
        listUsers(context, { organizationId, email }, query, page),
    },
    {
      path: of.organization,
      name: 'listOrganizationUsers',
      list: (context: Context, organizationId: string, email: string | undefined, query: PageRequest) =>
        listOrganizationUsers(context, organizationId, { email }, query, page),
    },
  ]) {
    api.serve(
      {
        method: 'get',
        paths: [path],
        name,
        summary: 'List the users of an organization with their roles there, the newest member first',
        query: listQuery,
        answer: pageOf(user),
        refusals: [403, 404, 422],
      },
      async ({ context, param, query }) => {
        const users = await list(context, param('org_id'), query.email, query);
        return presentUsers(context, users, unprefixedIdOf(param('org_id')));
      },
    );
  }

  api.serve(
    {
      method: 'get',
      paths: [`${of.organization}/{user_id}`],
      name: 'getOrganizationUser',
      summary: 'Read a user of an organization with its roles there',
      answer: userWithIdpRoles,
      refusals: [403, 404],
    },
    async ({ context, param }) => {
      const member = await getOrganizationUser(context, param('org_id'), param('user_id'));
      const organizationId = unprefixedIdOf(param('org_id'));
      return {
        ...(await presentOne(context, member, organizationId)),
        idp_role_assignments: await presentIdpRoles(context, member.id, organizationId),
      };
    },
  );

  for (const method of ['post', 'patch'] as const) {
    const mustExist = method === 'patch';
    api.serve(
      {
        method,
        paths: [`${of.managed}/{user_id}`],
        name: mustExist ? 'updateOrganizationUser' : 'assignOrganizationUser',
        summary: mustExist
          ? 'Give a user of an organization another role there'
          : 'Make a user one of an organization, or give it another role there',
        body: roleRequest,
        answer: user,
        refusals: [400, 403, 404, 413, 422],
      },
      async ({ context, param, body }) => {
        const [organizationId, userId] = [param('org_id'), param('user_id')];
        await assignRole(context, { principal: { userId }, organizationId, roleId: body.role_id, mustExist });
        return presentOne(context, await readUser(context, userId), unprefixedIdOf(organizationId));
      },
    );
  }

  api.serve(
    {
      method: 'delete',
      paths: [`${of.managed}/{user_id}`],
      name: 'removeOrganizationUser',
      summary: 'Take a user’s role in an organization away',
      answer: user,
      refusals: [403, 404],
    },
    async ({ context, param }) => {
      const principal = { userId: param('user_id') };
      const taken = await unassignRole(context, { principal, organizationId: param('org_id') });
      return presentUser(await readUser(context, principal.userId), [taken]);
    },
  );
}
