import { rolesOfUser } from '../../../auth/group-roles.ts';
import { permissionFor } from '../../../auth/permissions.ts';
import { organizationsWith } from '../../../auth/viewer.ts';
import type { Context } from '../../context.ts';
import { checkListFilter, type ListFilter, listFilterConditions, oneOfConditions } from '../../list-filter.ts';
import { type NestedList, organizationOwners } from '../../nested-pages.ts';
import { inOrder, type ListOrder } from '../../sorted-pages.ts';
import { type RoleColumns, type RoleRecord, roleColumns, toRole } from '../people/roles.ts';
import { requireUsable } from './use-organization.ts';

/** A user's membership of an organization: its role assignment there, which gives the id and the time. */
export interface MemberRecord {
  readonly id: string;
  readonly organizationId: string;
  readonly userId: string;
  readonly role: RoleRecord;
  readonly createdAt: Date;
}

type MemberRow = RoleColumns & Omit<MemberRecord, 'role'>;

const memberColumns = `a.id, a.organization_id as "organizationId", a.user_id as "userId", a.created_at as "createdAt", ${roleColumns}`;
// A deleted user has no assignments, but a deletion may be in progress.
const members = `
  select ${memberColumns}
    from role_assignment a
    join role r on r.id = a.role_id
    join user_account u on u.id = a.user_id and u.deleted_at is null`;

function toMember(row: MemberRow): MemberRecord {
  const { id, organizationId, userId, createdAt } = row;
  return { id, organizationId, userId, role: toRole(row), createdAt };
}

/**
 * Conditions of a list of members; ids are unprefixed. `search`: in the name and the email. Times are those of the
 * membership.
 */
export interface MemberFilter extends Omit<ListFilter, 'createdBy'> {
  /** The member with exactly this email, case-insensitive. */
  readonly email?: string | undefined;
  readonly roleIds?: readonly string[] | undefined;
}

/**
 * Returns the members of an organization that has been read, by its unprefixed id, as a nested list. Throws
 * ORGANIZATION_NOT_USABLE, FORBIDDEN, INVALID_INPUT.
 */
export function membersOf(
  context: Context,
  organizationId: string,
  { search, email, roleIds, ...times }: MemberFilter = {},
  order?: ListOrder<'createdAt'> | null,
): NestedList<MemberRecord> {
  requireUsable(context, organizationId, permissionFor.viewMembers);
  checkListFilter({ search, email, ...times }, 'email');
  return {
    ...inOrder('members', order, {}),
    key: `members ${JSON.stringify([search, email, roleIds, times, order])}`,
    ownerId: organizationId,
    row: 'a',
    table: 'role_assignment',
    columns: memberColumns,
    joins: 'join role r on r.id = a.role_id',
    toItem: toMember,
    owners: organizationOwners(context.viewer.enterpriseId),
    where: (bind) => {
      const ofUser = [
        'u.id = a.user_id',
        'u.deleted_at is null',
        ...(email === undefined ? [] : [`lower(u.email) = lower(${bind(email)}::text)`]),
        ...listFilterConditions('u', { search }, ['name', 'email'], bind),
      ];
      return [
        'a.organization_id = owner.id',
        `exists (select 1 from user_account u where ${ofUser.join(' and ')})`,
        ...oneOfConditions('a.role_id', roleIds, bind),
        ...listFilterConditions('a', times, [], bind),
      ];
    },
  };
}

/** Tells if an active user has a role in an organization, also by a group. For the domain's own checks, without a permission check. */
export async function isMember(context: Context, organizationId: string, userId: string): Promise<boolean> {
  const rows = await context.store.query(
    `select 1 from user_account u cross join lateral (${rolesOfUser('u.id')}) a
      where u.id = $2 and coalesce(u.deleted_at, u.deactivated_at) is null and a.organization_id = $1 limit 1`,
    [organizationId, userId],
  );
  return rows.length > 0;
}

/**
 * Returns memberships by their unprefixed ids, in organizations whose members the viewer may see; null for each other
 * id.
 */
export async function findMembersByIds(context: Context, ids: readonly string[]): Promise<(MemberRecord | null)[]> {
  const visible = organizationsWith(context.viewer, permissionFor.viewMembers);
  const rows = await context.store.query<MemberRow>(
    `${members} join organization o on o.id = a.organization_id and o.enterprise_id = $2 and o.deleted_at is null
      where a.id = any($1::text[]) and ($3::boolean or o.id = any($4::text[]))`,
    [ids, visible.enterpriseId, visible.all, visible.ids],
  );
  const found = new Map(rows.map((row) => [row.id, toMember(row)]));
  return ids.map((id) => found.get(id) ?? null);
}
