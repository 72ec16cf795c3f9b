import { MissingPermissionError } from '../common/errors.ts';
import {
  type EnterprisePermission,
  enterprisePermissions,
  manageOwnSessions,
  type OrganizationPermission,
  organizationPermissions,
  type Permission,
  type RolePermission,
} from './permissions.ts';

/** The four kinds of key (docs/security.md#keys). */
export const apiKeyKinds = ['PERSONAL', 'SERVICE', 'PERSONAL_ACCESS_TOKEN', 'SERVICE_USER'] as const;
/** A kind of key. It determines the token's prefix and the API versions that accept the key. */
export type ApiKeyKind = (typeof apiKeyKinds)[number];

/** The acting identity. A service key acts for itself; `SYSTEM` is the service (worker, scheduler). */
export type Principal =
  | { readonly type: 'USER'; readonly id: string; readonly name: string | null; readonly email: string }
  | { readonly type: 'SERVICE_USER'; readonly id: string; readonly name: string }
  | { readonly type: 'SERVICE_KEY'; readonly id: string; readonly name: string }
  | { readonly type: 'SYSTEM'; readonly id: 'system' };

/** An authenticated caller with its permissions. The context of every domain function has one. */
export interface Viewer {
  readonly principal: Principal;
  readonly keyKind: ApiKeyKind | null;
  readonly apiKeyId: string | null;
  readonly apiKeyName: string | null;
  readonly enterpriseId: string;
  /** The one organization of an organization-scoped key or service user; null: several, or the enterprise. */
  readonly homeOrganizationId: string | null;
  readonly enterprisePermissions: ReadonlySet<RolePermission>;
  /** Permissions granted in every organization of the enterprise (account_admin). */
  readonly everywhere: ReadonlySet<RolePermission>;
  readonly organizations: ReadonlyMap<string, ReadonlySet<RolePermission>>;
  /** The time when the key expires, or the console session in which it is used; null: never. */
  readonly expiresAt: Date | null;
  /** The unprefixed id of the console session in which the key is used, or in which a user acts without a key. */
  readonly consoleSessionId?: string;
  /**
   * For a console session: the time when the browser last sent the key's token, or its user entered credentials at an identity
   * provider; null: never, for example after a sign-in by link.
   */
  readonly confirmedAt?: Date | null;
  /** For a console session: the time when the key itself expires, which may be later than the session. */
  readonly keyExpiresAt?: Date | null;
}

/** Returns the time when the viewer's key expires, even if a console session uses it; null: never. */
export function endOfKey({ consoleSessionId, expiresAt, keyExpiresAt = null }: Viewer): Date | null {
  return consoleSessionId === undefined ? expiresAt : keyExpiresAt;
}

/** Returns the name of the viewer for people: for a user without a name, the email address. */
export function viewerName({ principal }: Viewer): string {
  if (principal.type === 'SYSTEM') return 'Switchyard';
  return principal.type === 'USER' ? (principal.name ?? principal.email) : principal.name;
}

/** True when the viewer may use the organization at all, provided that it is one of its enterprise. */
export function mayUseOrganization(viewer: Viewer, organizationId: string): boolean {
  return viewer.everywhere.size > 0 || viewer.organizations.has(organizationId);
}

/**
 * Tells if the viewer has a permission in an organization of its enterprise. `own`: the object belongs to the viewer.
 */
export function hasPermission(
  viewer: Viewer,
  permission: OrganizationPermission,
  organizationId: string,
  own: boolean = false,
): boolean {
  const inOrganization = viewer.organizations.get(organizationId);
  const has = (name: RolePermission) => viewer.everywhere.has(name) || (inOrganization?.has(name) ?? false);
  return has(permission) || (own && permission === 'ManageOrgSessions' && has(manageOwnSessions));
}

/** Lists the permissions that the viewer has in an organization of its enterprise, in the order of the table. */
export function permissionsIn(viewer: Viewer, organizationId: string): OrganizationPermission[] {
  return organizationPermissions.filter((permission) => hasPermission(viewer, permission, organizationId));
}

