import { timingSafeEqual } from 'node:crypto';
import { DomainError } from '../common/errors.ts';
import type { Keyring } from '../store/cipher.ts';
import type { Store } from '../store/store.ts';
import { groupRolesOf } from './group-roles.ts';
import { isAddressAllowed } from './ip-ranges.ts';
import type { KeyCache } from './key-cache.ts';
import { organizationPermissions, type RolePermission } from './permissions.ts';
import type { ApiKeyKind, Owner, Principal, Viewer } from './viewer.ts';

interface Grant {
  organizationId: string | null;
  scope: string;
  permissions: RolePermission[];
}

/** A key and its owner, as stored in the database; or a user without a key, in a console session of its own. */
export interface KeyRow {
  /** Null, as `kind` and `name`: a user without a key. */
  id: string | null;
  tokenHash: string;
  kind: ApiKeyKind | null;
  name: string | null;
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
  /** The time at which the user was deleted or deactivated. */
  userEndedAt: Date | null;
  ipRanges: string[];
  grants: Grant[];
}

// Reads in one statement the key, its owner, every role (except in deleted organizations) and the addresses from which
// the key may be used.
const groupRoles = `(select gr.organization_id, gr.role_id from ${groupRolesOf('k.user_id')})`;
const keysWith = (columns: string, from: string) => `
  select ${columns}k.id, k.token_hash as "tokenHash", k.kind, k.name, k.enterprise_id as "enterpriseId", k.organization_id as "organizationId", k.user_id as "userId",
         k.service_user_id as "serviceUserId", k.expires_at as "expiresAt", k.revoked_at as "revokedAt",
         u.email, u.name as "userName", s.name as "serviceUserName", s.organization_id as "serviceUserOrganizationId",
         s.expires_at as "serviceUserExpiresAt", s.deleted_at as "serviceUserDeletedAt", ko.deleted_at as "organizationDeletedAt",
         coalesce(u.deleted_at, u.deactivated_at) as "userEndedAt", e.ip_ranges as "ipRanges",
         (select coalesce(json_agg(g), '[]'::json) from (
            select a.organization_id as "organizationId", r.scope, r.permissions
              from role_assignment a join role r on r.id = a.role_id left join organization o on o.id = a.organization_id
             where (a.user_id = k.user_id or a.service_user_id = k.service_user_id) and o.deleted_at is null
            union all
            select gr.organization_id, r.scope, r.permissions
              from ${groupRoles} gr join role r on r.id = gr.role_id left join organization o on o.id = gr.organization_id
             where o.deleted_at is null
            union all
            select k.organization_id, r.scope, r.permissions from role r where r.id = k.role_id) g) as grants
    from ${from}
    join enterprise e on e.id = k.enterprise_id
    left join user_account u on u.id = k.user_id
    left join service_user s on s.id = k.service_user_id
    left join organization ko on ko.id = k.organization_id`;
const keys = keysWith('', 'api_key k');
const keysWithEpoch = keysWith('(select key_epoch from installation) as epoch, ', 'api_key k');
// A session acts with a key or, after a sign-in at an identity provider, as its user.
const keysOfSessions = keysWith(
  `c.id as "consoleSessionId", c.token_hash as "sessionHash", c.page_secret_hash as "pageSecretHash",
   c.expires_at as "sessionExpiresAt", c.confirmed_at as "confirmedAt", `,
  `console_session c cross join lateral (
      select a.id, a.token_hash, a.kind, a.name, a.enterprise_id, a.organization_id, a.user_id, a.service_user_id, a.expires_at,
             a.revoked_at, a.role_id
        from api_key a where a.id = c.api_key_id
      union all
      select null, null, null, null, own.enterprise_id, null, own.id, null, null, null, null
        from user_account own where own.id = c.user_id) k`,
);

