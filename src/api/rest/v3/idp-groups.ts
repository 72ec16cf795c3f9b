import { z } from '@hono/zod-openapi';
import { permissionFor } from '../../../auth/permissions.ts';
import type { Context } from '../../../domain/context.ts';
import {
  assignGroupRole,
  type GroupWithRoles,
  unassignGroupRoles,
} from '../../../domain/identity/idp-groups/group-roles.ts';
import {
  type GroupScope,
  getIdpGroup,
  type IdpGroupRecord,
  listIdpGroups,
  organizationOf,
  rolesOfGroups,
} from '../../../domain/identity/idp-groups/idp-groups.ts';
import { deleteIdpGroup, registerIdpGroups } from '../../../domain/identity/idp-groups/register-idp-groups.ts';
import { useEnterpriseOrganization } from '../../../domain/identity/organizations/use-enterprise-organization.ts';
import type { RoleAssignmentRecord } from '../../../domain/identity/people/role-assignments.ts';
import type { VersionApi } from '../version-api.ts';
import { page, pageOf, pageQuery, presentPage, presentPageOf } from './dialect.ts';
import { presentRoleAssignment, roleAssignment } from './roles.ts';

const registered = z.object({ idp_group_name: z.string() }).openapi('IdpGroupResponse');
const group = z.object({ idp_group_name: z.string(), role_assignments: z.array(roleAssignment) }).openapi('IdpGroup');
const registerRequest = z
  .object({
    idp_group_names: z
      .array(z.string().min(1))
      .min(1, '"idp_group_names" must name at least one group.')
      .max(100, '"idp_group_names" must have at most 100 members.'),
  })
  .openapi('IdpGroupsBulkCreateRequest');
const roleRequest = z.object({ role_id: z.string() }).openapi('IdpGroupUpdateRoleRequest');

const presentRegistered = ({ name }: IdpGroupRecord): z.input<typeof registered> => ({ idp_group_name: name });

const presentGroup = ({ name }: IdpGroupRecord, roles: readonly RoleAssignmentRecord[]): z.input<typeof group> => ({
  idp_group_name: name,
  role_assignments: roles.map(presentRoleAssignment),
});

const presentWithRoles = ({ group: record, roleAssignments }: GroupWithRoles) => presentGroup(record, roleAssignments);

/** `/v3/enterprise/idp-groups`: the groups that are registered. */
export function serveIdpGroups(api: VersionApi): void {
  api.serve(
    {
      method: 'get',
      paths: ['/v3/enterprise/idp-groups'],
      name: 'listIdpGroups',
      summary: 'List the registered groups of identity providers, newest first',
      query: z.object(pageQuery),
      answer: pageOf(registered),
      refusals: [403, 422],
    },
    async ({ context, query }) =>
      presentPage(await listIdpGroups(context, 'registered', query, page), presentRegistered),
  );

  api.serve(
    {
      method: 'post',
      paths: ['/v3/enterprise/idp-groups'],
      name: 'registerIdpGroups',
      summary: 'Register groups of identity providers, so that they can have roles; registered ones stay as they are',
      body: registerRequest,
      answer: z.array(registered),
      refusals: [400, 403, 413, 422],
    },
    async ({ context, body }) =>
      (await registerIdpGroups(context, { groupNames: body.idp_group_names })).map(presentRegistered),
  );

  api.serve(
    {
      method: 'delete',
      paths: ['/v3/enterprise/idp-groups/{idp_group_name}'],
      name: 'deleteIdpGroup',
      summary: 'Remove a registered group, with its roles',
      answer: registered,
      refusals: [403, 404],
    },
    async ({ context, param }) => presentRegistered(await deleteIdpGroup(context, param('idp_group_name'))),
  );
}

interface Level {
  readonly base: `/${string}`;
  /** The ends of the names of the operations. */
  readonly suffix: '' | 'InOrganization';
  readonly location: string;
  /** Checks the permission and finds the organization. Null: the enterprise. */
  readonly find: (context: Context, orgId: string, isWrite: boolean) => Promise<string | null>;
}

const levels: readonly Level[] = [
  { base: '/v3/enterprise/members/idp-groups', suffix: '', location: 'on the enterprise', find: async () => null },
  {
    base: '/v3/enterprise/organizations/{org_id}/members/idp-groups',
    suffix: 'InOrganization',
    location: 'in an organization',
    find: (context, orgId, isWrite) =>
      useEnterpriseOrganization(
        context,
        orgId,
        isWrite ? permissionFor.assignRole : permissionFor.viewEnterpriseMembers,
      ),
  },
];

const scopeOf = (organizationId: string | null): GroupScope => (organizationId === null ? 'any' : { organizationId });

// Within an organization, only the role there.
async function present(context: Context, records: readonly IdpGroupRecord[], scope: GroupScope) {
  const ids = records.map(({ id }) => id);
  const roles = await rolesOfGroups(context, ids, organizationOf(scope));
  return records.map((record) => presentGroup(record, roles.get(record.id) ?? []));
}

/** `…/members/idp-groups`: the groups with roles on the enterprise and in its organizations. */
export function serveGroupRoles(api: VersionApi): void {
  for (const level of levels) serveLevel(api, level);
}

function serveLevel(api: VersionApi, { base, suffix, location, find }: Level): void {
  const one = `${base}/{idp_group_name}` as const;
  api.serve(
    {
      method: 'get',
      paths: [base],
      name: `listGroupsWithRoles${suffix}`,
      summary: `List the groups with roles ${location}, newest first`,
      query: z.object(pageQuery),
      answer: pageOf(group),
      refusals: [403, 404, 422],
    },
    async ({ context, query, param }) => {
      const scope = scopeOf(await find(context, param('org_id'), false));
      const groups = await listIdpGroups(context, scope, query, page);
      return presentPageOf(groups, await present(context, groups.items, scope));
    },
  );

  api.serve(
    {
      method: 'get',
      paths: [one],
      name: `getGroupWithRoles${suffix}`,
      summary: `Read a group with its roles ${location}`,
      answer: group,
      refusals: [403, 404],
    },
    async ({ context, param }) => {
      const scope = scopeOf(await find(context, param('org_id'), false));
      const found = await getIdpGroup(context, param('idp_group_name'), scope);
      const [presented] = await present(context, [found], scope);
      return presented as z.input<typeof group>;
    },
  );

  for (const method of ['post', 'patch'] as const) {
    const mustExist = method === 'patch';
    api.serve(
      {
        method,
        paths: [one],
        name: `${mustExist ? 'update' : 'assign'}GroupRole${suffix}`,
        summary: mustExist ? `Give a group another role ${location}` : `Give a group a role ${location}`,
        body: roleRequest,
        answer: group,
        refusals: [400, 403, 404, 409, 413, 422],
      },
      async ({ context, param, body }) => {
        const organizationId = await find(context, param('org_id'), true);
        const name = param('idp_group_name');
        const assigned = await assignGroupRole(context, { name, organizationId, roleId: body.role_id, mustExist });
        const [presented] = await present(context, [assigned.group], scopeOf(organizationId));
        return presented as z.input<typeof group>;
      },
    );
  }

  api.serve(
    {
      method: 'delete',
      paths: [one],
      name: `removeGroupRoles${suffix}`,
      summary: suffix === '' ? 'Remove all roles of a group' : 'Remove the role of a group in an organization',
      answer: group,
      refusals: [403, 404],
    },
    async ({ context, param }) => {
      const organizationId = await find(context, param('org_id'), true);
      return presentWithRoles(await unassignGroupRoles(context, { name: param('idp_group_name'), organizationId }));
    },
  );
}
