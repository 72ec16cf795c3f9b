import { rolesOfUser } from '../../../auth/group-roles.ts';
import { permissionFor } from '../../../auth/permissions.ts';
import { requireEnterprisePermission } from '../../../auth/viewer.ts';
import { notFound, refuse } from '../../../common/errors.ts';
import { queryList } from '../../../store/reader.ts';
import type { Context } from '../../context.ts';
import { parseId } from '../../ids.ts';
import { isStorable } from '../../input.ts';
import { checkListFilter, type ListFilter, listFilterConditions } from '../../list-filter.ts';
import type { Bind, NestedList } from '../../nested-pages.ts';
import type { Page, PageLimits, PageRequest } from '../../pages.ts';
import { textKey } from '../../sort-keys.ts';
import { inOrder, type ListOrder, sortedPage } from '../../sorted-pages.ts';
import { useOrganization } from '../organizations/use-organization.ts';
import { type UserRecord, userColumns } from './find-people.ts';

/** Conditions on users. `email`: the user with exactly this email, case-insensitive. */
export interface UserFilter {
  /**
   * Members of this organization, the newest membership first; if omitted: all of the enterprise, the newest user
   * first.
   */
  readonly organizationId?: string | null | undefined;
  readonly email?: string | null | undefined;
}

/** A user in a list, with its cursor values. */
export type ListedUser = UserRecord & { readonly cursorAt: Date; readonly cursorId: string };

/**
 * Lists users of the enterprise, for a viewer that may see its members. Throws FORBIDDEN, NOT_FOUND (organization),
 * INVALID_INPUT.
 */
export async function listUsers(
  context: Context,
  { organizationId, email }: UserFilter,
  request: PageRequest,
  limits: PageLimits,
): Promise<Page<ListedUser>> {
  requireEnterprisePermission(context.viewer, permissionFor.viewEnterpriseMembers);
  const organization = organizationId == null ? null : await resolveOrganizationId(context, organizationId);
  return readPage(context, { organization, email }, request, limits);
}

/**
 * Conditions of a list of users; ids are unprefixed. `search`: in the name and the email. `roleIds`: users with one of
 * them in any scope.
 */
export interface UserListFilter extends Omit<ListFilter, 'createdBy'> {
  readonly email?: string | undefined;
  readonly roleIds?: readonly string[] | undefined;
}

const sortKeys = { email: textKey('User', 'email') };

/** An order of a list of users. */
export type UserOrder = ListOrder<'createdAt' | keyof typeof sortKeys>;

/** Returns the users of the enterprise as a list that can be ordered and counted. Throws FORBIDDEN, INVALID_INPUT. */
export function usersOf(
  context: Context,
  filter: UserListFilter = {},
  order?: UserOrder | null,
): NestedList<UserRecord> {
  const { viewer } = context;
  requireEnterprisePermission(viewer, permissionFor.viewEnterpriseMembers);
  checkListFilter(filter, 'email');
  return {
    ...inOrder('users', order, sortKeys),
    key: `users ${JSON.stringify([filter, order])}`,
    ownerId: viewer.enterpriseId,
    row: 'u',
    table: 'user_account',
    columns: userColumns,
    owners: () => '',
    where: (bind) => ['u.enterprise_id = owner.id', ...conditionsOf(filter, bind)],
  };
}

const conditionsOf = (filter: UserListFilter, bind: Bind): string[] => [
  'u.deleted_at is null',
  ...(filter.email === undefined ? [] : [`lower(u.email) = lower(${bind(filter.email)}::text)`]),
  ...(filter.roleIds === undefined
    ? []
    : [
        `exists (select 1 from role_assignment a where a.user_id = u.id and a.role_id = any(${bind(filter.roleIds)}::text[]))`,
      ]),
  ...listFilterConditions('u', filter, ['name', 'email'], bind),
];

/** The number of members of a group up to which they are looked up one by one. */
const maxLookedUp = 10_000;

/**
 * Returns the members of a group of identity providers, by their last sign-in or by a directory, as a list that can be ordered and
 * counted. `groupId`: unprefixed, of a group that the viewer has read. Throws FORBIDDEN, INVALID_INPUT.
 */