// A principal without a key of its own in use: a user, a service user or a service key.
const principals = keysWith(
  '',
  `(select null as id, null as token_hash, null as kind, null as name, own.enterprise_id, null as organization_id, own.id as user_id,
        null as service_user_id, null::timestamptz as expires_at, null::timestamptz as revoked_at, null as role_id
      from user_account own where own.id = $1
    union all
    select null, null, null, null, x.enterprise_id, x.organization_id, null, x.id, null, null, null from service_user x where x.id = $2
    union all
    select a.id, a.token_hash, a.kind, a.name, a.enterprise_id, a.organization_id, null, null, a.expires_at, a.revoked_at, a.role_id
      from api_key a where a.id = $3 and a.kind = 'SERVICE') k`,
);

interface SessionRow extends KeyRow {
  consoleSessionId: string;
  sessionHash: string;
  pageSecretHash: string;
  sessionExpiresAt: Date;
  confirmedAt: Date | null;
}

/** A cached key that was valid when it was read. */
export interface CachedKey {
  readonly row: KeyRow;
  readonly viewer: Viewer;
  /** See {@link KeyUsage}. */
  readonly newHash: string | null;
  readonly epoch: number;
}

/** Services that {@link authenticate} needs. */
export interface AuthServices {
  readonly store: Store;
  readonly keyCache: KeyCache<CachedKey>;
  readonly keyring: Keyring;
  readonly now: () => Date;
  readonly keyUsage: KeyUsage;
}

/** Records that a key was used. The records are written later, in batches. */
export interface KeyUsage {
  /** `newHash`: the token's hash under the current pepper, if the stored hash uses the previous pepper. */
  recordUse(apiKeyId: string, newHash: string | null): void;
}

/** Message for a missing, unknown, expired or revoked key, as clients expect it (docs/wire/README.md#keys-and-permissions). */
export const invalidKeyMessage = 'Missing or invalid Authorization header.';

/** The IP access list of the enterprise refuses a valid token at this address. */
export class AddressNotAllowedError extends DomainError {
  constructor() {
    super('UNAUTHENTICATED', 'The IP access list does not allow requests from this address.');
  }
}

/** Message for a browser that isn't signed in to the console, or whose sign-in has ended. */
export const notSignedInMessage = "You aren't signed in. Sign in again.";

/**
 * Returns the viewer of a token that comes from a network address. Throws UNAUTHENTICATED with the same message for an
 * unknown, an expired and a revoked token: the response must not reveal that a token was once valid. Throws
 * UNAUTHENTICATED with another message for a valid token from an address that the enterprise's IP access list excludes.
 */
export async function authenticate(
  services: AuthServices,
  token: string | null,
  address: string | null,
): Promise<Viewer> {
  const cached = token === null ? null : await services.keyCache.find(token);
  const key = cached ?? (await readKey(services, token));
  if (!key || !isLive(key.row, services.now())) {
    throw new DomainError('UNAUTHENTICATED', invalidKeyMessage);
  }
  requireAddress(key.row, address);
  recordUse(services, key.row, key.newHash);
  return key.viewer;
}

function recordUse({ keyUsage }: AuthServices, { id }: KeyRow, newHash: string | null): void {
  if (id !== null) keyUsage.recordUse(id, newHash);
}

async function readKey(services: AuthServices, token: string | null): Promise<CachedKey | null> {
  const hashes = token === null ? [] : services.keyring.tokenHashes(token);
  const row = await findKey(services, hashes);
  if (!row || token === null) return null;
  const [presentHash] = hashes;
  const newHash = presentHash === undefined || presentHash === row.tokenHash ? null : presentHash;
  const key = { row, viewer: toViewer(row), newHash, epoch: row.epoch };
  // Keys that have ended are not cached: their number is unlimited.
  if (isLive(row, services.now())) services.keyCache.set(token, key);
  return key;
}

/** The two halves of a browser's console sign-in, as one request sends them. */
export interface ConsoleCredentials {
  /**
   * The codes in its cookies. There is more than one if another server on the host has set a cookie with the same name.
   */
  readonly cookies: readonly string[];
  /** Null: the request has no page secret, and therefore no access. */
  readonly pageSecret: string | null;
}

/**
 * Returns the viewer of a browser that is signed in to the console, from both halves of its sign-in. It is the viewer
 * of the key that signed in, while the key and the sign-in both last; or the user, while it has a role. A cookie counts only with the page secret of the
 * same sign-in. Throws UNAUTHENTICATED as {@link authenticate} does.
 */
