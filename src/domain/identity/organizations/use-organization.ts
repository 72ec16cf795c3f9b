import type { OrganizationPermission } from '../../../auth/permissions.ts';
import { hasPermission, mayUseOrganization, requirePermission } from '../../../auth/viewer.ts';
import { DomainError, notFound, refuse } from '../../../common/errors.ts';
import { fieldsOf, type Narrowed, selectFields } from '../../../store/tables.ts';
import type { Context } from '../../context.ts';
import { inOrderOf } from '../../find-by-ids.ts';
import { parseId } from '../../ids.ts';

/** The fields of an organization that the APIs read. */
export const organizationFields = fieldsOf('Organization', [
  'allowedTags',
  'defaultTag',
  'hasAutomations',
  'defaultModels',
  'deletedAt',
]);

/** An organization as the APIs read it. ACU limits are whole ACUs; null: no limit. */
export type OrganizationRecord = Narrowed<
  'Organization',
  (typeof organizationFields)[number],
  {
    /** Each as host/owner/name. */
    readonly defaultRepositories: readonly string[];
  }
>;

/** The columns of an {@link OrganizationRecord} of an `organization` aliased `o`. */
export const organizationColumns = selectFields('Organization', 'o', organizationFields);

/**
 * Returns the organizations of these unprefixed ids that the viewer may use, in the ids' order; null for each other id.
 */
export async function findOrganizations(
  context: Context,
  ids: readonly string[],
): Promise<(OrganizationRecord | null)[]> {
  const usable = ids.filter((id) => mayUseOrganization(context.viewer, id));
  if (usable.length === 0) return ids.map(() => null);
  const rows = await context.store.query<OrganizationRecord>(
    `select ${organizationColumns} from organization o
      where o.id = any($1::text[]) and o.enterprise_id = $2 and o.deleted_at is null`,
    [usable, context.viewer.enterpriseId],
  );
  return inOrderOf(ids, rows);
}

/** Returns the organization of an id in any form, or null: missing and forbidden are the same. */
export async function findOrganization(context: Context, id: string): Promise<OrganizationRecord | null> {
  const bare = parseId('organization', id);
  return bare === null ? null : ((await findOrganizations(context, [bare]))[0] ?? null);
}

/**
 * Returns the organization that a path or an input names, with a check of the permission that the act needs there.
 * Throws ORGANIZATION_NOT_USABLE for an organization that is not the viewer's, whether it exists or not; NOT_FOUND if
 * the viewer may use every organization of its enterprise and this is none of them; FORBIDDEN with the name of a
 * missing permission (docs/wire/README.md#keys-and-permissions).
 */
export async function useOrganization(
  context: Context,
  id: string,
  permission: OrganizationPermission,
): Promise<OrganizationRecord> {
  const organization = await enterOrganization(context, id);
  requirePermission(context.viewer, permission, organization.id);
  return organization;
}

/**
 * The checks of {@link useOrganization} for an organization that has been read: by its unprefixed id, without a
 * statement. Throws ORGANIZATION_NOT_USABLE, FORBIDDEN.
 */
export function requireUsable(context: Context, id: string, ...anyOf: readonly OrganizationPermission[]): void {
  const { viewer } = context;
  if (!mayUseOrganization(viewer, id)) throw notUsable();
  const [needed] = anyOf;
  if (needed !== undefined && !anyOf.some((permission) => hasPermission(viewer, permission, id))) {
    requirePermission(viewer, needed, id);
  }
}

/** {@link useOrganization} for an act that checks its permission itself. */
export async function enterOrganization(context: Context, id: string): Promise<OrganizationRecord> {
  const { viewer } = context;
  const bare = parseId('organization', id);
  if (viewer.everywhere.size === 0 && (bare === null || !viewer.organizations.has(bare))) {
    throw notUsable();
  }
  const organization = bare === null ? null : await findOrganization(context, bare);
  if (!organization) throw notFound('organization');
  return organization;
}

const notUsable = () => new DomainError('ORGANIZATION_NOT_USABLE', 'You do not have access to this organization.');

/**
 * Returns the organization of an act: the named one, or {@link boundOrganizationId}. Throws its errors, and those of
 * {@link useOrganization}.
 */
export async function chooseOrganization(
  context: Context,
  id: string | null | undefined,
  permission: OrganizationPermission,
): Promise<OrganizationRecord> {
  return useOrganization(context, id ?? boundOrganizationId(context), permission);
}

/**
 * Returns the one organization that the viewer's key is bound to. Throws INVALID_INPUT at `organizationId` for any
 * other key, even if it has only one organization at present: the same call would change its meaning, or fail, as soon
 * as there is a second.
 */
export function boundOrganizationId({ viewer }: Context): string {
  if (viewer.homeOrganizationId !== null) return viewer.homeOrganizationId;
  throw refuse(['organizationId'], '"organizationId" must be given: this key is not bound to one organization.');
}

/**
 * {@link onlyOrganizationId}, but throws INVALID_INPUT at `organizationId`. For REST v1, which names no organization.
 */
export async function getOnlyOrganizationId(context: Context): Promise<string> {
  const only = await onlyOrganizationId(context);
  if (only !== null) return only;
  throw refuse(['organizationId'], 'An organization must be named: this key can act in several, or in none.');
}

/** Returns the id of the viewer's only organization; null if it has several or none. */
export async function onlyOrganizationId(context: Context): Promise<string | null> {
  const { viewer } = context;
  if (viewer.homeOrganizationId !== null) return viewer.homeOrganizationId;
  if (viewer.everywhere.size === 0) {
    const [first, ...others] = viewer.organizations.keys();
    return first !== undefined && others.length === 0 ? first : null;
  }
  const rows = await context.store.query<{ id: string }>(
    'select o.id from organization o where o.enterprise_id = $1 and o.deleted_at is null order by o.created_at limit 2',
    [viewer.enterpriseId],
  );
  return rows.length === 1 ? (rows[0]?.id ?? null) : null;
}
