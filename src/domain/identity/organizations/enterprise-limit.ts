import { z } from 'zod';
import { permissionFor } from '../../../auth/permissions.ts';
import { requireEnterprisePermission } from '../../../auth/viewer.ts';
import { audit } from '../../audit/record-audit.ts';
import type { Context } from '../../context.ts';
import { parseInput } from '../../input.ts';
import { acuLimit } from './organizations.ts';

/** The limit of the enterprise in inputs. */
export const enterpriseLimitSchema = z.object({ maxCycleAcuLimit: acuLimit('maxCycleAcuLimit') });

/**
 * Returns the ACUs that all organizations together may use in a cycle; null: unlimited. Throws FORBIDDEN without
 * ManageBilling.
 */
export async function getEnterpriseAcuLimit(context: Context): Promise<number | null> {
  requireEnterprisePermission(context.viewer, permissionFor.manageAcuLimits);
  const [row] = await context.store.query<{ limit: number | null }>(
    'select max_cycle_acu_limit as limit from enterprise where id = $1',
    [context.viewer.enterpriseId],
  );
  return row?.limit ?? null;
}

/**
 * Sets the ACUs that all organizations of the viewer's enterprise together may use in a cycle; null: unlimited;
 * omitted: no change. Returns the new limit. Throws FORBIDDEN without ManageBilling, INVALID_INPUT.
 */
export async function setEnterpriseAcuLimit(
  context: Context,
  raw: { readonly maxCycleAcuLimit?: number | null | undefined },
): Promise<number | null> {
  const { viewer } = context;
  requireEnterprisePermission(viewer, permissionFor.manageAcuLimits);
  const { maxCycleAcuLimit } = parseInput(enterpriseLimitSchema, raw);
  return context.store.transact(async (tx) => {
    const [row] = await tx.query<{ limit: number | null }>(
      'select max_cycle_acu_limit as limit from enterprise where id = $1 for update',
      [viewer.enterpriseId],
    );
    const before = row?.limit ?? null;
    if (maxCycleAcuLimit === undefined || maxCycleAcuLimit === before) return before;
    const change = { where: { id: viewer.enterpriseId }, data: { maxCycleAcuLimit } };
    await tx.prisma.enterprise.update({ ...change, select: { id: true } });
    await audit(context, tx, 'update_enterprise_settings', {
      organizationId: null,
      targetId: viewer.enterpriseId,
      data: { maxCycleAcuLimit, maxCycleAcuLimitBefore: before },
    });
    return maxCycleAcuLimit;
  });
}
