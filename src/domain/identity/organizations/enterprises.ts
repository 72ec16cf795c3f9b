import { permissionFor } from '../../../auth/permissions.ts';
import type { Context } from '../../context.ts';

/** The tenant of an installation: organizations, users and service users belong to one. */
export interface EnterpriseRecord {
  readonly id: string;
  readonly name: string;
  readonly createdAt: Date;
}

/**
 * Returns the enterprises of these unprefixed ids that the viewer may read (only its own, with ReadAccountMeta); null
 * for each other id.
 */
export async function findEnterprises(context: Context, ids: readonly string[]): Promise<(EnterpriseRecord | null)[]> {
  const { viewer } = context;
  const mayRead =
    viewer.enterprisePermissions.has(permissionFor.listOrganizations) && ids.includes(viewer.enterpriseId);
  if (!mayRead) return ids.map(() => null);
  const [own] = await context.store.query<EnterpriseRecord>(
    'select id, name, created_at as "createdAt" from enterprise where id = $1',
    [viewer.enterpriseId],
  );
  return ids.map((id) => (own && id === own.id ? own : null));
}
