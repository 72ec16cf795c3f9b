import { permissionFor } from '../../auth/permissions.ts';
import { requireEnterprisePermission } from '../../auth/viewer.ts';
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
import { type RoleColumns, type RoleRecord, roleColumns, toRole } from './roles.ts';

/** The enterprise's own roles, newest first, and after them the built-in ones. FORBIDDEN. */
export async function listRoles(context: Context, request: PageRequest, limits: PageLimits): Promise<Page<RoleRecord>> {
  requireEnterprisePermission(context.viewer, permissionFor.viewRoles);
  const window = pageWindow(request, limits, (text) => readTimeCursor('roles', text));
  const values: unknown[] = [context.viewer.enterpriseId];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const position = ({ at, id }: { at: Date; id: string }) => `(${bind(at)}::timestamptz, ${bind(id)})`;
  const beyond = [
    ...(window.after ? [`and (r.created_at, r.id) < ${position(window.after)}`] : []),
    ...(window.before ? [`and (r.created_at, r.id) > ${position(window.before)}`] : []),
  ].join(' ');
  const direction = window.backward ? 'asc' : 'desc';
  const limit = bind(window.limit + 1);
  const of = (owner: string) => `
    (select r.* from role r where ${owner} ${beyond} order by r.created_at ${direction}, r.id ${direction} limit ${limit})`;
  // Each half from its own end of the index; the built-in ones are a handful.
  const rows = await context.store.query<RoleColumns>(
    `select ${roleColumns} from (${of('r.enterprise_id = $1')} union all ${of('r.enterprise_id is null')}) r
      order by r.created_at ${direction}, r.id ${direction} limit ${limit}`,
    values,
  );
  return toPage(rows.map(toRole), window, (role) => writeCursor('roles', role.createdAt.getTime(), role.id));
}

/** The roles of these bare ids, in the ids' order: the built-in ones, and with the permission the enterprise's own; else null. */
export async function findRolesByIds(context: Context, ids: readonly string[]): Promise<(RoleRecord | null)[]> {
  const seesOwn = context.viewer.enterprisePermissions.has(permissionFor.viewRoles);
  const rows = await context.store.query<RoleColumns>(
    `select ${roleColumns} from role r
      where r.id = any($1::text[]) and (r.enterprise_id is null or ($3::boolean and r.enterprise_id = $2))`,
    [ids, context.viewer.enterpriseId, seesOwn],
  );
  const found = new Map(rows.map((row) => [row.roleId, toRole(row)]));
  return ids.map((id) => found.get(id) ?? null);
}
