import { permissionFor } from '../../auth/permissions.ts';
import { requireEnterprisePermission } from '../../auth/viewer.ts';
import { notFound } from '../../common/errors.ts';
import { fieldsOf, type Row, selectFields } from '../../store/tables.ts';
import type { Context } from '../context.ts';
import { inOrderOf } from '../find-by-ids.ts';
import { useEnterpriseOrganization } from '../identity/organizations/use-enterprise-organization.ts';
import { parseId } from '../ids.ts';
import { checkListFilter, type ListFilter, listFilterConditions } from '../list-filter.ts';
import { type NestedList, organizationOwners } from '../nested-pages.ts';
import type { Page, PageLimits, PageRequest } from '../pages.ts';
import { inOrder, type ListOrder, sortedPage } from '../sorted-pages.ts';

const gitPermissionFields = fieldsOf('GitPermission');

/** A permission of an organization to use repositories of a connection. Exactly one of the three targets is set. */
export type GitPermissionRecord = Pick<Row<'GitPermission'>, (typeof gitPermissionFields)[number]>;

/** The columns of a {@link GitPermissionRecord} of a `git_permission` aliased `p`. */
export const gitPermissionColumns = selectFields('GitPermission', 'p', gitPermissionFields);

/** Returns the permissions of these unprefixed ids that the viewer may see, in the ids' order; null for each other id. */
export async function findGitPermissions(
  { viewer, store }: Pick<Context, 'viewer' | 'store'>,
  ids: readonly string[],
): Promise<(GitPermissionRecord | null)[]> {
  if (!viewer.enterprisePermissions.has(permissionFor.manageGitPermissions)) return ids.map(() => null);
  const rows = await store.query<GitPermissionRecord>(
    `select ${gitPermissionColumns} from git_permission p
       join organization o on o.id = p.organization_id and o.enterprise_id = $2 and o.deleted_at is null
      where p.id = any($1::text[])`,
    [ids, viewer.enterpriseId],
  );
  return inOrderOf(ids, rows);
}

/** Returns the permission of an id in any form; `organizationId`: an unprefixed id that it must belong to. Throws NOT_FOUND. */
export async function getGitPermission(
  context: Context,
  id: string,
  organizationId?: string,
): Promise<GitPermissionRecord> {
  requireEnterprisePermission(context.viewer, permissionFor.manageGitPermissions);
  const bare = parseId('gitPermission', id);
  const [permission] = bare === null ? [] : await findGitPermissions(context, [bare]);
  if (!permission || (organizationId !== undefined && permission.organizationId !== organizationId)) {
    throw notFound('git permission');
  }
  return permission;
}

/** Conditions of a list of permissions. `search`: in the path or prefix. */
export type GitPermissionFilter = ListFilter;
/** An order of a list of permissions. */
export type GitPermissionOrder = ListOrder<'createdAt'>;

/** Returns the permissions of an organization that has been read, by its unprefixed id, as a nested list. Throws FORBIDDEN. */
export function gitPermissionsOf(
  { viewer }: Context,
  organizationId: string,
  filter: GitPermissionFilter = {},
  order?: GitPermissionOrder | null,
): NestedList<GitPermissionRecord> {
  requireEnterprisePermission(viewer, permissionFor.manageGitPermissions);
  checkListFilter(filter);
  return {
    ...inOrder('gitPermissions', order, {}),
    key: `git permissions ${JSON.stringify([filter, order])}`,
    ownerId: organizationId,
    row: 'p',
    table: 'git_permission',
    columns: gitPermissionColumns,
    owners: organizationOwners(viewer.enterpriseId),
    where: (bind) => [
      'p.organization_id = owner.id',
      ...listFilterConditions('p', filter, ['repo_path', 'group_prefix', 'prefix_path'], bind),
    ],
  };
}

/** Lists the permissions of an organization, newest first. Throws FORBIDDEN, NOT_FOUND. */
export async function listGitPermissions(
  context: Context,
  organization: string,
  request: PageRequest,
  limits: PageLimits,
): Promise<Page<GitPermissionRecord>> {
  const organizationId = await useEnterpriseOrganization(context, organization, permissionFor.manageGitPermissions);
  const values: unknown[] = [organizationId];
  const page = sortedPage({ name: 'gitPermissions', row: 'p' }, request, limits, (value) => `$${values.push(value)}`);
  const where = ['p.organization_id = $1', ...page.beyond].join(' and ');
  const rows = await context.store.query<GitPermissionRecord>(
    `select ${gitPermissionColumns} from git_permission p where ${where} ${page.order} limit ${page.limit}`,
    values,
  );
  return page.toPage(rows);
}
