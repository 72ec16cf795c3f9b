import { permissionFor } from '../../auth/permissions.ts';
import { hasPermission } from '../../auth/viewer.ts';
import type { Context } from '../context.ts';
import { requireUsable } from '../identity/organizations/use-organization.ts';

/** Number of tags of an organization that are read, as many as it may allow. */
const maxTags = 1_000;

// Reads one row of the index for each tag, however many sessions have it.
const statement = `
  select o.id, t.tags from organization o cross join lateral (
    with recursive used as (
      (select t.tag, 1 as n from session_tag t where t.organization_id = o.id order by t.tag limit 1)
      union all
      select (select t.tag from session_tag t where t.organization_id = o.id and t.tag > used.tag order by t.tag limit 1), used.n + 1
        from used where used.tag is not null and used.n < $3::int)
    select coalesce(array_agg(used.tag order by used.tag) filter (where used.tag is not null), '{}') as tags from used) t
   where o.id = any($1::text[]) and o.enterprise_id = $2 and o.deleted_at is null`;

/** Throws ORGANIZATION_NOT_USABLE or FORBIDDEN if the viewer may not see the sessions of an organization, and so not their tags. */
export function requireViewingTags(context: Context, organizationId: string): void {
  requireUsable(context, organizationId, permissionFor.viewSession);
}

/**
 * Returns the tags that sessions of these organizations have, by unprefixed ids and in their order: sorted, and at most the first 1,000
 * of each. Null for an organization whose sessions the viewer may not see.
 */
export async function findTagsInUse(
  { store, viewer }: Context,
  organizationIds: readonly string[],
): Promise<(readonly string[] | null)[]> {
  const visible = organizationIds.filter((id) => hasPermission(viewer, permissionFor.viewSession, id));
  const rows = await store.query<{ id: string; tags: string[] }>(statement, [visible, viewer.enterpriseId, maxTags]);
  const found = new Map(rows.map(({ id, tags }) => [id, tags.toSorted()]));
  return organizationIds.map((id) => found.get(id) ?? null);
}
