import { permissionFor } from '../../../auth/permissions.ts';
import type { Context } from '../../context.ts';
import { inOrderOf } from '../../find-by-ids.ts';

/** A service key as a principal: the values that are visible to every viewer who can read its objects. */
export interface ServiceKeyRecord {
  readonly id: string;
  readonly name: string;
  /** The one organization that it acts in; null: the enterprise. */
  readonly organizationId: string | null;
  readonly createdAt: Date;
  readonly revokedAt: Date | null;
}

// A service key is visible as a service user is: to viewers in its organization, and to those who may see the service
// users or the members of the enterprise. As an author, a key that was revoked, whose organization is deleted, or
// that acts in the enterprise is visible to every viewer who can read its objects.
const visible = `
  select k.id, k.name, k.organization_id as "organizationId", k.created_at as "createdAt", k.revoked_at as "revokedAt"
    from api_key k left join organization o on o.id = k.organization_id
   where k.id = any($1::text[]) and k.kind = 'SERVICE' and k.enterprise_id = $2
     and case when k.revoked_at is not null or o.deleted_at is not null then $6::boolean
         else $3::boolean or k.id = $4 or k.organization_id = any($5::text[])
           or ($6::boolean and k.organization_id is null)
           or ($7::boolean and k.organization_id is not null) end`;

async function findVisible(
  { store, viewer }: Context,
  ids: readonly string[],
  asAuthors: boolean,
): Promise<(ServiceKeyRecord | null)[]> {
  const granted = viewer.enterprisePermissions;
  const seesAll =
    granted.has(permissionFor.viewEnterpriseMembers) || granted.has(permissionFor.viewEnterpriseServiceUsers);
  const organizations = [...viewer.organizations.keys()];
  const sharesAll = viewer.everywhere.size > 0;
  const values = [ids, viewer.enterpriseId, seesAll, viewer.apiKeyId, organizations, asAuthors, sharesAll];
  return inOrderOf(ids, await store.query<ServiceKeyRecord>(visible, values));
}

/**
 * Returns the live service keys of these unprefixed ids that the viewer may see, in the ids' order; null for each other
 * id. One statement.
 */
export function findServiceKeys(context: Context, ids: readonly string[]): Promise<(ServiceKeyRecord | null)[]> {
  return findVisible(context, ids, false);
}

/** Like {@link findServiceKeys}, with ended keys and those of the enterprise. Only for ids on an object that the viewer can read. */
export function findServiceKeyAuthors(context: Context, ids: readonly string[]): Promise<(ServiceKeyRecord | null)[]> {
  return findVisible(context, ids, true);
}
