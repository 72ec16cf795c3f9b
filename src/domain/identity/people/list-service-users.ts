import { permissionFor } from '../../../auth/permissions.ts';
import { organizationsWith, ownerOf, requireEnterprisePermission, requirePermission } from '../../../auth/viewer.ts';
import { notFound } from '../../../common/errors.ts';
import { queryList } from '../../../store/reader.ts';
import type { Context } from '../../context.ts';
import { parseId } from '../../ids.ts';
import { checkListFilter, type ListFilter, listFilterConditions } from '../../list-filter.ts';
import { type NestedList, organizationOwners } from '../../nested-pages.ts';
import type { Page, PageLimits, PageRequest } from '../../pages.ts';
import { inOrder, type ListOrder, sortedPage } from '../../sorted-pages.ts';
import { inLivingOrganization } from '../organizations/scope.ts';
import { requireUsable } from '../organizations/use-organization.ts';
import { type ServiceUserRecord, serviceUserColumns } from './find-people.ts';
import { resolveOrganizationId } from './list-users.ts';

/** Conditions on service users. */
export interface ServiceUserFilter {
  /** Service users that have a role in this organization, or belong to it; if omitted: all of the enterprise. */
  readonly organizationId?: string | null | undefined;
  /** Includes those that were deleted or have expired. */
  readonly includeInactive?: boolean | null | undefined;
}

/**
 * Lists service users, newest first, for a viewer that manages the enterprise's. Throws FORBIDDEN, NOT_FOUND
 * (organization).
 */
export async function listServiceUsers(
  context: Context,
  filter: ServiceUserFilter,
  request: PageRequest,
  limits: PageLimits,
): Promise<Page<ServiceUserRecord>> {
  requireManagingAll(context);
  const { organizationId } = filter;
  const inOrganization = organizationId == null ? null : await resolveOrganizationId(context, organizationId);
  return readPage(context, inOrganization, filter, request, limits);
}

/**
 * Conditions of a list of service users; ids are unprefixed. `search`: in the name. `roleIds`: those with one of them
 * in any scope.
 */
export interface ServiceUserListFilter
  extends Omit<ListFilter, 'createdBy'>,
    Pick<ServiceUserFilter, 'includeInactive'> {
  readonly roleIds?: readonly string[] | undefined;
}

/**
 * Returns service users of an organization that has been read, by its unprefixed id, or all of the enterprise for null,
 * as a nested list. Throws ORGANIZATION_NOT_USABLE, FORBIDDEN, INVALID_INPUT.
 */
export function serviceUsersOf(
  context: Context,
  organizationId: string | null,
  filter: ServiceUserListFilter = {},
  order?: ListOrder<'createdAt'> | null,
): NestedList<ServiceUserRecord> {
  const { enterpriseId } = context.viewer;
  if (organizationId === null) requireManagingAll(context);
  else requireUsable(context, organizationId, permissionFor.viewServiceUsers);
  checkListFilter(filter);
  const { includeInactive, roleIds } = filter;
  const now = context.now();
  return {
    ...inOrder('serviceUsers', order, {}),
    key: `service users ${JSON.stringify([organizationId === null, filter, order])}`,
    ownerId: organizationId ?? enterpriseId,
    row: 's',
    table: 'service_user',
    columns: serviceUserColumns,
    owners: organizationId === null ? () => '' : organizationOwners(enterpriseId),
    where: (bind) => [
      `s.enterprise_id = ${bind(enterpriseId)}`,
      inLivingOrganization('s'),
      ...(organizationId === null
        ? []
        : [
            `(s.organization_id = owner.id or exists (
         select 1 from role_assignment a where a.service_user_id = s.id and a.organization_id = owner.id))`,
          ]),
      ...(includeInactive
        ? []
        : ['s.deleted_at is null', `(s.expires_at is null or s.expires_at > ${bind(now)}::timestamptz)`]),
      ...(roleIds === undefined
        ? []
        : [
            `exists (select 1 from role_assignment r where r.service_user_id = s.id and r.role_id = any(${bind(roleIds)}::text[]))`,
          ]),
      ...listFilterConditions('s', filter, ['name'], bind),
    ],
  };
}

