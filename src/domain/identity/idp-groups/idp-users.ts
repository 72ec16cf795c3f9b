import { groupRolesOf } from '../../../auth/group-roles.ts';
import { permissionFor } from '../../../auth/permissions.ts';
import { requireEnterprisePermission } from '../../../auth/viewer.ts';
import { refuse } from '../../../common/errors.ts';
import { queryList } from '../../../store/reader.ts';
import type { Context } from '../../context.ts';
import { isStorable } from '../../input.ts';
import type { Page, PageLimits, PageRequest } from '../../pages.ts';
import { sortedPage } from '../../sorted-pages.ts';
import { useOrganization } from '../organizations/use-organization.ts';
import { type UserRecord, userColumns } from '../people/find-people.ts';
import type { RoleAssignmentRecord } from '../people/role-assignments.ts';
import { type RoleColumns, roleColumns, toRole } from '../people/roles.ts';

/** A role that a user has by a group. */
export interface IdpRoleAssignmentRecord extends RoleAssignmentRecord {
  readonly groupName: string;
}

/** Conditions on users. `organizationId`: unprefixed, with a role there by a group; null: with a role anywhere by a group. */
interface IdpUserFilter {
  readonly organizationId: string | null;
  /** Only the user with exactly this address, in any case. */
  readonly email?: string | undefined;
}

/** Lists the users with roles by groups, newest first, for a viewer that may see the members of the enterprise. Throws FORBIDDEN, INVALID_INPUT. */
export async function listIdpUsers(
  context: Context,
  filter: IdpUserFilter,
  request: PageRequest,
  limits: PageLimits,
): Promise<Page<UserRecord>> {
  requireEnterprisePermission(context.viewer, permissionFor.viewEnterpriseMembers);
  return readPage(context, filter, request, limits);
}

/** {@link listIdpUsers} of an organization that the viewer uses. Throws ORGANIZATION_NOT_USABLE, FORBIDDEN, NOT_FOUND. */
export async function listOrganizationIdpUsers(
  context: Context,
  filter: IdpUserFilter & { readonly organizationId: string },
  request: PageRequest,
  limits: PageLimits,
): Promise<Page<UserRecord>> {
  const { id } = await useOrganization(context, filter.organizationId, permissionFor.viewMembers);
  return readPage(context, { ...filter, organizationId: id }, request, limits);
}

async function readPage(
  context: Context,
  { organizationId, email }: IdpUserFilter,
  request: PageRequest,
  limits: PageLimits,
): Promise<Page<UserRecord>> {
  if (!isStorable(email)) {
    throw refuse(['email'], '"email" must be Unicode text without NUL characters and lone surrogates.');
  }
  const values: unknown[] = [context.viewer.enterpriseId];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const within = organizationId === null ? '' : `and gr.organization_id = ${bind(organizationId)}`;
  const where = [
    'u.enterprise_id = $1',
    'u.deleted_at is null',
    `exists (select 1 from ${groupRolesOf('u.id')} ${within})`,
    ...(email === undefined ? [] : [`lower(u.email) = lower(${bind(email)})`]),
  ];
  const page = sortedPage({ name: `idp_users ${organizationId ?? ''}`, row: 'u' }, request, limits, bind);
  where.push(...page.beyond);
  const rows = await queryList<UserRecord>(
    context.store,
    `select ${userColumns} from user_account u where ${where.join(' and ')} ${page.order} limit ${page.limit}`,
    values,
  );
  return page.toPage(rows, (user) => ({ at: user.createdAt, id: user.id }));
}

/**
 * Returns the roles that users have by groups, by the users' unprefixed ids, without those in deleted organizations: all, or those in
 * an organization. For the domain's own lists, without a permission check.
 */
export async function findIdpRoles(
  context: Context,
  userIds: readonly string[],
  organizationId?: string,
): Promise<ReadonlyMap<string, readonly IdpRoleAssignmentRecord[]>> {
  const found = new Map<string, IdpRoleAssignmentRecord[]>(userIds.map((id) => [id, []]));
  const rows = await context.store.query<
    RoleColumns & { userId: string; organizationId: string | null; groupName: string }
  >(
    `select p.id as "userId", a."organizationId", a."groupName", ${roleColumns}
       from (select unnest($1::text[]) as id) p cross join lateral (
         select gr.organization_id as "organizationId", gr.role_id, gr.enterprise_id, g.name as "groupName", gr.created_at, gr.id
           from ${groupRolesOf('p.id')}) a
       join role r on r.id = a.role_id left join organization o on o.id = a."organizationId"
      where a.enterprise_id = $2 and o.deleted_at is null and ($3::text is null or a."organizationId" = $3)
      order by a."organizationId" is not null, a.created_at, a.id`,
    [userIds, context.viewer.enterpriseId, organizationId ?? null],
  );
  for (const row of rows) {
    const { organizationId: scope, groupName } = row;
    found.get(row.userId)?.push({ organizationId: scope, groupName, role: toRole(row) });
  }
  return found;
}
