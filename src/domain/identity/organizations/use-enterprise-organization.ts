import type { EnterprisePermission } from '../../../auth/permissions.ts';
import { requireEnterprisePermission } from '../../../auth/viewer.ts';
import { notFound } from '../../../common/errors.ts';
import type { Context } from '../../context.ts';
import { parseId } from '../../ids.ts';

/**
 * Returns the unprefixed id of an organization for an act that needs a permission on the enterprise, which is checked
 * first. Throws FORBIDDEN with the permission's name; NOT_FOUND for an organization of another enterprise, and for a
 * deleted one.
 */
export async function useEnterpriseOrganization(
  context: Context,
  id: string,
  permission: EnterprisePermission,
): Promise<string> {
  requireEnterprisePermission(context.viewer, permission);
  const [organization] = await context.store.query<{ id: string }>(
    'select o.id from organization o where o.id = $1 and o.enterprise_id = $2 and o.deleted_at is null',
    [parseId('organization', id), context.viewer.enterpriseId],
  );
  if (!organization) throw notFound('organization');
  return organization.id;
}
