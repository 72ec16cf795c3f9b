import { permissionFor } from '../../../auth/permissions.ts';
import { requireEnterprisePermission } from '../../../auth/viewer.ts';
import type { Context } from '../../context.ts';
import { type OffsetPage, type OffsetRequest, offsetWindow } from '../../offset-pages.ts';
import type { PageLimits } from '../../pages.ts';
import { type UserRecord, userColumns } from './find-people.ts';
import { getUser } from './list-users.ts';

/** An organization of which a user is a member, and its role there. */
export interface MembershipRecord {
  readonly organizationId: string;
  readonly organizationName: string;
  readonly roleId: string;
  readonly roleName: string;
}

/** A user with its role on the enterprise. */
export type EnterpriseUser = UserRecord & {
  /** Null: none. */
  readonly enterpriseRoleId: string | null;
};

/** A user of the enterprise with its first membership; null for one that is in no organization. */
export type EnterpriseMember = EnterpriseUser & { readonly membership: MembershipRecord | null };

const enterpriseRole = `(
  select e.role_id from role_assignment e where e.user_id = u.id and e.organization_id is null) as "enterpriseRoleId"`;

const memberships = `
  select a.id, a.user_id, a.created_at, a.organization_id as "organizationId", o.name as "organizationName",
         r.id as "roleId", r.name as "roleName"
    from role_assignment a join role r on r.id = a.role_id
    join organization o on o.id = a.organization_id and o.enterprise_id = a.enterprise_id and o.deleted_at is null`;

type MemberRow = EnterpriseUser & { [Name in keyof MembershipRecord]: MembershipRecord[Name] | null };

// Selects the users of a page first, so that no membership is read for others. A user has one role per scope.
const membersOf = (users: string) => `
  select ${userColumns}, ${enterpriseRole},
         m."organizationId", m."organizationName", m."roleId", m."roleName"
    from (${users}) u left join lateral (
      ${memberships} where a.user_id = u.id order by a.created_at, a.id limit 1) m on true
   order by u.created_at, u.id`;

function toMember({ organizationId, organizationName, roleId, roleName, ...user }: MemberRow): EnterpriseMember {
  const isMember = organizationId !== null && organizationName !== null && roleId !== null && roleName !== null;
  return { ...user, membership: isMember ? { organizationId, organizationName, roleId, roleName } : null };
}

/**
 * Lists the users of the enterprise, oldest first, each with its oldest membership. `email`: only the user with exactly
 * this email, case-insensitive. Throws FORBIDDEN.
 */
export async function listEnterpriseMembers(
  context: Context,
  { email, ...request }: OffsetRequest & { readonly email?: string | null | undefined },
  limits: PageLimits,
): Promise<OffsetPage<EnterpriseMember>> {
  const { viewer, store } = context;
  requireEnterprisePermission(viewer, permissionFor.viewEnterpriseMembers);
  const { limit, offset } = offsetWindow(request, limits);
  const users = `from user_account u where u.enterprise_id = $1 and u.deleted_at is null
    and ($2::text is null or lower(u.email) = lower($2::text))`;
  const values = [viewer.enterpriseId, email ?? null];
  const [counted] = await store.query<{ total: number }>(`select count(*)::int as total ${users}`, values);
  const rows = await store.query<MemberRow>(
    membersOf(`select u.* ${users} order by u.created_at, u.id limit $3 offset $4`),
    [...values, limit, offset],
  );
  return { items: rows.map(toMember), total: counted?.total ?? 0, offset, limit };
}

/** Returns a user of the enterprise with its oldest membership. Throws FORBIDDEN, NOT_FOUND. */
export async function getEnterpriseMember(context: Context, id: string): Promise<EnterpriseMember> {
  const user = await getUser(context, id);
  const [row] = await context.store.query<MemberRow>(membersOf('select u.* from user_account u where u.id = $1'), [
    user.id,
  ]);
  return row ? toMember(row) : { ...user, enterpriseRoleId: null, membership: null };
}

/** Returns a user of the enterprise and its memberships, the oldest first. Throws FORBIDDEN, NOT_FOUND. */
export async function listMembershipsOfUser(
  context: Context,
  id: string,
  request: OffsetRequest,
  limits: PageLimits,
): Promise<OffsetPage<EnterpriseMember>> {
  const user = await getEnterpriseMember(context, id);
  const { limit, offset } = offsetWindow(request, limits);
  const of = `${memberships} where a.user_id = $1`;
  const [counted] = await context.store.query<{ total: number }>(`select count(*)::int as total from (${of}) m`, [
    user.id,
  ]);
  const rows = await context.store.query<MembershipRecord>(
    `select m."organizationId", m."organizationName", m."roleId", m."roleName" from (${of}) m
      order by m.created_at, m.id limit $2 offset $3`,
    [user.id, limit, offset],
  );
  return { items: rows.map((membership) => ({ ...user, membership })), total: counted?.total ?? 0, offset, limit };
}
