import { permissionFor } from '../../auth/permissions.ts';
import { organizationsWith } from '../../auth/viewer.ts';
import type { Context } from '../context.ts';
import {
  type Page,
  type PageLimits,
  type PageRequest,
  pageWindow,
  readTimeCursor,
  toPage,
  writeCursor,
} from '../pages.ts';
import { useOrganization } from './use-organization.ts';

/** A role that somebody holds. */
export interface RoleRecord {
  readonly id: string;
  readonly name: string;
  readonly scope: 'enterprise' | 'organization';
}

/** A user's membership of an organization: the first of its role assignments there gives the id and the time. */
export interface MemberRecord {
  readonly id: string;
  readonly organizationId: string;
  readonly userId: string;
  readonly roles: readonly RoleRecord[];
  readonly createdAt: Date;
}

const members = `
  select min(a.id) as id, a.organization_id as "organizationId", a.user_id as "userId", min(a.created_at) as "createdAt",
         json_agg(json_build_object('id', r.id, 'name', r.name, 'scope', r.scope) order by r.id) as roles
    from role_assignment a join role r on r.id = a.role_id
   where a.organization_id = $1 and a.user_id is not null`;

/** The members of an organization, newest first. ORGANIZATION_NOT_USABLE, FORBIDDEN. */
export async function listMembers(
  context: Context,
  organizationId: string,
  request: PageRequest,
  limits: PageLimits,
): Promise<Page<MemberRecord>> {
  const organization = await useOrganization(context, organizationId, permissionFor.viewMembers);
  const window = pageWindow(request, limits, (text) => readTimeCursor('members', text));
  const values: unknown[] = [organization.id];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const having: string[] = [];
  const position = '(min(a.created_at), min(a.id))';
  if (window.after) having.push(`${position} < (${bind(window.after.at)}::timestamptz, ${bind(window.after.id)})`);
  if (window.before) having.push(`${position} > (${bind(window.before.at)}::timestamptz, ${bind(window.before.id)})`);
  const direction = window.backward ? 'asc' : 'desc';
  const rows = await context.store.query<MemberRecord>(
    `${members} group by a.organization_id, a.user_id ${having.length > 0 ? `having ${having.join(' and ')}` : ''}
      order by min(a.created_at) ${direction}, min(a.id) ${direction} limit ${bind(window.limit + 1)}`,
    values,
  );
  return toPage(rows, window, (member) => writeCursor('members', member.createdAt.getTime(), member.id));
}

/** A user's membership, or null. For the domain's own checks: it asks for no permission. */
export async function findMember(
  context: Context,
  organizationId: string,
  userId: string,
): Promise<MemberRecord | null> {
  const rows = await context.store.query<MemberRecord>(
    `${members} and a.user_id = $2 group by a.organization_id, a.user_id`,
    [organizationId, userId],
  );
  return rows[0] ?? null;
}

/** Memberships by their bare ids, of organizations whose members the viewer may see; null for each other. */
export async function findMembersByIds(context: Context, ids: readonly string[]): Promise<(MemberRecord | null)[]> {
  const visible = organizationsWith(context.viewer, permissionFor.viewMembers);
  const rows = await context.store.query<MemberRecord>(
    `select min(a.id) as id, a.organization_id as "organizationId", a.user_id as "userId", min(a.created_at) as "createdAt",
            json_agg(json_build_object('id', r.id, 'name', r.name, 'scope', r.scope) order by r.id) as roles
       from role_assignment wanted
       join organization o on o.id = wanted.organization_id and o.enterprise_id = $2 and o.deleted_at is null
       join role_assignment a on a.organization_id = wanted.organization_id and a.user_id = wanted.user_id
       join role r on r.id = a.role_id
      where wanted.id = any($1::text[]) and ($3::boolean or o.id = any($4::text[]))
      group by wanted.id, a.organization_id, a.user_id`,
    [ids, visible.enterpriseId, visible.all, visible.ids],
  );
  const found = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => found.get(id) ?? null);
}