/**
 * Lists the permissions that the viewer has on the enterprise, in the order of the tables. Organization permissions
 * among them apply in every organization.
 */
export function permissionsOnEnterprise({ enterprisePermissions: granted, everywhere }: Viewer): Permission[] {
  const all: readonly Permission[] = [...enterprisePermissions, ...organizationPermissions];
  return all.filter((permission) => granted.has(permission) || everywhere.has(permission));
}

/** Throws FORBIDDEN with the permission's name unless the viewer has the permission in the organization. */
export function requirePermission(
  viewer: Viewer,
  permission: OrganizationPermission,
  organizationId: string,
  own: boolean = false,
): void {
  if (!hasPermission(viewer, permission, organizationId, own)) throw missingPermission(permission);
}

/** Throws FORBIDDEN with the permission's name unless the viewer has the permission on the enterprise. */
export function requireEnterprisePermission(viewer: Viewer, permission: EnterprisePermission): void {
  if (!viewer.enterprisePermissions.has(permission)) throw missingPermission(permission);
}

/**
 * Throws FORBIDDEN with the first permission's name unless the viewer has one of the permissions in the organization of
 * an unprefixed id, or in any organization if none is named. For actions on an object by its id: a caller who lacks the
 * permission learns nothing about the id.
 */
export function requireAnyPermission(
  viewer: Viewer,
  anyOf: readonly [OrganizationPermission, ...OrganizationPermission[]],
  organizationId?: string,
): void {
  const { all, ids } = organizationsWith(viewer, ...anyOf);
  const isGranted =
    organizationId === undefined
      ? all || ids.length > 0
      : anyOf.some((permission) => hasPermission(viewer, permission, organizationId));
  if (!isGranted) throw missingPermission(anyOf[0]);
}

/** Creates the FORBIDDEN error that names the permission. */
export function missingPermission(permission: RolePermission): MissingPermissionError {
  const issue = { path: [permission], message: 'This permission is needed.' };
  return new MissingPermissionError(permission, `Missing permission ${permission}.`, [issue]);
}

/**
 * Returns the organizations in which the viewer has any of some permissions, as parameters of a WHERE on
 * `organization`.
 */
export function organizationsWith(
  viewer: Viewer,
  ...permissions: readonly RolePermission[]
): { enterpriseId: string; all: boolean; ids: string[] } {
  const hasAny = (granted: ReadonlySet<RolePermission>) => permissions.some((permission) => granted.has(permission));
  const ids = [...viewer.organizations].filter(([, granted]) => hasAny(granted)).map(([id]) => id);
  return { enterpriseId: viewer.enterpriseId, all: hasAny(viewer.everywhere), ids };
}

/** Unprefixed id of an object's creator. At most one is set; none: the service itself. */
export interface Owner {
  readonly userId: string | null;
  readonly serviceUserId: string | null;
  readonly serviceKeyId: string | null;
}

/** Returns the owner of an object that the viewer creates. */
export function ownerOf(viewer: Viewer): Owner {
  const { type, id } = viewer.principal;
  return {
    userId: type === 'USER' ? id : null,
    serviceUserId: type === 'SERVICE_USER' ? id : null,
    serviceKeyId: type === 'SERVICE_KEY' ? id : null,
  };
}

/**
 * Creates the viewer of the service itself within one enterprise. It has all permissions there and is never made from a
 * request.
 */
export function systemViewer(enterpriseId: string, all: readonly RolePermission[]): Viewer {
  return {
    principal: { type: 'SYSTEM', id: 'system' },
    keyKind: null,
    apiKeyId: null,
    apiKeyName: null,
    enterpriseId,
    homeOrganizationId: null,
    enterprisePermissions: new Set(all),
    everywhere: new Set(all),
    organizations: new Map(),
    expiresAt: null,
  };
}
