import { permissionFor } from '../../../auth/permissions.ts';
import type { Context } from '../../context.ts';

/** The whole of an installation's tenant: organizations, users and service users belong to one. */
export interface EnterpriseRecord {
  readonly id: string;
  readonly name: string;
  readonly createdAt: Date;
}

/** The enterprises of these bare ids that the viewer may read (only ever its own, with ReadAccountMeta); null for each other. */
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
