import { timingSafeEqual } from 'node:crypto';
import { DomainError } from '../domain/errors.ts';
import type { Keyring } from '../store/cipher.ts';
import type { Store } from '../store/store.ts';
import { isAddressAllowed } from './ip-ranges.ts';
import type { KeyCache } from './key-cache.ts';
import { organizationPermissions, type RolePermission } from './permissions.ts';
import type { ApiKeyKind, Principal, Viewer } from './viewer.ts';

interface Grant {
  organizationId: string | null;
  scope: string;
  permissions: RolePermission[];
}

/** A key with its owner, as the database has it. */
export interface KeyRow {
  id: string;
  tokenHash: string;
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
  userDeletedAt: Date | null;
  ipRanges: string[];
  grants: Grant[];
}

// One statement: the key, its owner, every role with deleted organizations left out, and from where it may be used.
const keysWith = (columns: string, join: string) => `
  select ${columns}k.id, k.token_hash as "tokenHash", k.kind, k.name, k.enterprise_id as "enterpriseId", k.organization_id as "organizationId", k.user_id as "userId",
         k.service_user_id as "serviceUserId", k.expires_at as "expiresAt", k.revoked_at as "revokedAt",
         u.email, u.name as "userName", s.name as "serviceUserName", s.organization_id as "serviceUserOrganizationId",
         s.expires_at as "serviceUserExpiresAt", s.deleted_at as "serviceUserDeletedAt", ko.deleted_at as "organizationDeletedAt",
         u.deleted_at as "userDeletedAt", e.ip_ranges as "ipRanges",
         (select coalesce(json_agg(g), '[]'::json) from (
            select a.organization_id as "organizationId", r.scope, r.permissions
              from role_assignment a join role r on r.id = a.role_id left join organization o on o.id = a.organization_id
             where (a.user_id = k.user_id or a.service_user_id = k.service_user_id) and o.deleted_at is null
            union all
            select k.organization_id, r.scope, r.permissions from role r where r.id = k.role_id) g) as grants
    from api_key k
    join enterprise e on e.id = k.enterprise_id
    left join user_account u on u.id = k.user_id
    left join service_user s on s.id = k.service_user_id
    left join organization ko on ko.id = k.organization_id ${join}`;
const keys = keysWith('', '');
const keysWithEpoch = keysWith('(select key_epoch from installation) as epoch, ', '');
const keysOfSessions = keysWith(
  `c.id as "consoleSessionId", c.token_hash as "sessionHash", c.page_secret_hash as "pageSecretHash",
   c.expires_at as "sessionExpiresAt", c.confirmed_at as "confirmedAt", `,
  'join console_session c on c.api_key_id = k.id',
);

interface SessionRow extends KeyRow {
  consoleSessionId: string;
  sessionHash: string;
  pageSecretHash: string;
  sessionExpiresAt: Date;
  confirmedAt: Date | null;
}

/** What is remembered of a key that was good when it was read. */
export interface CachedKey {
  readonly row: KeyRow;
  readonly viewer: Viewer;
  /** See {@link KeyUsage}. */
  readonly newHash: string | null;
  readonly epoch: number;
}

/** What {@link authenticate} needs. */
export interface AuthServices {
  readonly store: Store;
  readonly keyCache: KeyCache<CachedKey>;
  readonly keyring: Keyring;
  readonly now: () => Date;
  readonly keyUsage: KeyUsage;
}

/** Remembers that a key was used; written down later, for many at once. */
export interface KeyUsage {
  /** `newHash`: the token's hash under the present pepper, where the one that is stored is of the previous one. */
  recordUse(apiKeyId: string, newHash: string | null): void;
}

/** What is said of a missing, unknown, expired or revoked key: the wire's words (wire-facts 1). */
export const invalidKeyMessage = 'Missing or invalid Authorization header.';

/** Message for a browser without a sign-in to the console, or whose sign-in has ended. */
export const notSignedInMessage = "You aren't signed in. Sign in again.";

/**
 * The viewer of a token that comes from a network address. UNAUTHENTICATED for one that is unknown, expired or revoked, in
 * the same words for all three: the answer must not say whether a token was ever good. Also, in other words, for a good
 * one from an address that the enterprise's IP access list leaves out (wire-facts 0.15).
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
  services.keyUsage.recordUse(key.row.id, key.newHash);
  return key.viewer;
}

/**
 * The viewer of a token that this process has seen lately, as {@link authenticate} gives it. Null: it is to be
 * authenticated, and may be good or not.
 */
export function findCachedViewer(
  services: AuthServices,
  token: string,
  address: string | null,
): Viewer | null | Promise<Viewer | null> {
  const use = (key: CachedKey | null): Viewer | null => {
    if (!key || !isLive(key.row, services.now()) || !isAddressAllowed(key.row.ipRanges, address)) return null;
    services.keyUsage.recordUse(key.row.id, key.newHash);
    return key.viewer;
  };
  const cached = services.keyCache.find(token);
  return cached instanceof Promise ? cached.then(use) : use(cached);
}

