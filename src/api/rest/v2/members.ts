import { z } from '@hono/zod-openapi';
import {
  type EnterpriseMember,
  getEnterpriseMember,
  listEnterpriseMembers,
  listMembershipsOfUser,
} from '../../../domain/identity/people/enterprise-members.ts';
import { prefixedId } from '../../../domain/ids.ts';
import { textParam } from '../query.ts';
import type { VersionApi } from '../version-api.ts';
import { requireAdministratorKey } from './dialect.ts';
import { page, pageOf, pageQuery, presentPage, readPage } from './offset-pages.ts';

const path = '/v2/enterprise/members';

const member = z
  .object({
    user_id: z.string(),
    email: z.string(),
    name: z.string().nullable(),
    created_at: z.string().openapi({ format: 'date-time' }),
    org_id: z.string().nullable().openapi({ description: 'Null: in no organization.' }),
    org_name: z.string().nullable(),
    org_role: z.string().nullable(),
    org_role_name: z.string().nullable(),
    enterprise_role: z.string().nullable(),
  })
  .openapi('UserOrgResponse');

const role = (id: string) => prefixedId('role', id);

function presentMember({ membership, enterpriseRoleId, ...user }: EnterpriseMember): z.input<typeof member> {
  return {
    user_id: prefixedId('user', user.id),
    email: user.email,
    name: user.name,
    created_at: user.createdAt.toISOString(),
    org_id: membership === null ? null : prefixedId('organization', membership.organizationId),
    org_name: membership?.organizationName ?? null,
    org_role: membership === null ? null : role(membership.roleId),
    org_role_name: membership?.roleName ?? null,
    enterprise_role: enterpriseRoleId === null ? null : role(enterpriseRoleId),
  };
}

/** `/v2/enterprise/members`: for personal keys of administrators. */
export function serveMembers(api: VersionApi): void {
  api.serve(
    {
      method: 'get',
      paths: [path],
      name: 'listMembers',
      successor: 'GET /v3/enterprise/members/users',
      summary: 'List the users of the enterprise, oldest first, each with its first organization',
      query: z.object({
        ...pageQuery,
        email: textParam('email', { description: 'Only the user with exactly this address, in any case.' }),
      }),
      answer: pageOf(member),
      refusals: [403, 422],
    },
    async ({ context, query }) => {
      requireAdministratorKey(context, 'personal');
      const request = { ...readPage(query), email: query.email };
      return presentPage(await listEnterpriseMembers(context, request, page), presentMember);
    },
  );

  api.serve(
    {
      method: 'get',
      paths: [`${path}/{user_id}`],
      name: 'getMember',
      successor: 'GET /v3/enterprise/members/users/{user_id}',
      summary: 'Read a user of the enterprise, with its first organization',
      answer: member,
      refusals: [403, 404],
    },
    async ({ context, param }) => {
      requireAdministratorKey(context, 'personal');
      return presentMember(await getEnterpriseMember(context, param('user_id')));
    },
  );

  api.serve(
    {
      method: 'get',
      paths: [`${path}/{user_id}/organizations`],
      name: 'listMemberOrganizations',
      successor: 'GET /v3/enterprise/members/users/{user_id}',
      summary: 'List the organizations that a user is a member of, the oldest membership first',
      query: z.object(pageQuery),
      answer: pageOf(member),
      refusals: [403, 404, 422],
    },
    async ({ context, param, query }) => {
      requireAdministratorKey(context, 'personal');
      const memberships = await listMembershipsOfUser(context, param('user_id'), readPage(query), page);
      return presentPage(memberships, presentMember);
    },
  );
}
