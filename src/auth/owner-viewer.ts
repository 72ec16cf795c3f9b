import type { Store } from '../store/store.ts';
import { rolesOfUser } from './group-roles.ts';
import { manageOwnSessions, organizationPermissions, type RolePermission } from './permissions.ts';
import type { Principal, Viewer } from './viewer.ts';

/** The owner of an object, and its organization. Both ids are null if a service key owns it. */
export interface OrganizationOwner {
  readonly userId: string | null;
  readonly serviceUserId: string | null;
  readonly organizationId: string;
}

interface OwnerRow {
  enterpriseId: string;
  email: string | null;
  userName: string | null;
  serviceUserName: string | null;
  isGone: boolean;
  permissions: RolePermission[] | null;
}

// An enterprise role that contains organization permissions grants them in every organization (account_admin).
const ofOrganizations: ReadonlySet<RolePermission> = new Set([...organizationPermissions, manageOwnSessions]);

const owners = `
  select o.enterprise_id as "enterpriseId", u.email, u.name as "userName", x.name as "serviceUserName",
         o.deleted_at is not null or ($2::text is not null and (u.id is null or coalesce(u.deleted_at, u.deactivated_at) is not null))
           or ($3::text is not null and (x.id is null or x.deleted_at is not null or x.expires_at <= $4::timestamptz)) as "isGone",
         (select json_agg(distinct p) from (
              select b.organization_id, b.role_id from role_assignment b where b.service_user_id = $3
               union all ${rolesOfUser('$2')}) a
            join role r on r.id = a.role_id cross join lateral unnest(r.permissions) p
           where (a.organization_id = o.id or (r.scope <> 'organization' and a.organization_id is null))) as permissions
    from organization o
    left join user_account u on u.id = $2 and u.enterprise_id = o.enterprise_id
    left join service_user x on x.id = $3 and x.enterprise_id = o.enterprise_id
   where o.id = $1`;

/**
 * Returns the current viewer of an object's owner, limited to the object's organization, for actions in the owner's
 * name without a key. Returns null if the owner or the organization is gone, and for a deactivated user. An object of a service key has no
 * principal: its viewer has the permissions in `unowned`. Within a transaction, pass the transaction as the store.
 */
export async function findOwnerViewer(
  services: { readonly store: Pick<Store, 'query'>; readonly now: () => Date },
  { userId, serviceUserId, organizationId }: OrganizationOwner,
  unowned: readonly RolePermission[],
): Promise<Viewer | null> {
  const [row] = await services.store.query<OwnerRow>(owners, [organizationId, userId, serviceUserId, services.now()]);
  if (!row || row.isGone) return null;
  const isOwned = userId !== null || serviceUserId !== null;
  const granted = isOwned ? (row.permissions ?? []).filter((each) => ofOrganizations.has(each)) : unowned;
  return {
    principal: principalOf(row, userId, serviceUserId),
    keyKind: null,
    apiKeyId: null,
    apiKeyName: null,
    enterpriseId: row.enterpriseId,
    homeOrganizationId: organizationId,
    enterprisePermissions: new Set(),
    everywhere: new Set(),
    organizations: new Map([[organizationId, new Set(granted)]]),
    expiresAt: null,
  };
}

function principalOf(row: OwnerRow, userId: string | null, serviceUserId: string | null): Principal {
  if (userId !== null) return { type: 'USER', id: userId, name: row.userName, email: row.email ?? '' };
  if (serviceUserId !== null) return { type: 'SERVICE_USER', id: serviceUserId, name: row.serviceUserName ?? '' };
  return { type: 'SYSTEM', id: 'system' };
}
