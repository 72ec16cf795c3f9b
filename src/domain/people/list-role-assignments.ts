import { permissionFor } from '../../auth/permissions.ts';
import { organizationsWith } from '../../auth/viewer.ts';
import type { Context } from '../context.ts';
import type { Page, PageLimits, PageRequest } from '../pages.ts';
import { timedPage } from '../timed-pages.ts';
import type { RoleAssignmentRecord } from './role-assignments.ts';
import { type RoleColumns, roleColumns, toRole } from './roles.ts';

/** A role assignment in a list, with its place there. */
export type ListedRoleAssignment = RoleAssignmentRecord & { readonly id: string; readonly createdAt: Date };

// Who sees the roles of others: in an organization, and everywhere.
const holders = {
  user: {
    column: 'user_id',
    ofOrganization: permissionFor.viewMembers,
    ofEnterprise: permissionFor.viewEnterpriseMembers,
  },
  serviceUser: {
    column: 'service_user_id',
    ofOrganization: permissionFor.viewServiceUsers,
    ofEnterprise: permissionFor.viewEnterpriseServiceUsers,
  },
} as const;

/** Who holds the roles of a list. */
export type RoleHolderKind = keyof typeof holders;

/**
 * One page of the role assignments of each of these users or service users, by bare ids, the newest first, in the ids'
 * order and in one statement: those that the viewer may see, which are its own, those in organizations whose members, or
 * service users, it may see, and all for who may see the enterprise's.
 */
export async function listRoleAssignments(
  context: Context,
  kind: RoleHolderKind,
  holderIds: readonly string[],
  request: PageRequest,
  limits: PageLimits,
): Promise<Page<ListedRoleAssignment>[]> {
  const { viewer } = context;
  const { column, ofOrganization, ofEnterprise } = holders[kind];
  const { all, ids } = organizationsWith(viewer, ofOrganization);
  const seesEnterprise = viewer.enterprisePermissions.has(ofEnterprise);
  const values: unknown[] = [holderIds, viewer.enterpriseId, seesEnterprise, viewer.principal.id, all, ids];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const { beyond, order, limit, toPage } = timedPage({ name: 'role_assignments', row: 'a' }, request, limits, bind);
  const rows = await context.store.query<RoleColumns & Omit<ListedRoleAssignment, 'role'> & { holderId: string }>(
    `select p.id as "holderId", a.id, a.organization_id as "organizationId", a.created_at as "createdAt", ${roleColumns}
       from unnest($1::text[]) p(id)
       cross join lateral (
         select a.* from role_assignment a left join organization o on o.id = a.organization_id
          where a.${column} = p.id and a.enterprise_id = $2 and o.deleted_at is null
            and ($3::boolean or p.id = $4 or (a.organization_id is not null and $5::boolean)
                 or a.organization_id = any($6::text[])) ${beyond.map((each) => `and ${each}`).join(' ')}
          ${order} limit ${limit}) a
       join role r on r.id = a.role_id
      ${order}`,
    values,
  );
  const byHolder = new Map<string, ListedRoleAssignment[]>(holderIds.map((id) => [id, []]));
  for (const { holderId, id, organizationId, createdAt, ...role } of rows) {
    byHolder.get(holderId)?.push({ id, organizationId, createdAt, role: toRole(role) });
  }
  return holderIds.map((id) => toPage(byHolder.get(id) ?? []));
}
