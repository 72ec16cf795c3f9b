import type { OrganizationPermission } from '../../../auth/permissions.ts';
import { hasPermission } from '../../../auth/viewer.ts';
import type { Context } from '../../context.ts';
import { parseId } from '../../ids.ts';
import { useOrganization } from './use-organization.ts';

/**
 * SQL condition: the organization with the unprefixed id in this parameter belongs to the enterprise and is not
 * deleted.
 */
export const isLiveOrganization = (id: string, enterpriseId: string): string =>
  `exists (select from organization o where o.id = ${id} and o.enterprise_id = ${enterpriseId} and o.deleted_at is null)`;

/**
 * Reads data of an organization that a path or an input names, with the permission that it needs there. The statement
 * of `read` checks {@link isLiveOrganization} itself, so a successful read needs no other statement: the organization
 * is looked up only if nothing is found. Throws the errors of {@link useOrganization}, before those of `read`.
 */
export async function readWithin<T>(
  context: Context,
  id: string,
  permission: OrganizationPermission,
  { read, isFound }: { read: (organizationId: string) => Promise<T>; isFound: (found: T) => boolean },
): Promise<T> {
  const bare = parseId('organization', id);
  if (bare === null || !hasPermission(context.viewer, permission, bare)) {
    return read((await useOrganization(context, id, permission)).id);
  }
  try {
    const found = await read(bare);
    if (!isFound(found)) await useOrganization(context, id, permission);
    return found;
  } catch (error) {
    await useOrganization(context, id, permission);
    throw error;
  }
}
