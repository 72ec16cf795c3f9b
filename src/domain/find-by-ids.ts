import type { RolePermission } from '../auth/permissions.ts';
import { organizationsWith } from '../auth/viewer.ts';
import type { Context } from './context.ts';

/** The rows of these bare ids, in the ids' order, as loaders want them; null for an id without one. */
export function inOrderOf<T extends { readonly id: string }>(ids: readonly string[], rows: readonly T[]): (T | null)[] {
  const found = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => found.get(id) ?? null);
}

/** A row with the place of its key among those that were asked for: 1 for the first. */
export type WithKeyPosition<T> = T & { readonly keyPosition: number };

/** Rows of so many keys, in the keys' order, as loaders want them; null for a key without one. */
export function inOrderOfKeys<T>(count: number, rows: readonly WithKeyPosition<T>[]): (T | null)[] {
  const found = new Array<T | null>(count).fill(null);
  for (const { keyPosition, ...row } of rows) found[keyPosition - 1] ??= row as T;
  return found;
}

/** Where rows with an `organization_id` are: the alias of their table, and their columns of it. */
interface OrganizationTable {
  readonly table: string;
  readonly row: string;
  readonly columns: string;
}

/**
 * Those of these bare ids that are in organizations where the viewer has any of the permissions, in the ids' order; null for
 * each other.
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
