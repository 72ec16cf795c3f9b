import { z } from 'zod';
import type { EnterprisePermission, OrganizationPermission, Permission } from '../../auth/permissions.ts';
import {
  holds,
  missingPermission,
  organizationsWith,
  requireEnterprisePermission,
  requireSomewhere,
  type Viewer,
} from '../../auth/viewer.ts';
import type { Transaction } from '../../store/store.ts';
import type { Context } from '../context.ts';
import { notFound } from '../errors.ts';
import { inOrderOfKeys, type Placed } from '../find-by-ids.ts';
import { type Bind, type NestedList, organizationOwners } from '../nested-pages.ts';
import { requireUsable, useOrganization } from './use-organization.ts';

/** Where things are that can belong to an organization or to the whole enterprise. The id is in any form. */
export type Place = { readonly organizationId: string } | 'enterprise';

/** A place that the viewer may act in; `organizationId` is bare, null: the enterprise. */
export interface UsedPlace {
  readonly enterpriseId: string;
  readonly organizationId: string | null;
}

/** What one act needs in an organization, and on the enterprise. The latter is enough for all organizations' things. */
export interface PlacePermissions {
  readonly organization: OrganizationPermission;
  readonly enterprise: EnterprisePermission;
}

/** The place that a path or an input names. Errors as `useOrganization`; FORBIDDEN names a missing permission. */
export async function usePlace(context: Context, place: Place, permissions: PlacePermissions): Promise<UsedPlace> {
  const { enterpriseId } = context.viewer;
  if (place === 'enterprise') {
    requireEnterprisePermission(context.viewer, permissions.enterprise);
    return { enterpriseId, organizationId: null };
  }
  const { id } = await useOrganization(context, place.organizationId, permissions.organization);
  return { enterpriseId, organizationId: id };
}

/** Which things a statement may take in: those of all organizations, of some, those of the enterprise itself. */
export interface Reach {
  readonly enterpriseId: string;
  readonly all: boolean;
  readonly organizationIds: readonly string[];
  readonly isShared: boolean;
}

/**
 * What can be reached from a place: from an organization its own things and the enterprise's, from the enterprise everything.
 * Without a place: everything for which the viewer holds any of the acts' permissions somewhere.
 */
export function reachOf(viewer: Viewer, place: UsedPlace | null, ...acts: readonly PlacePermissions[]): Reach {
  const { enterpriseId } = viewer;
  if (place) {
    const { organizationId } = place;
    if (organizationId === null) return { enterpriseId, all: true, organizationIds: [], isShared: true };
    return { enterpriseId, all: false, organizationIds: [organizationId], isShared: true };
  }
  const { all, ids } = organizationsWith(viewer, ...acts.map(({ organization }) => organization));
  const isAll = all || acts.some(({ enterprise }) => viewer.enterprisePermissions.has(enterprise));
  return { enterpriseId, all: isAll, organizationIds: ids, isShared: isAll || ids.length > 0 };
}

/** A {@link Reach} as the parameters $2 to $5 of a statement. */
export const reachValues = (reach: Reach): unknown[] => [
  reach.enterpriseId,
  reach.all,
  reach.organizationIds,
  reach.isShared,
];

/** The condition on a row of this alias to be within the reach of $2 to $5. */
export const withinReach = (alias: string): string =>
  `${alias}.enterprise_id = $2 and ($3::boolean or ${alias}.organization_id = any($4::text[])
     or ($5::boolean and ${alias}.organization_id is null)) and ${inLivingOrganization(alias)}`;

/** {@link withinReach} in a statement of other parameters. */
export function inReach(alias: string, reach: Reach, bind: Bind): string {
  const [enterprise, all, organizations, isShared] = reachValues(reach).map(bind);
  return `${alias}.enterprise_id = ${enterprise} and (${all}::boolean or ${alias}.organization_id = any(${organizations}::text[])
     or (${isShared}::boolean and ${alias}.organization_id is null)) and ${inLivingOrganization(alias)}`;
}

/** A text that names one thing of a place: of an organization, by its bare id, or of the enterprise itself for null. */
export interface PlaceKey {
  readonly organizationId: string | null;
  readonly text: string;
}

/** Where things are found by a {@link PlaceKey}: the alias of their table, their columns, and the one of the text. */
interface PlaceTable {
  readonly table: string;
  readonly row: string;
  readonly columns: string;
  readonly key: string;
  readonly permissions: PlacePermissions;
  /** Further conditions. */
  readonly where?: string;
}

/**
 * The things of these keys that the viewer may read, upper and lower case alike, in the keys' order; null for each other. One
 * statement.
 */
