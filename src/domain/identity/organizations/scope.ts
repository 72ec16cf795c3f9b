import { z } from 'zod';
import type { EnterprisePermission, OrganizationPermission, Permission } from '../../../auth/permissions.ts';
import {
  hasPermission,
  missingPermission,
  organizationsWith,
  requireAnyPermission,
  requireEnterprisePermission,
  type Viewer,
} from '../../../auth/viewer.ts';
import { notFound } from '../../../common/errors.ts';
import type { Transaction } from '../../../store/store.ts';
import type { Context } from '../../context.ts';
import { inOrderOfKeys, type WithKeyPosition } from '../../find-by-ids.ts';
import { type Bind, type NestedList, organizationOwners } from '../../nested-pages.ts';
import { requireUsable, useOrganization } from './use-organization.ts';

/** The scope of an object that can belong to an organization or to the whole enterprise. The id is in any form. */
export type Scope = { readonly organizationId: string } | 'enterprise';

/** A scope that the viewer may act in; `organizationId` is unprefixed, null: the enterprise. */
export interface AuthorizedScope {
  readonly enterpriseId: string;
  readonly organizationId: string | null;
}

/**
 * The permissions that one act needs in an organization, and on the enterprise. The latter suffices for the objects of
 * all organizations.
 */
export interface ScopePermissions {
  readonly organization: OrganizationPermission;
  readonly enterprise: EnterprisePermission;
}

/**
 * Checks the scope that a path or an input names. Throws the errors of `useOrganization`; FORBIDDEN names a missing
 * permission.
 */
export async function useScope(
  context: Context,
  scope: Scope,
  permissions: ScopePermissions,
): Promise<AuthorizedScope> {
  const { enterpriseId } = context.viewer;
  if (scope === 'enterprise') {
    requireEnterprisePermission(context.viewer, permissions.enterprise);
    return { enterpriseId, organizationId: null };
  }
  const { id } = await useOrganization(context, scope.organizationId, permissions.organization);
  return { enterpriseId, organizationId: id };
}

/** The objects that a statement may select: those of all organizations, of some, and those of the enterprise itself. */
export interface ScopeFilter {
  readonly enterpriseId: string;
  readonly all: boolean;
  readonly organizationIds: readonly string[];
  readonly isShared: boolean;
}

/**
 * Returns the objects that are visible from a scope: from an organization its own objects and the enterprise's, from
 * the enterprise all. Without a scope: all objects for which the viewer has any of the acts' permissions.
 */
export function scopeFilterOf(
  viewer: Viewer,
  scope: AuthorizedScope | null,
  ...permissions: readonly ScopePermissions[]
): ScopeFilter {
  const { enterpriseId } = viewer;
  if (scope) {
    const { organizationId } = scope;
    if (organizationId === null) return { enterpriseId, all: true, organizationIds: [], isShared: true };
    return { enterpriseId, all: false, organizationIds: [organizationId], isShared: true };
  }
  const { all, ids } = organizationsWith(viewer, ...permissions.map(({ organization }) => organization));
  const isAll = all || permissions.some(({ enterprise }) => viewer.enterprisePermissions.has(enterprise));
  return { enterpriseId, all: isAll, organizationIds: ids, isShared: isAll || ids.length > 0 };
}

/** Returns a {@link ScopeFilter} as the parameters $2 to $5 of a statement. */
export const scopeFilterValues = (scopeFilter: ScopeFilter): unknown[] => [
  scopeFilter.enterpriseId,
  scopeFilter.all,
  scopeFilter.organizationIds,
  scopeFilter.isShared,
];

/** SQL condition: a row of this alias matches the scope filter in $2 to $5. */
export const matchesScopeFilter = (alias: string): string =>
  `${alias}.enterprise_id = $2 and ($3::boolean or ${alias}.organization_id = any($4::text[])
     or ($5::boolean and ${alias}.organization_id is null)) and ${inLivingOrganization(alias)}`;

/** {@link matchesScopeFilter} in a statement with other parameters. */
export function scopeFilterCondition(alias: string, scopeFilter: ScopeFilter, bind: Bind): string {
  const [enterprise, all, organizations, isShared] = scopeFilterValues(scopeFilter).map(bind);
  return `${alias}.enterprise_id = ${enterprise} and (${all}::boolean or ${alias}.organization_id = any(${organizations}::text[])
     or (${isShared}::boolean and ${alias}.organization_id is null)) and ${inLivingOrganization(alias)}`;
}

/**
 * A text that identifies an object within a scope: an organization, by its unprefixed id, or the enterprise itself for
 * null.
 */
export interface ScopedKey {
  readonly organizationId: string | null;
  readonly text: string;
}

/** The table for lookups by {@link ScopedKey}: its alias, its columns, and the column of the text. */
interface ScopedTable {
  readonly table: string;
  readonly row: string;
  readonly columns: string;
  readonly key: string;
  readonly permissions: ScopePermissions;
  /** Further conditions. */
  readonly where?: string;
}

/**
 * Returns the objects with these keys that the viewer may read, case-insensitive, in the keys' order; null for each
 * other key. One statement.
 */
