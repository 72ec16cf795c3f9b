import { DomainError } from '../domain/errors.ts';
import type { Keyring } from '../store/cipher.ts';
import type { Store } from '../store/store.ts';
import { organizationPermissions, type RolePermission } from './permissions.ts';
import type { ApiKeyKind, Principal, Viewer } from './viewer.ts';

interface Grant {
  organizationId: string | null;
  scope: string;
  permissions: RolePermission[];
}

interface KeyRow {
  id: string;
  kind: ApiKeyKind;
  name: string;
  enterpriseId: string;
  organizationId: string | null;
  userId: string | null;
  serviceUserId: string | null;
  expiresAt: Date | null;
  revokedAt: Date | null;
  email: string | null;
  userName: string | null;
  serviceUserName: string | null;
  serviceUserOrganizationId: string | null;
  serviceUserExpiresAt: Date | null;
  serviceUserDeletedAt: Date | null;
  organizationDeletedAt: Date | null;
  grants: Grant[];
}

// One statement: the key, its owner and every role, with deleted organizations left out.
const findKey = `
  select k.id, k.kind, k.name, k.enterprise_id as "enterpriseId", k.organization_id as "organizationId", k.user_id as "userId",
         k.service_user_id as "serviceUserId", k.expires_at as "expiresAt", k.revoked_at as "revokedAt",
         u.email, u.name as "userName", s.name as "serviceUserName", s.organization_id as "serviceUserOrganizationId",
         s.expires_at as "serviceUserExpiresAt", s.deleted_at as "serviceUserDeletedAt", ko.deleted_at as "organizationDeletedAt",
         (select coalesce(json_agg(g), '[]'::json) from (
            select a.organization_id as "organizationId", r.scope, r.permissions
              from role_assignment a join role r on r.id = a.role_id left join organization o on o.id = a.organization_id
             where (a.user_id = k.user_id or a.service_user_id = k.service_user_id) and o.deleted_at is null
            union all
            select k.organization_id, r.scope, r.permissions from role r where r.id = k.role_id) g) as grants
    from api_key k
    left join user_account u on u.id = k.user_id
    left join service_user s on s.id = k.service_user_id
    left join organization ko on ko.id = k.organization_id
   where k.token_hash = any($1)`;

/** What {@link authenticate} needs. */
export interface AuthServices {
  readonly store: Store;
  readonly keyring: Keyring;
  readonly now: () => Date;
}

/**
 * The viewer of a token. UNAUTHENTICATED for one that is unknown, expired or revoked, in the same words for all three:
 * the answer must not say whether a token was ever good.
 */
export async function authenticate(services: AuthServices, token: string | null): Promise<Viewer> {
  const key = token === null ? null : await findLiveKey(services, token);
  if (!key) throw new DomainError('UNAUTHENTICATED', 'Missing or invalid Authorization header.');
  return toViewer(key);
}

async function findLiveKey(services: AuthServices, token: string): Promise<KeyRow | null> {
  const [key] = await services.store.query<KeyRow>(findKey, [services.keyring.tokenHashes(token)]);
  if (!key || key.revokedAt || key.serviceUserDeletedAt || key.organizationDeletedAt) return null;
  const now = services.now();
  const ends = [key.expiresAt, key.serviceUserExpiresAt];
  return ends.some((end) => end !== null && end <= now) ? null : key;
}

function toPrincipal(key: KeyRow): Principal {
  if (key.userId) return { type: 'USER', id: key.userId, name: key.userName, email: key.email ?? '' };
  if (key.serviceUserId) return { type: 'SERVICE_USER', id: key.serviceUserId, name: key.serviceUserName ?? '' };
  return { type: 'SERVICE_KEY', id: key.id, name: key.name };
}

function toViewer(key: KeyRow): Viewer {
  // PERSONAL and SERVICE keys act in one organization only, whatever their owner may do elsewhere (pinned 1).
  const only = key.kind === 'PERSONAL' || key.kind === 'SERVICE' ? key.organizationId : null;
  const enterprise = new Set<RolePermission>();
  const organizations = new Map<string, Set<RolePermission>>();
  const add = (organizationId: string, permissions: readonly RolePermission[]) => {
    if (permissions.length === 0 || (only !== null && organizationId !== only)) return;
    const held = organizations.get(organizationId) ?? new Set();
    for (const permission of permissions) held.add(permission);
    organizations.set(organizationId, held);
  };
  const everywhere = new Set<RolePermission>();
  for (const grant of key.grants) {
    if (grant.scope === 'organization') {
      if (grant.organizationId) add(grant.organizationId, grant.permissions);
      continue;
    }
    for (const permission of grant.permissions) {
      enterprise.add(permission);
      // An enterprise role that names organization permissions holds them in every organization (account_admin).
      if (only === null && isOrganizationPermission(permission)) everywhere.add(permission);
    }
    if (only !== null) add(only, grant.permissions.filter(isOrganizationPermission));
  }
  const expiries = [key.expiresAt, key.serviceUserExpiresAt].filter((end) => end !== null);
  return {
    principal: toPrincipal(key),
    keyKind: key.kind,
    apiKeyId: key.id,
    apiKeyName: key.name,
    enterpriseId: key.enterpriseId,
    homeOrganizationId: only ?? key.serviceUserOrganizationId,
    enterprisePermissions: enterprise,
    everywhere,
    organizations,
    expiresAt: expiries.length > 0 ? new Date(Math.min(...expiries.map(Number))) : null,
  };
}

function isOrganizationPermission(permission: RolePermission): boolean {
  return (organizationPermissions as readonly string[]).includes(permission);
}
