import { z } from 'zod';
import { permissionFor } from '../../../auth/permissions.ts';
import { requireEnterprisePermission } from '../../../auth/viewer.ts';
import type { Context } from '../../context.ts';
import { parseInput } from '../../input.ts';
import type { Page, PageLimits, PageRequest } from '../../pages.ts';
import { writeOrganization } from './change-organization.ts';
import { acuLimit, readOrganizationPage } from './organizations.ts';
import type { OrganizationRecord } from './use-organization.ts';

/** The limit of an organization in inputs. */
export const acuLimitSchema = z.object({ cycleAcuLimit: acuLimit('cycleAcuLimit') });

/** Lists the organizations that have an ACU limit per cycle, newest first. Throws FORBIDDEN without ManageBilling. */
export async function listLimitedOrganizations(
  context: Context,
  request: PageRequest,
  limits: PageLimits,
): Promise<Page<OrganizationRecord>> {
  requireEnterprisePermission(context.viewer, permissionFor.manageAcuLimits);
  return readOrganizationPage(context, { list: 'acuLimits', isLimited: true, all: true }, request, limits);
}

/**
 * Sets the ACUs that an organization may use in a cycle; null: unlimited, without an error if it was unlimited before.
 * Returns the changed organization. Throws FORBIDDEN without ManageBilling, NOT_FOUND, INVALID_INPUT.
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