async function readKey(services: AuthServices, token: string | null): Promise<CachedKey | null> {
  const hashes = token === null ? [] : services.keyring.tokenHashes(token);
  const row = await findKey(services, hashes);
  if (!row || token === null) return null;
  const [presentHash] = hashes;
  const newHash = presentHash === undefined || presentHash === row.tokenHash ? null : presentHash;
  const key = { row, viewer: toViewer(row), newHash, epoch: row.epoch };
  // What has ended is not remembered: there may be no end of those.
  if (isLive(row, services.now())) services.keyCache.set(token, key);
  return key;
}

/** The two halves of a browser's sign-in to the console, as one request brings them. */
export interface ConsoleCredentials {
  /** The codes in its cookies: more than one where another server of the host has set a cookie of the same name. */
  readonly cookies: readonly string[];
  /** Null: the request has none, and so no access. */
  readonly pageSecret: string | null;
}

/**
 * The viewer of a browser that is signed in to the console, by both halves of its sign-in: that of the key it was signed in
 * with, as long as both last. A cookie counts only with the page secret of the same sign-in. UNAUTHENTICATED as
 * {@link authenticate}.
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
  services.keyUsage.recordUse(row.id, null);
  const { consoleSessionId: id, sessionExpiresAt: expiresAt, confirmedAt } = row;
  return ofSession(row, { id, expiresAt, confirmedAt });
}

/** A key in use: from where, and in which session of the console, if in one. */
export interface KeyInUse {
  readonly apiKeyId: string;
  readonly address: string | null;
  readonly consoleSessionId?: string | undefined;
}

/**
 * The present viewers of these keys, by the keys' bare ids, each for the address where it is in use. A key that has ended,
 * or may not be used from there any more, has none; nor has one whose session of the console is over. At most two
 * statements; at most 1,000 keys.
 */
export async function findViewers(
  services: Pick<AuthServices, 'store' | 'now'>,
  uses: readonly KeyInUse[],
): Promise<(Viewer | null)[]> {
  const ids = [...new Set(uses.map(({ apiKeyId }) => apiKeyId))];
  const rows = await services.store.query<KeyRow>(`${keys} where k.id = any($1)`, [ids]);
  const found = new Map(rows.map((row) => [row.id, row]));
  const sessionIds = uses.flatMap(({ consoleSessionId }) => consoleSessionId ?? []);
  const sessions = await findSessions(services, sessionIds);
  return uses.map(({ apiKeyId, address, consoleSessionId }) => {
    const key = found.get(apiKeyId);
    if (!key || !isLive(key, services.now()) || !isAddressAllowed(key.ipRanges, address)) return null;
    if (consoleSessionId === undefined) return toViewer(key);
    const session = sessions.get(consoleSessionId);
    return session ? ofSession(key, session) : null;
  });
}

async function findSessions({ store, now }: Pick<AuthServices, 'store' | 'now'>, ids: readonly string[]) {
  if (ids.length === 0) return new Map<string, ConsoleSession>();
  const rows = await store.query<ConsoleSession>(
    `select id, expires_at as "expiresAt", confirmed_at as "confirmedAt" from console_session
      where id = any($1) and expires_at > $2`,
    [ids, now()],
  );
  return new Map(rows.map((row) => [row.id, row]));
}

interface ConsoleSession {
  readonly id: string;
  readonly expiresAt: Date;
  readonly confirmedAt: Date | null;
}

function ofSession(key: KeyRow, session: ConsoleSession): Viewer {
  const viewer = toViewer(key);
  const expiresAt = viewer.expiresAt && viewer.expiresAt < session.expiresAt ? viewer.expiresAt : session.expiresAt;
  const { id: consoleSessionId, confirmedAt } = session;
  return { ...viewer, expiresAt, consoleSessionId, confirmedAt, keyExpiresAt: viewer.expiresAt };
}

function requireAddress({ ipRanges }: KeyRow, address: string | null): void {
  if (isAddressAllowed(ipRanges, address)) return;
  throw new DomainError('UNAUTHENTICATED', 'The IP access list does not allow requests from this address.');
}

/**
 * Whether any key at all may be used from an address: for what opens before it says whose it is. False only where every
 * enterprise of the installation has an IP access list, and none lets the address in.
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
  // The index compares as fast as it can. What it compares is a keyed hash, of which nobody outside knows a bit to refine;
  // this costs nothing and does not rely on it.
  return key && isAmong(key.tokenHash, hashes) ? key : null;
}

function isAmong(stored: string, hashes: readonly string[]): boolean {
  return hashes.some((hash) => timingSafeEqual(Buffer.from(hash), Buffer.from(stored)));
}

function isLive(key: KeyRow, now: Date): boolean {
  if (key.revokedAt || key.userDeletedAt || key.serviceUserDeletedAt || key.organizationDeletedAt) return false;
  return [key.expiresAt, key.serviceUserExpiresAt].every((end) => end === null || end > now);
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
