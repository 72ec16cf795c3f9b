import type { Context } from '../../context.ts';
import type { Bind } from '../../nested-pages.ts';

/** Maximum depth of nested folders: a folder at the root has depth 1. */
export const maxFolderDepth = 8;

/**
 * Returns a subselect of the ids of the folders at a path from the root, case-insensitive: at most one in an
 * organization, one in each scope from the enterprise. The enterprise and the organization, or null, are SQL.
 */
export function folderIdsAt(names: readonly string[], enterprise: string, organization: string, bind: Bind): string {
  const path = bind(names);
  return `with recursive walk as (
      select f.id, 1 as depth from knowledge_folder f
       where f.enterprise_id = ${enterprise} and (${organization}::text is null or f.organization_id is null or f.organization_id = ${organization})
         and f.parent_id is null and lower(f.name) = lower((${path}::text[])[1])
      union all
      select f.id, w.depth + 1 from walk w join knowledge_folder f on f.parent_id = w.id
       where w.depth < ${maxFolderDepth} and lower(f.name) = lower((${path}::text[])[w.depth + 1]))
    select walk.id from walk where walk.depth = cardinality(${path}::text[])`;
}

// From each folder upwards; the depth only guards against invalid rows.
const pathsSql = `
  with recursive up as (
    select f.id as leaf, f.parent_id, f.name as path, 1 as depth from knowledge_folder f
     where f.id = any($1::text[]) and f.enterprise_id = $2
    union all
    select u.leaf, f.parent_id, f.name || '/' || u.path, u.depth + 1 from up u join knowledge_folder f on f.id = u.parent_id
     where u.depth < ${maxFolderDepth})
  select leaf as "folderId", path from up where parent_id is null`;

/**
 * Returns the paths of the folders of some notes, by unprefixed id, such as `Backend/Databases`. At most one statement.
 */
export async function findFolderPaths(
  context: Context,
  notes: readonly { readonly folderId: string | null }[],
): Promise<ReadonlyMap<string, string>> {
  const ids = [...new Set(notes.flatMap(({ folderId }) => folderId ?? []))];
  if (ids.length === 0) return new Map();
  const rows = await context.store.query<{ folderId: string; path: string }>(pathsSql, [
    ids,
    context.viewer.enterpriseId,
  ]);
  return new Map(rows.map(({ folderId, path }) => [folderId, path]));
}