export function usersOfGroup(
  context: Context,
  groupId: string,
  filter: UserListFilter = {},
  order?: UserOrder | null,
): NestedList<UserRecord> {
  const { enterpriseId } = context.viewer;
  return {
    ...usersOf(context, filter, order),
    key: `users of a group ${JSON.stringify([filter, order])}`,
    ownerId: groupId,
    owners: (bind) => `join idp_group ig on ig.id = owner.id and ig.enterprise_id = ${bind(enterpriseId)}`,
    where: (bind) => [
      'u.enterprise_id = ig.enterprise_id',
      `(exists (select 1 from idp_group_member m where m.group_id = ig.id and m.user_id = u.id)
        or exists (select 1 from user_identity i where i.user_id = u.id and ig.name = any(i.groups)))`,
      ...conditionsOf(filter, bind),
    ],
    candidates: () => ({
      query: `select m.user_id from idp_group_member m where m.group_id = ig.id
         union select i.user_id from user_identity i where i.enterprise_id = ig.enterprise_id and ig.name = any(i.groups)
         limit ${maxLookedUp + 1}`,
      max: maxLookedUp,
    }),
  };
}

/** Lists the members of an organization that the viewer uses. Throws ORGANIZATION_NOT_USABLE, FORBIDDEN, NOT_FOUND. */
export async function listOrganizationUsers(
  context: Context,
  organizationId: string,
  { email }: Pick<UserFilter, 'email'>,
  request: PageRequest,
  limits: PageLimits,
): Promise<Page<ListedUser>> {
  const { id } = await useOrganization(context, organizationId, permissionFor.viewMembers);
  return readPage(context, { organization: id, email }, request, limits);
}

/** Returns a user of the enterprise, or of one of its organizations if set. Throws FORBIDDEN, NOT_FOUND. */
export async function getUser(context: Context, id: string, organizationId?: string): Promise<UserRecord> {
  requireEnterprisePermission(context.viewer, permissionFor.viewEnterpriseMembers);
  return readUser(
    context,
    id,
    organizationId === undefined ? null : await resolveOrganizationId(context, organizationId),
  );
}

/** Returns a member of an organization that the viewer uses. Throws ORGANIZATION_NOT_USABLE, FORBIDDEN, NOT_FOUND. */
export async function getOrganizationUser(context: Context, organizationId: string, id: string): Promise<UserRecord> {
  const organization = await useOrganization(context, organizationId, permissionFor.viewMembers);
  return readUser(context, id, organization.id);
}

async function readPage(
  context: Context,
  { organization, email }: { organization: string | null; email: string | null | undefined },
  request: PageRequest,
  limits: PageLimits,
): Promise<Page<ListedUser>> {
  if (!isStorable(email)) {
    throw refuse(['email'], '"email" must be Unicode text without NUL characters and lone surrogates.');
  }
  // A membership has its own time, which orders the members of an organization in an index.
  const [row, name] = organization === null ? ['u', 'users'] : ['a', 'organization_users'];
  const values: unknown[] = [context.viewer.enterpriseId];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const where = ['u.enterprise_id = $1', 'u.deleted_at is null'];
  if (organization !== null) where.push(`a.organization_id = ${bind(organization)}`);
  if (email != null) where.push(`lower(u.email) = lower(${bind(email)})`);
  const page = sortedPage({ name, row }, request, limits, bind);
  where.push(...page.beyond);
  const rows = await queryList<ListedUser>(
    context.store,
    `select ${userColumns}, ${row}.created_at as "cursorAt", ${row}.id as "cursorId" from user_account u
       ${organization === null ? '' : 'join role_assignment a on a.user_id = u.id'}
      where ${where.join(' and ')} ${page.order} limit ${page.limit}`,
    values,
  );
  return page.toPage(rows, (user) => ({ at: user.cursorAt, id: user.cursorId }));
}

/**
 * Reads a user of the enterprise, or of an organization's unprefixed id. For the results of acts that were allowed,
 * without a permission check. Throws NOT_FOUND.
 */
export async function readUser(
  context: Context,
  id: string,
  organizationId: string | null = null,
): Promise<UserRecord> {
  const [user] = await context.store.query<UserRecord>(
    `select ${userColumns} from user_account u where u.id = $1 and u.enterprise_id = $2 and u.deleted_at is null
        and ($3::text is null or exists (
          select 1 from (${rolesOfUser('u.id')}) a where a.organization_id = $3))`,
    [parseId('user', id), context.viewer.enterpriseId, organizationId],
  );
  if (!user) throw notFound('user');
  return user;
}

/**
 * Returns the unprefixed id of an organization of the enterprise: a viewer that manages the enterprise's principals may see those
 * of organizations that it may not use. Throws NOT_FOUND.
 */
export async function resolveOrganizationId(context: Context, id: string): Promise<string> {
  const bare = parseId('organization', id);
  const where = { id: bare ?? '', enterpriseId: context.viewer.enterpriseId, deletedAt: null };
  const organization = bare && (await context.store.prisma.organization.findFirst({ where, select: { id: true } }));
  if (!organization) throw notFound('organization');
  return organization.id;
}
