import type { EnterprisePermission } from '../../../auth/permissions.ts';
import { requireEnterprisePermission } from '../../../auth/viewer.ts';
import type { Context } from '../../context.ts';
import { notFound } from '../../errors.ts';
import { parseId } from '../../ids.ts';

/**
 * The bare id of an organization that is named from the enterprise's side: what may be done is asked of the enterprise, and
 * first. FORBIDDEN names the permission; NOT_FOUND for one that is not the enterprise's, or was deleted.
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