async function readPage(
  context: Context,
  organizationId: string | null,
  filter: ServiceUserFilter,
  request: PageRequest,
  limits: PageLimits,
): Promise<Page<ServiceUserRecord>> {
  const values: unknown[] = [context.viewer.enterpriseId];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const where = ['s.enterprise_id = $1', 'o.deleted_at is null'];
  if (organizationId !== null) {
    const id = bind(organizationId);
    where.push(`(s.organization_id = ${id} or exists (
      select 1 from role_assignment a where a.service_user_id = s.id and a.organization_id = ${id}))`);
  }
  if (!filter.includeInactive) {
    where.push('s.deleted_at is null', `(s.expires_at is null or s.expires_at > ${bind(context.now())}::timestamptz)`);
  }
  const list = sortedPage({ name: 'serviceUsers', row: 's' }, request, limits, bind);
  where.push(...list.beyond);
  const rows = await queryList<ServiceUserRecord>(
    context.store,
    `select ${serviceUserColumns} from service_user s left join organization o on o.id = s.organization_id
      where ${where.join(' and ')} ${list.order} limit ${list.limit}`,
    values,
  );
  return list.toPage(rows);
}

/**
 * Returns a service user for a viewer that manages it; `organizationId`: it must have a role there or belong to it.
 * Throws FORBIDDEN, NOT_FOUND.
 */
export async function getServiceUser(
  context: Context,
  id: string,
  organizationId?: string,
): Promise<ServiceUserRecord> {
  requireManagingSome(context);
  const found = await readServiceUser(context, id, organizationId);
  if (!managesServiceUsersOf(context, found.organizationId)) throw notFound('service user');
  return found;
}

/**
 * Like {@link getServiceUser}, for the results of acts that were allowed, without a permission check. Throws NOT_FOUND.
 */
export async function readServiceUser(
  context: Context,
  id: string,
  organizationId?: string,
): Promise<ServiceUserRecord> {
  const bareOrganizationId = organizationId === undefined ? null : (parseId('organization', organizationId) ?? '');
  const [found] = await context.store.query<ServiceUserRecord>(
    `select ${serviceUserColumns} from service_user s left join organization o on o.id = s.organization_id
      where s.id = $1 and s.enterprise_id = $2 and s.deleted_at is null and o.deleted_at is null
        and ($3::text is null or s.organization_id = $3 or exists (
          select 1 from role_assignment a where a.service_user_id = s.id and a.organization_id = $3))`,
    [parseId('serviceUser', id), context.viewer.enterpriseId, bareOrganizationId],
  );
  if (!found) throw notFound('service user');
  return found;
}

/**
 * Throws FORBIDDEN unless the viewer manages the service users of the whole enterprise: for paths of the enterprise,
 * whatever service user they name. `orIsOwn`: an id that is allowed if it is the viewer's own.
 */
export function requireManagingAll({ viewer }: Context, orIsOwn?: string): void {
  const own = ownerOf(viewer).serviceUserId;
  if (orIsOwn !== undefined && own !== null && parseId('serviceUser', orIsOwn) === own) return;
  requireEnterprisePermission(viewer, permissionFor.viewEnterpriseServiceUsers);
}

/** True if the viewer manages the service users of an organization; null: the enterprise's own. */
export function managesServiceUsersOf({ viewer }: Context, organizationId: string | null): boolean {
  if (viewer.enterprisePermissions.has(permissionFor.viewEnterpriseServiceUsers)) return true;
  if (organizationId === null) return false;
  const { all, ids } = organizationsWith(viewer, permissionFor.viewServiceUsers);
  return all || ids.includes(organizationId);
}

/**
 * Throws FORBIDDEN for a viewer that manages no service users at all. For other viewers, a service user that they do
 * not manage does not exist.
 */
export function requireManagingSome({ viewer }: Context): void {
  if (viewer.enterprisePermissions.has(permissionFor.viewEnterpriseServiceUsers)) return;
  const { all, ids } = organizationsWith(viewer, permissionFor.viewServiceUsers);
  if (!all && ids.length === 0) requirePermission(viewer, permissionFor.viewServiceUsers, '');
}
