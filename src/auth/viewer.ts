import { MissingPermissionError } from '../domain/errors.ts';
import {
  type EnterprisePermission,
  enterprisePermissions,
  manageOwnSessions,
  type OrganizationPermission,
  organizationPermissions,
  type Permission,
  type RolePermission,
} from './permissions.ts';

/** The four kinds of key (pinned 1). */
export const apiKeyKinds = ['PERSONAL', 'SERVICE', 'PERSONAL_ACCESS_TOKEN', 'SERVICE_USER'] as const;
/** A kind of key: it decides the token's prefix and the doors that take it. */
export type ApiKeyKind = (typeof apiKeyKinds)[number];

/** Who acts. A service key acts for itself; `SYSTEM` is the service (worker, scheduler). */
export type Principal =
  | { readonly type: 'USER'; readonly id: string; readonly name: string | null; readonly email: string }
  | { readonly type: 'SERVICE_USER'; readonly id: string; readonly name: string }
  | { readonly type: 'SERVICE_KEY'; readonly id: string; readonly name: string }
  | { readonly type: 'SYSTEM'; readonly id: 'system' };

/** An authenticated caller and what it may do. Every domain function gets one in its context. */
export interface Viewer {
  readonly principal: Principal;
  readonly keyKind: ApiKeyKind | null;
  readonly apiKeyId: string | null;
  readonly apiKeyName: string | null;
  readonly enterpriseId: string;
  /** The one organization of an organization-scoped key or service user; null: several, or the enterprise. */
  readonly homeOrganizationId: string | null;
  readonly enterprisePermissions: ReadonlySet<RolePermission>;
  /** Held in every organization of the enterprise (account_admin). */
  readonly everywhere: ReadonlySet<RolePermission>;
  readonly organizations: ReadonlyMap<string, ReadonlySet<RolePermission>>;
  /** When the key ends by itself, or the session of the console in which it is used; null: never. */
  readonly expiresAt: Date | null;
  /** The session of the console in which the key is used; bare. */
  readonly consoleSessionId?: string;
  /** Of a session of the console: when the browser last showed the key's token; null: never, as after a link. */
  readonly confirmedAt?: Date | null;
  /** Of a session of the console: when the key itself ends, which may be later than the session. */
  readonly keyExpiresAt?: Date | null;
}

/** When the key of the viewer ends by itself, whatever it is used in; null: never. */
export function endOfKey({ consoleSessionId, expiresAt, keyExpiresAt = null }: Viewer): Date | null {
  return consoleSessionId === undefined ? expiresAt : keyExpiresAt;
}

/** True when the viewer may use the organization at all, provided that it is one of its enterprise. */
export function mayUseOrganization(viewer: Viewer, organizationId: string): boolean {
  return viewer.everywhere.size > 0 || viewer.organizations.has(organizationId);
}

/** Whether the viewer holds a permission in an organization of its enterprise. `own`: the thing acted on is its own. */
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

/** The permissions that the viewer holds in an organization of its enterprise, in the order of their table. */
export function permissionsIn(viewer: Viewer, organizationId: string): OrganizationPermission[] {
  return organizationPermissions.filter((permission) => hasPermission(viewer, permission, organizationId));
}

/**
 * The permissions that the viewer holds on the enterprise, in the order of their tables: those of an organization among them are
 * held in every organization.
 */
export function permissionsOnEnterprise({ enterprisePermissions: granted, everywhere }: Viewer): Permission[] {
  const all: readonly Permission[] = [...enterprisePermissions, ...organizationPermissions];
  return all.filter((permission) => granted.has(permission) || everywhere.has(permission));
}

/** FORBIDDEN, naming the permission, unless the viewer holds it in the organization. */
export function requirePermission(
  viewer: Viewer,
  permission: OrganizationPermission,
  organizationId: string,
  own: boolean = false,
): void {
  if (!hasPermission(viewer, permission, organizationId, own)) throw missingPermission(permission);
}

/** FORBIDDEN, naming the permission, unless the viewer holds it on the enterprise. */
export function requireEnterprisePermission(viewer: Viewer, permission: EnterprisePermission): void {
  if (!viewer.enterprisePermissions.has(permission)) throw missingPermission(permission);
}

/**
 * FORBIDDEN, naming the first permission, unless the viewer holds one of them in the organization of a bare id, or in any one
 * where none is named. For acts on a thing by its id: a caller who lacks the permission learns nothing about the id.
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

/** FORBIDDEN, naming the permission. */
export function missingPermission(permission: RolePermission): MissingPermissionError {
  const issue = { path: [permission], message: 'This permission is needed.' };
  return new MissingPermissionError(permission, `Missing permission ${permission}.`, [issue]);
}

/** The organizations in which the viewer holds any of some permissions, as parameters of a WHERE on `organization`. */
export function organizationsWith(
  viewer: Viewer,
  ...permissions: readonly RolePermission[]
): { enterpriseId: string; all: boolean; ids: string[] } {
  const hasAny = (granted: ReadonlySet<RolePermission>) => permissions.some((permission) => granted.has(permission));
  const ids = [...viewer.organizations].filter(([, granted]) => hasAny(granted)).map(([id]) => id);
  return { enterpriseId: viewer.enterpriseId, all: hasAny(viewer.everywhere), ids };
}

/** Bare id of who made a thing: at most one is set; none is the service itself. */
export interface Owner {
  readonly userId: string | null;
  readonly serviceUserId: string | null;
  readonly serviceKeyId: string | null;
}

/** The owner of what the viewer makes. */
export function ownerOf(viewer: Viewer): Owner {
  const { type, id } = viewer.principal;
  return {
    userId: type === 'USER' ? id : null,
    serviceUserId: type === 'SERVICE_USER' ? id : null,
    serviceKeyId: type === 'SERVICE_KEY' ? id : null,
  };
}

/** What the service itself acts as, within one enterprise. Holds everything there; never made from a request. */
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
