import type { RolePermission } from '../auth/permissions.ts';
import { organizationsWith, type Viewer } from '../auth/viewer.ts';
import type { Context } from './context.ts';

/** Orders rows by these unprefixed ids, as loaders need them; null for an id without a row. */
export function inOrderOf<T extends { readonly id: string }>(ids: readonly string[], rows: readonly T[]): (T | null)[] {
  const found = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => found.get(id) ?? null);
}

/** A row with the position of its key among the requested ones: 1 for the first. */
export type WithKeyPosition<T> = T & { readonly keyPosition: number };

/** Orders the rows of `count` keys by key, as loaders need them; null for a key without a row. */
export function inOrderOfKeys<T>(count: number, rows: readonly WithKeyPosition<T>[]): (T | null)[] {
  const found = new Array<T | null>(count).fill(null);
  for (const { keyPosition, ...row } of rows) found[keyPosition - 1] ??= row as T;
  return found;
}

/** A table with an `organization_id`: its alias, and the columns to select. */
interface OrganizationTable {
  readonly table: string;
  readonly row: string;
  readonly columns: string;
}

/**
 * Returns the rows of these unprefixed ids in organizations where the viewer has any of the permissions, in the ids'
 * order; null for each other id.
 */
export async function findInOrganizations<T extends { readonly id: string }>(
  { viewer, store }: Context,
  { table, row, columns }: OrganizationTable,
  ids: readonly string[],
  ...anyOf: readonly RolePermission[]
): Promise<(T | null)[]> {
  const organizations = organizationsWith(viewer, ...anyOf);
  const rows = await store.query<T>(
    `select ${columns} from ${table} ${row} join organization o on o.id = ${row}.organization_id
      where ${row}.id = any($1::text[]) and o.enterprise_id = $2 and o.deleted_at is null
        and ($3::boolean or o.id = any($4::text[]))`,
    [ids, organizations.enterpriseId, organizations.all, organizations.ids],
  );
  return inOrderOf(ids, rows);
}

/** The condition of {@link findInOrganizations} for the Prisma client. */
export function whereInOrganizations(viewer: Viewer, ...anyOf: readonly RolePermission[]) {
  const { enterpriseId, all, ids } = organizationsWith(viewer, ...anyOf);
  return { organization: { enterpriseId, deletedAt: null }, ...(all ? {} : { organizationId: { in: [...ids] } }) };
}