export async function authenticateConsole(
  services: AuthServices,
  { cookies, pageSecret }: ConsoleCredentials,
  address: string | null,
): Promise<Viewer> {
  const { keyring, store } = services;
  const hashes = cookies.flatMap((cookie) => keyring.tokenHashes(cookie));
  const secretHashes = pageSecret === null ? [] : keyring.tokenHashes(pageSecret);
  const [row] =
    secretHashes.length === 0 || hashes.length === 0
      ? []
      : await store.query<SessionRow>(
          `${keysOfSessions} where c.token_hash = any($1) and c.page_secret_hash = any($2)`,
          [hashes, secretHashes],
        );
  const now = services.now();
  const isMatch = row && isAmong(row.sessionHash, hashes) && isAmong(row.pageSecretHash, secretHashes);
  if (!isMatch || row.sessionExpiresAt <= now || !isLive(row, now)) {
    throw new DomainError('UNAUTHENTICATED', notSignedInMessage);
  }
  requireAddress(row, address);
  recordUse(services, row, null);
  return ofSession(row, sessionOf(row));
}

/** A key in use: its address, and its console session if it has one. */
export interface KeyInUse {
  /** Null: a console session of a user acts without a key. */
  readonly apiKeyId: string | null;
  readonly address: string | null;
  readonly consoleSessionId?: string | undefined;
}

/**
 * Returns the current viewers of these keys by unprefixed key id, each for the address that it is used from. A key has
 * no viewer if it has ended, may no longer be used from that address, or belongs to a console session that is over.
 * Sends at most two statements, for at most 1,000 keys and sessions of users.
 */
export async function findViewers(
  services: Pick<AuthServices, 'store' | 'now'>,
  uses: readonly KeyInUse[],
): Promise<(Viewer | null)[]> {
  const ids = [...new Set(uses.flatMap(({ apiKeyId }) => apiKeyId ?? []))];
  const sessionIds = [...new Set(uses.flatMap(({ consoleSessionId }) => consoleSessionId ?? []))];
  const rows = ids.length === 0 ? [] : await services.store.query<KeyRow>(`${keys} where k.id = any($1)`, [ids]);
  const found = new Map(rows.map((row) => [row.id, row]));
  const sessions = await findSessions(services, sessionIds);
  return uses.map(({ apiKeyId, address, consoleSessionId }) => {
    const session = consoleSessionId === undefined ? undefined : sessions.get(consoleSessionId);
    // A session never stands in for another key than its own.
    const key = apiKeyId === null ? (session?.id === null ? session : undefined) : found.get(apiKeyId);
    if (!key || !isLive(key, services.now()) || !isAddressAllowed(key.ipRanges, address)) return null;
    if (consoleSessionId === undefined) return toViewer(key);
    return session?.id === apiKeyId ? ofSession(key, sessionOf(session)) : null;
  });
}

/**
 * Returns the current viewer of a principal, without a key; null: it has ended, or has no role. `address`: it must be allowed;
 * undefined: any. Within a transaction, pass the transaction as the store.
 */
export async function findPrincipalViewer(
  { store, now }: { readonly store: Pick<Store, 'query'>; readonly now: () => Date },
  { userId, serviceUserId, serviceKeyId }: Owner,
  address?: string | null,
): Promise<Viewer | null> {
  const [row] = await store.query<KeyRow>(principals, [userId, serviceUserId, serviceKeyId]);
  if (!row || !isLive(row, now())) return null;
  if (address !== undefined && !isAddressAllowed(row.ipRanges, address)) return null;
  return toViewer(row);
}

async function findSessions({ store, now }: Pick<AuthServices, 'store' | 'now'>, ids: readonly string[]) {
  if (ids.length === 0) return new Map<string, SessionRow>();
  const rows = await store.query<SessionRow>(`${keysOfSessions} where c.id = any($1) and c.expires_at > $2`, [
    ids,
    now(),
  ]);
  return new Map(rows.map((row) => [row.consoleSessionId, row]));
}