export async function findByScopedKeys<T>(
  { viewer, store }: Context,
  { table, row, columns, key, permissions, where = 'true' }: ScopedTable,
  keys: readonly ScopedKey[],
): Promise<(T | null)[]> {
  const rows = await store.query<WithKeyPosition<T>>(
    `select k.position::int as "keyPosition", ${columns} from unnest($1::text[], $6::text[]) with ordinality k (text, organization_id, position)
       join ${table} ${row} on ${row}.enterprise_id = $2 and coalesce(${row}.organization_id, '') = k.organization_id
        and lower(${row}.${key}) = lower(k.text)
      where ${matchesScopeFilter(row)} and ${where}`,
    [
      keys.map(({ text }) => text),
      ...scopeFilterValues(scopeFilterOf(viewer, null, permissions)),
      keys.map(({ organizationId }) => organizationId ?? ''),
    ],
  );
  return inOrderOfKeys(keys.length, rows);
}

/** SQL condition: a row of this alias does not belong to a deleted organization. */
export const inLivingOrganization = (alias: string): string =>
  `not exists (select 1 from organization gone where gone.id = ${alias}.organization_id and gone.deleted_at is not null)`;

/**
 * Throws FORBIDDEN unless the viewer may act on objects of any organization, or of the enterprise: for acts that name
 * no scope.
 */
export function requireAnyScopePermission(viewer: Viewer, permissions: ScopePermissions): void {
  if (viewer.enterprisePermissions.has(permissions.enterprise)) return;
  requireAnyPermission(viewer, [permissions.organization]);
}

/**
 * Throws FORBIDDEN with the permission's name unless the viewer may act on objects in the scope. `organizationId` null:
 * the enterprise.
 */
export function requireScopePermission(
  viewer: Viewer,
  organizationId: string | null,
  permissions: ScopePermissions,
): void {
  const missing = findMissingScopePermission(viewer, organizationId, permissions);
  if (missing !== null) throw missingPermission(missing);
}

/** Returns the permission that {@link requireScopePermission} would name; null if it would not throw. */
export function findMissingScopePermission(
  viewer: Viewer,
  organizationId: string | null,
  { enterprise, organization }: ScopePermissions,
): Permission | null {
  if (viewer.enterprisePermissions.has(enterprise)) return null;
  if (organizationId === null) return enterprise;
  return hasPermission(viewer, organization, organizationId) ? null : organization;
}

/**
 * Serializes the writers of one scope until the transaction ends: for rules about several of its rows, such as unique
 * names. Throws NOT_FOUND if the organization has been deleted meanwhile.
 */
export async function lockScope(tx: Transaction, scope: AuthorizedScope): Promise<void> {
  const { enterpriseId, organizationId } = scope;
  const rows =
    organizationId === null
      ? await tx.query('select id from enterprise where id = $1 for no key update', [enterpriseId])
      : await tx.query('select id from organization where id = $1 and deleted_at is null for no key update', [
          organizationId,
        ]);
  if (rows.length === 0) throw notFound('organization');
}

/** The owner of the objects in a list: an organization, or the enterprise itself. */
export const accessTypes = ['enterprise', 'org'] as const;
/** See {@link accessTypes}. */
export type AccessType = (typeof accessTypes)[number];

/** Returns the conditions on rows of this alias for an {@link AccessType}; none if it is omitted. */
export const isOfAccessType = (alias: string, accessType: AccessType | null | undefined): string[] =>
  accessType == null ? [] : [`${alias}.organization_id is ${accessType === 'enterprise' ? '' : 'not '}null`];

/** An {@link AccessType} in the input of a list. */
export const accessTypeSchema = z.enum(accessTypes, { error: '"accessType" must be "enterprise" or "org".' });

/**
 * Returns the conditions on rows of this alias to be in a list of the scope: an organization's own objects, or the
 * `enterprise` ones if requested; from the enterprise all, or one access type.
 */
export function listConditions(
  alias: string,
  { enterpriseId, organizationId }: AuthorizedScope,
  accessType: AccessType | null,
  bind: (value: unknown) => string,
): string[] {
  if (organizationId !== null && accessType !== 'enterprise') {
    return [`${alias}.organization_id = ${bind(organizationId)}`];
  }
  const where = [`${alias}.enterprise_id = ${bind(enterpriseId)}`];
  if (accessType === 'enterprise') return [...where, `${alias}.organization_id is null`];
  where.push(inLivingOrganization(alias));
  if (accessType === 'org') where.push(`${alias}.organization_id is not null`);
  return where;
}

/** A list of the objects of a scope, and the permissions to read it. */
interface ScopeList {
  /** The alias of the table. */
  readonly row: string;
  readonly permissions: ScopePermissions;
  readonly accessType?: AccessType | null | undefined;
}

/**
 * Returns {@link listConditions} for a nested list: of an organization that has been read, by its unprefixed id, or of
 * the enterprise for null. Throws ORGANIZATION_NOT_USABLE, FORBIDDEN.
 */
export function scopeList(
  context: Context,
  organizationId: string | null,
  { row, permissions, accessType = null }: ScopeList,
): Pick<NestedList<unknown>, 'ownerId' | 'row' | 'owners' | 'where'> {
  const { viewer } = context;
  const { enterpriseId } = viewer;
  if (organizationId === null) {
    requireEnterprisePermission(viewer, permissions.enterprise);
    const authorizedScope = { enterpriseId, organizationId: null };
    return {
      ownerId: enterpriseId,
      row,
      owners: () => '',
      where: (bind) => listConditions(row, authorizedScope, accessType, bind),
    };
  }
  requireUsable(context, organizationId, permissions.organization);
  const own = () => [`${row}.organization_id = owner.id`];
  const shared = (bind: Bind) => listConditions(row, { enterpriseId, organizationId }, 'enterprise', bind);
  return {
    ownerId: organizationId,
    row,
    owners: organizationOwners(enterpriseId),
    where: accessType === 'enterprise' ? shared : own,
  };
}
