import { permissionFor } from '../../../auth/permissions.ts';
import { requireEnterprisePermission } from '../../../auth/viewer.ts';
import type { Context } from '../../context.ts';
import { type OffsetPage, type OffsetRequest, offsetWindow } from '../../offset-pages.ts';
import type { PageLimits } from '../../pages.ts';
import { type OrganizationRecord, organizationColumns } from './use-organization.ts';

/** The number of an organization's users, and of its administrators: those with the role org_admin. */
export interface OrganizationSize {
  readonly userCount: number;
  readonly adminCount: number;
}

/** An organization with its size. */
export type SizedOrganization = OrganizationRecord & OrganizationSize;

/**
 * Lists the organizations of the enterprise with their sizes, oldest first, for viewers that may see its members.
 * Throws FORBIDDEN.
 */
export async function listSizedOrganizations(
  context: Context,
  request: OffsetRequest,
  limits: PageLimits,
): Promise<OffsetPage<SizedOrganization>> {
  const { viewer, store } = context;
  requireEnterprisePermission(viewer, permissionFor.listOrganizations);
  requireEnterprisePermission(viewer, permissionFor.viewEnterpriseMembers);
  const { limit, offset } = offsetWindow(request, limits);
  const from = 'from organization o where o.enterprise_id = $1 and o.deleted_at is null';
  const [counted] = await store.query<{ total: number }>(`select count(*)::int as total ${from}`, [
    viewer.enterpriseId,
  ]);
  const organizations = await store.query<OrganizationRecord>(
    `select ${organizationColumns} ${from} order by o.created_at, o.id limit $2 offset $3`,
    [viewer.enterpriseId, limit, offset],
  );
  return { items: await withSizes(context, organizations), total: counted?.total ?? 0, offset, limit };
}

/**
 * Reads organizations with their sizes, in one statement. For the results of acts that were allowed, without a
 * permission check.
 */
export async function withSizes(
  { store }: Context,
  organizations: readonly OrganizationRecord[],
): Promise<SizedOrganization[]> {
  const rows = await store.query<OrganizationSize & { id: string }>(
    `select a.organization_id as id, count(*)::int as "userCount",
            (count(*) filter (where a.role_id = 'org_admin'))::int as "adminCount"
       from role_assignment a join user_account u on u.id = a.user_id and u.deleted_at is null
      where a.organization_id = any($1::text[]) group by a.organization_id`,
    [organizations.map(({ id }) => id)],
  );
  const sizes = new Map(rows.map(({ id, ...size }) => [id, size]));
  return organizations.map((each) => ({ ...each, ...(sizes.get(each.id) ?? { userCount: 0, adminCount: 0 }) }));
}
