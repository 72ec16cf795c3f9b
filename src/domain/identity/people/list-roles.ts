import { permissionFor } from '../../../auth/permissions.ts';
import { requireEnterprisePermission } from '../../../auth/viewer.ts';
import type { Context } from '../../context.ts';
import { inOrderOfKeys, type WithKeyPosition } from '../../find-by-ids.ts';
import { checkListFilter, type ListFilter, listFilterConditions } from '../../list-filter.ts';
import type { NestedList } from '../../nested-pages.ts';
import type { Page, PageLimits, PageRequest } from '../../pages.ts';
import { textKey } from '../../sort-keys.ts';
import { inOrder, type ListOrder, sortedPage } from '../../sorted-pages.ts';
import { type RoleColumns, type RoleRecord, roleColumns, toRole } from './roles.ts';

/** Lists the enterprise's own roles, newest first, and after them the built-in ones. Throws FORBIDDEN. */
export async function listRoles(context: Context, request: PageRequest, limits: PageLimits): Promise<Page<RoleRecord>> {
  requireEnterprisePermission(context.viewer, permissionFor.viewRoles);
  const values: unknown[] = [context.viewer.enterpriseId];
  const list = sortedPage({ name: 'roles', row: 'r' }, request, limits, (value) => `$${values.push(value)}`);
  const { order, limit } = list;
  const of = (owner: string) =>
    `(select r.* from role r where ${[owner, ...list.beyond].join(' and ')} ${order} limit ${limit})`;
  // Reads each half from its own end of the index. There are only a few built-in roles.
  const rows = await context.store.query<RoleColumns>(
    `select ${roleColumns} from (${of('r.enterprise_id = $1')} union all ${of('r.enterprise_id is null')}) r
      ${order} limit ${limit}`,
    values,
  );
  return list.toPage(rows.map(toRole));
}

/** Conditions of a list of roles. `search`: in the name. */
export interface RoleFilter extends Pick<ListFilter, 'search'> {
  readonly scope?: RoleRecord['scope'] | undefined;
  readonly isBuiltIn?: boolean | undefined;
}

const sortKeys = { name: textKey('Role', 'name') };

/** An order of a list of roles. */
export type RoleOrder = ListOrder<'createdAt' | keyof typeof sortKeys>;

/**
 * Returns the roles of {@link listRoles} as a list that can be filtered, ordered and counted. Throws FORBIDDEN,
 * INVALID_INPUT.
 */
export function rolesOf(context: Context, filter: RoleFilter = {}, order?: RoleOrder | null): NestedList<RoleRecord> {
  const { viewer } = context;
  requireEnterprisePermission(viewer, permissionFor.viewRoles);
  checkListFilter(filter);
  const { scope, isBuiltIn } = filter;
  return {
    ...inOrder('roles', order, sortKeys),
    key: `roles ${JSON.stringify([filter, order])}`,
    ownerId: viewer.enterpriseId,
    row: 'r',
    table: 'role',
    columns: roleColumns,
    toItem: toRole,
    owners: () => '',
    where: (bind) => [
      '(r.enterprise_id is null or r.enterprise_id = owner.id)',
      ...(scope === undefined ? [] : [`r.scope = ${bind(scope)}`]),
      ...(isBuiltIn === undefined ? [] : [`(r.enterprise_id is null) = ${bind(isBuiltIn)}::boolean`]),
      ...listFilterConditions('r', filter, ['name'], bind),
    ],
  };
}

/**
 * Returns the roles of these unprefixed ids, in the ids' order: the built-in ones, and with the permission the
 * enterprise's own; null for each other id.
 */
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

/**
 * Returns the roles of these names, case-insensitive, as {@link findRolesByIds} does. A name is unique in its scope.
 */
export async function findRolesByName(
  { viewer, store }: Context,
  keys: readonly Pick<RoleRecord, 'scope' | 'name'>[],
): Promise<(RoleRecord | null)[]> {
  const rows = await store.query<WithKeyPosition<RoleColumns>>(
    `select k.position::int as "keyPosition", ${roleColumns}
       from unnest($1::text[], $2::text[]) with ordinality k (scope, name, position)
       join role r on r.scope = k.scope and lower(r.name) = lower(k.name)
      where r.enterprise_id is null or ($4::boolean and r.enterprise_id = $3)`,
    [
      keys.map(({ scope }) => scope),
      keys.map(({ name }) => name),
      viewer.enterpriseId,
      viewer.enterprisePermissions.has(permissionFor.viewRoles),
    ],
  );
  return inOrderOfKeys<RoleColumns>(keys.length, rows).map((row) => row && toRole(row));
}
