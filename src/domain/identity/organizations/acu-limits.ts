import { z } from 'zod';
import { permissionFor } from '../../../auth/permissions.ts';
import { requireEnterprisePermission } from '../../../auth/viewer.ts';
import type { Context } from '../../context.ts';
import { parseInput } from '../../input.ts';
import type { Page, PageLimits, PageRequest } from '../../pages.ts';
import { writeOrganization } from './change-organization.ts';
import { acuLimit, readOrganizationPage } from './organizations.ts';
import type { OrganizationRecord } from './use-organization.ts';

/** The limit of an organization, as inputs give it. */
export const acuLimitSchema = z.object({ cycleAcuLimit: acuLimit('cycleAcuLimit') });

/** The organizations that have a limit of ACUs in a cycle, the newest organization first. FORBIDDEN without ManageBilling. */
export async function listLimitedOrganizations(
  context: Context,
  request: PageRequest,
  limits: PageLimits,
): Promise<Page<OrganizationRecord>> {
  requireEnterprisePermission(context.viewer, permissionFor.manageAcuLimits);
  return readOrganizationPage(context, { list: 'acuLimits', isLimited: true, all: true }, request, limits);
}

/**
 * Sets the ACUs that an organization may use in a cycle; null: as many as it likes, also where that was so already.
 * Gives the organization as it is then. FORBIDDEN without ManageBilling, NOT_FOUND, INVALID_INPUT.
 */
export async function setCycleAcuLimit(
  context: Context,
  id: string,
  cycleAcuLimit: number | null,
): Promise<OrganizationRecord> {
  requireEnterprisePermission(context.viewer, permissionFor.manageAcuLimits);
  const input = parseInput(acuLimitSchema, { cycleAcuLimit });
  return writeOrganization(context, id, { maxCycleAcuLimit: input.cycleAcuLimit });
}
