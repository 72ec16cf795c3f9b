import type { OrganizationPermission } from '../../../auth/permissions.ts';
import { hasPermission, mayUseOrganization, requirePermission } from '../../../auth/viewer.ts';
import type { Context } from '../../context.ts';
import { DomainError, notFound, refuse } from '../../errors.ts';
import { inOrderOf } from '../../find-by-ids.ts';
import { parseId } from '../../ids.ts';

/** An organization as the doors read it. ACU limits are in whole ACUs; null: no limit. */
export interface OrganizationRecord {
  readonly id: string;
  readonly enterpriseId: string;
  readonly name: string;
  readonly maxCycleAcuLimit: number | null;
  readonly maxSessionAcuLimit: number | null;
  /** The most sessions that run at once; null: the service's default; 0: no limit. */
  readonly maxConcurrentSessions: number | null;
  /** The agent profile of its sessions that name none; null: the default of the process that makes them. */
  readonly defaultAgent: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** The columns of an {@link OrganizationRecord} of an `organization` aliased `o`. */
export const organizationColumns = `o.id, o.enterprise_id as "enterpriseId", o.name, o.max_cycle_acu_limit as "maxCycleAcuLimit",
  o.max_session_acu_limit as "maxSessionAcuLimit", o.max_concurrent_sessions as "maxConcurrentSessions", o.default_agent as "defaultAgent", o.created_at as "createdAt", o.updated_at as "updatedAt"`;

/** Those of these bare ids that the viewer may use, in the ids' order; null for each other. */
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

/** The organization of an id in any form, or null: missing and forbidden are the same. */
export async function findOrganization(context: Context, id: string): Promise<OrganizationRecord | null> {
  const bare = parseId('organization', id);
  return bare === null ? null : ((await findOrganizations(context, [bare]))[0] ?? null);
}

/**
 * The organization that a path or an input names, with the permission that the act needs there. ORGANIZATION_NOT_USABLE
 * for one that is not the viewer's, existing or not; NOT_FOUND when the viewer may use every one of its enterprise and
 * this is none of them (pinned 1); FORBIDDEN names a missing permission.
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
 * What {@link useOrganization} asks of the viewer, for an organization that has been read: by its bare id, without a statement.
 * ORGANIZATION_NOT_USABLE, FORBIDDEN.
 */
export function requireUsable(context: Context, id: string, ...anyOf: readonly OrganizationPermission[]): void {
  const { viewer } = context;
  if (!mayUseOrganization(viewer, id)) throw notUsable();
  const [needed] = anyOf;
  if (needed !== undefined && !anyOf.some((permission) => hasPermission(viewer, permission, id))) {
    requirePermission(viewer, needed, id);
  }
}

/** {@link useOrganization} for an act that asks for its permission itself. */
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
 * The organization that an act is for: the one named, else {@link boundOrganizationId}. Its errors, and those of
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
 * The one organization that the viewer's key is bound to. INVALID_INPUT at `organizationId` for any other key, also where it
 * has only one at present: the same call would mean something else, or fail, as soon as there is a second.
 */
export function boundOrganizationId({ viewer }: Context): string {
  if (viewer.homeOrganizationId !== null) return viewer.homeOrganizationId;
  throw refuse(['organizationId'], '"organizationId" must be given: this key is not bound to one organization.');
}

/** {@link onlyOrganizationId}, but INVALID_INPUT at `organizationId`. For REST v1, which names no organization. */
export async function getOnlyOrganizationId(context: Context): Promise<string> {
  const only = await onlyOrganizationId(context);
  if (only !== null) return only;
  throw refuse(['organizationId'], 'An organization must be named: this key can act in several, or in none.');
}

/** The id of the viewer's only organization; null when it has several or none. */
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