export async function findByPlaceKeys<T>(
  { viewer, store }: Context,
  { table, row, columns, key, permissions, where = 'true' }: PlaceTable,
  keys: readonly PlaceKey[],
): Promise<(T | null)[]> {
  const rows = await store.query<Placed<T>>(
    `select k.place::int as "keyPlace", ${columns} from unnest($1::text[], $6::text[]) with ordinality k (text, organization_id, place)
       join ${table} ${row} on ${row}.enterprise_id = $2 and coalesce(${row}.organization_id, '') = k.organization_id
        and lower(${row}.${key}) = lower(k.text)
      where ${withinReach(row)} and ${where}`,
    [
      keys.map(({ text }) => text),
      ...reachValues(reachOf(viewer, null, permissions)),
      keys.map(({ organizationId }) => organizationId ?? ''),
    ],
  );
  return inOrderOfKeys(keys.length, rows);
}

/** The condition on a row of this alias not to be in an organization that was deleted. */
export const inLivingOrganization = (alias: string): string =>
  `not exists (select 1 from organization gone where gone.id = ${alias}.organization_id and gone.deleted_at is not null)`;

/** FORBIDDEN unless the viewer may act on what belongs to some organization, or to the enterprise: for acts that name no place. */
export function requireInSomePlace(viewer: Viewer, permissions: PlacePermissions): void {
  if (viewer.enterprisePermissions.has(permissions.enterprise)) return;
  requireSomewhere(viewer, [permissions.organization]);
}

/** FORBIDDEN, naming the permission, unless the viewer may act on what belongs there. `organizationId` null: the enterprise. */
export function requireInPlace(viewer: Viewer, organizationId: string | null, permissions: PlacePermissions): void {
  const missing = findMissingInPlace(viewer, organizationId, permissions);
  if (missing !== null) throw missingPermission(missing);
}

/** The permission that {@link requireInPlace} names; null where it refuses nothing. */
export function findMissingInPlace(
  viewer: Viewer,
  organizationId: string | null,
  { enterprise, organization }: PlacePermissions,
): Permission | null {
  if (viewer.enterprisePermissions.has(enterprise)) return null;
  if (organizationId === null) return enterprise;
  return holds(viewer, organization, organizationId) ? null : organization;
}

/**
 * Makes the writers of one place take turns until the transaction ends: for rules about several of its rows, such as names
 * that differ. NOT_FOUND when the organization has been deleted meanwhile.
 */
export async function lockPlace(tx: Transaction, place: UsedPlace): Promise<void> {
  const { enterpriseId, organizationId } = place;
  const rows =
    organizationId === null
      ? await tx.query('select id from enterprise where id = $1 for no key update', [enterpriseId])
      : await tx.query('select id from organization where id = $1 and deleted_at is null for no key update', [
          organizationId,
        ]);
  if (rows.length === 0) throw notFound('organization');
}

/** Whose things are meant: an organization's, or those that belong to the enterprise itself. */
export const accessTypes = ['enterprise', 'org'] as const;
/** See {@link accessTypes}. */
export type AccessType = (typeof accessTypes)[number];

/** The conditions on rows of this alias to belong to what an {@link AccessType} says; none when it is left out. */
export const isOfAccessType = (alias: string, accessType: AccessType | null | undefined): string[] =>
  accessType == null ? [] : [`${alias}.organization_id is ${accessType === 'enterprise' ? '' : 'not '}null`];

/** An {@link AccessType} of a list. */
export const accessTypeSchema = z.enum(accessTypes, { error: '"accessType" must be "enterprise" or "org".' });

/**
 * The conditions on rows of this alias to be in a list of the place: an organization's own unless the `enterprise` ones are
 * asked for; from the enterprise all, or one kind.
 */
export function listConditions(
  alias: string,
  { enterpriseId, organizationId }: UsedPlace,
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

/** A list of the things of a place, and who may read it. */
interface PlaceList {
  /** The alias of the table. */
  readonly row: string;
  readonly permissions: PlacePermissions;
  readonly accessType?: AccessType | null | undefined;
}

/**
 * What {@link listConditions} are for one list among many: of an organization that has been read, by its bare id, or of the
 * enterprise for null. ORGANIZATION_NOT_USABLE, FORBIDDEN.
 */
export function placeList(
  context: Context,
  organizationId: string | null,
  { row, permissions, accessType = null }: PlaceList,
): Pick<NestedList<unknown>, 'ownerId' | 'row' | 'owners' | 'where'> {
  const { viewer } = context;
  const { enterpriseId } = viewer;
  if (organizationId === null) {
    requireEnterprisePermission(viewer, permissions.enterprise);
    const used = { enterpriseId, organizationId: null };
    return {
      ownerId: enterpriseId,
      row,
      owners: () => '',
      where: (bind) => listConditions(row, used, accessType, bind),
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