interface ConsoleSession {
  readonly id: string;
  readonly expiresAt: Date;
  readonly confirmedAt: Date | null;
}

const sessionOf = ({ consoleSessionId: id, sessionExpiresAt: expiresAt, confirmedAt }: SessionRow): ConsoleSession => ({
  id,
  expiresAt,
  confirmedAt,
});

function ofSession(key: KeyRow, session: ConsoleSession): Viewer {
  const viewer = toViewer(key);
  const expiresAt = viewer.expiresAt && viewer.expiresAt < session.expiresAt ? viewer.expiresAt : session.expiresAt;
  const { id: consoleSessionId, confirmedAt } = session;
  return { ...viewer, expiresAt, consoleSessionId, confirmedAt, keyExpiresAt: viewer.expiresAt };
}

function requireAddress({ ipRanges }: KeyRow, address: string | null): void {
  if (isAddressAllowed(ipRanges, address)) return;
  throw new AddressNotAllowedError();
}

/**
 * Tells if any key at all may be used from an address, for connections that open before they authenticate. It is false
 * only if every enterprise of the installation has an IP access list, and no list contains the address.
 */
export async function isAnyoneAllowed(services: Pick<AuthServices, 'store'>, address: string | null): Promise<boolean> {
  const lists = await services.store.query<{ ipRanges: string[] }>(
    'select ip_ranges as "ipRanges" from enterprise',
    [],
  );
  return lists.some(({ ipRanges }) => isAddressAllowed(ipRanges, address));
}

async function findKey(
  services: AuthServices,
  hashes: readonly string[],
): Promise<(KeyRow & { readonly epoch: number }) | null> {
  if (hashes.length === 0) return null;
  const sql = `${keysWithEpoch} where k.token_hash = any($1)`;
  const [key] = await services.store.query<KeyRow & { readonly epoch: number }>(sql, [hashes]);
  // The index lookup doesn't take constant time. It compares a keyed hash, which an attacker can't refine bit by bit.
  // The constant-time comparison here is cheap and doesn't rely on that.
  return key && isAmong(key.tokenHash, hashes) ? key : null;
}

function isAmong(stored: string, hashes: readonly string[]): boolean {
  return hashes.some((hash) => timingSafeEqual(Buffer.from(hash), Buffer.from(stored)));
}

function isLive(key: KeyRow, now: Date): boolean {
  if (key.revokedAt || key.userEndedAt || key.serviceUserDeletedAt || key.organizationDeletedAt) return false;
  // A user without a role has nothing to sign in for; the last role may be lost at any time.
  if (key.id === null && key.grants.length === 0) return false;
  return [key.expiresAt, key.serviceUserExpiresAt].every((end) => end === null || end > now);
}

function toPrincipal(key: KeyRow): Principal {
  if (key.userId) return { type: 'USER', id: key.userId, name: key.userName, email: key.email ?? '' };
  if (key.serviceUserId) return { type: 'SERVICE_USER', id: key.serviceUserId, name: key.serviceUserName ?? '' };
  return { type: 'SERVICE_KEY', id: key.id ?? '', name: key.name ?? '' };
}

function toViewer(key: KeyRow): Viewer {
  // PERSONAL and SERVICE keys act in one organization only, also if their owner has roles in others (docs/security.md#keys).
  const only = key.kind === 'PERSONAL' || key.kind === 'SERVICE' ? key.organizationId : null;
  const enterprise = new Set<RolePermission>();
  const organizations = new Map<string, Set<RolePermission>>();
  const add = (organizationId: string, permissions: readonly RolePermission[]) => {
    if (permissions.length === 0 || (only !== null && organizationId !== only)) return;
    const granted = organizations.get(organizationId) ?? new Set();
    for (const permission of permissions) granted.add(permission);
    organizations.set(organizationId, granted);
  };
  const everywhere = new Set<RolePermission>();
  for (const grant of key.grants) {
    if (grant.scope === 'organization') {
      if (grant.organizationId) add(grant.organizationId, grant.permissions);
      continue;
    }
    for (const permission of grant.permissions) {
      enterprise.add(permission);
      // An enterprise role that contains organization permissions grants them in every organization (account_admin).
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
