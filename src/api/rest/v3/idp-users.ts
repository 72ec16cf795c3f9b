import { z } from '@hono/zod-openapi';
import { permissionFor } from '../../../auth/permissions.ts';
import type { Context } from '../../../domain/context.ts';
import {
  findIdpRoles,
  type IdpRoleAssignmentRecord,
  listIdpUsers,
  listOrganizationIdpUsers,
} from '../../../domain/identity/idp-groups/idp-users.ts';
import { useEnterpriseOrganization } from '../../../domain/identity/organizations/use-enterprise-organization.ts';
import type { UserRecord } from '../../../domain/identity/people/find-people.ts';
import { parseId, prefixedId } from '../../../domain/ids.ts';
import type { Page, PageRequest } from '../../../domain/pages.ts';
import { textParam } from '../query.ts';
import type { VersionApi } from '../version-api.ts';
import { page, pageOf, pageQuery, presentPageOf } from './dialect.ts';
import { presentRoleAssignment, roleAssignment } from './roles.ts';

/** A role that a user has by a group; `org_id` null: on the enterprise. */
export const idpRoleAssignment = roleAssignment.extend({ idp_group_name: z.string() }).openapi('IdpRoleAssignment');

/** An {@link idpRoleAssignment} as the wire has it. */
export const presentIdpRoleAssignment = (record: IdpRoleAssignmentRecord): z.input<typeof idpRoleAssignment> => ({
  ...presentRoleAssignment(record),
  idp_group_name: record.groupName,
});

const idpUser = z
  .object({
    user_id: z.string(),
    email: z.string().nullable(),
    name: z.string().nullable(),
    idp_role_assignments: z.array(idpRoleAssignment),
  })
  .openapi('IdpGroupUser');

const listQuery = z.object({
  ...pageQuery,
  email: textParam('email', { description: 'Only the user with exactly this address, in any case.' }),
});

type Query = PageRequest & { readonly email?: string | undefined };

const unprefixed = (organizationId: string) => parseId('organization', organizationId) ?? organizationId;

const lists = [
  {
    path: '/v3/enterprise/members/idp-users',
    name: 'listIdpUsers',
    of: 'the enterprise',
    list: (context: Context, _orgId: string, query: Query) =>
      listIdpUsers(context, { organizationId: null, email: query.email }, query, page),
  },
  {
    path: '/v3/enterprise/organizations/{org_id}/members/idp-users',
    name: 'listManagedOrganizationIdpUsers',
    of: 'an organization',
    list: async (context: Context, orgId: string, query: Query) => {
      const organizationId = await useEnterpriseOrganization(context, orgId, permissionFor.viewEnterpriseMembers);
      return listIdpUsers(context, { organizationId, email: query.email }, query, page);
    },
  },
  {
    path: '/v3/organizations/{org_id}/members/idp-users',
    name: 'listOrganizationIdpUsers',
    of: 'an organization',
    list: (context: Context, organizationId: string, query: Query) =>
      listOrganizationIdpUsers(context, { organizationId, email: query.email }, query, page),
  },
] as const;

/** `…/members/idp-users`: the users with roles by groups of identity providers. */
export function serveIdpUsers(api: VersionApi): void {
  for (const { path, name, of, list } of lists) {
    api.serve(
      {
        method: 'get',
        paths: [path],
        name,
        summary: `List the users of ${of} with roles by groups of identity providers, newest first`,
        query: listQuery,
        answer: pageOf(idpUser),
        refusals: [403, 404, 422],
      },
      async ({ context, query, param }) => {
        const users = await list(context, param('org_id'), query);
        const organizationId = path.includes('{org_id}') ? unprefixed(param('org_id')) : undefined;
        return presentPageOf(users, await present(context, users, organizationId));
      },
    );
  }
}

async function present(context: Context, { items }: Page<UserRecord>, organizationId: string | undefined) {
  const roles = await findIdpRoles(
    context,
    items.map(({ id }) => id),
    organizationId,
  );
  return items.map(
    ({ id, email, name }): z.input<typeof idpUser> => ({
      user_id: prefixedId('user', id),
      email,
      name,
      idp_role_assignments: (roles.get(id) ?? []).map(presentIdpRoleAssignment),
    }),
  );
}
