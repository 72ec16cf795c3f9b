import { z } from 'zod';
import { permissionFor } from '../../auth/permissions.ts';
import { requireEnterprisePermission } from '../../auth/viewer.ts';
import { audit } from '../audit.ts';
import type { Context } from '../context.ts';
import { newId } from '../ids.ts';
import { parseInput, text } from '../input.ts';
import { useOrganization } from '../organizations/use-organization.ts';
import type { ServiceUserRecord } from './find-people.ts';
import { requireAssignableRole } from './roles.ts';

const serviceUserSchema = z.object({
  name: text('name', { min: 1, max: 256 }),
  organizationId: z.string().nullish(),
  roleId: z.string().nullish(),
});

/** What a service user is made from; no organization: enterprise-scoped. The default role is org_admin or account_member. */
export type CreateServiceUserInput = z.input<typeof serviceUserSchema>;

/** Makes a service user with its role; it has no key yet. FORBIDDEN, INVALID_INPUT, UNKNOWN_REFERENCE. */
export async function createServiceUser(context: Context, raw: CreateServiceUserInput): Promise<ServiceUserRecord> {
  const input = parseInput(serviceUserSchema, raw);
  const organization =
    input.organizationId == null
      ? null
      : await useOrganization(context, input.organizationId, permissionFor.createServiceUser);
  if (!organization) requireEnterprisePermission(context.viewer, permissionFor.createEnterpriseServiceUser);
  const scope = organization ? 'organization' : 'enterprise';
  const fallback = organization ? 'org_admin' : 'account_member';
  const role = await requireAssignableRole(context, input.roleId ?? fallback, scope, organization?.id ?? null);
  const now = context.now();
  const organizationId = organization?.id ?? null;
  const serviceUser: ServiceUserRecord = {
    id: newId(),
    enterpriseId: context.viewer.enterpriseId,
    organizationId,
    name: input.name,
    createdAt: now,
    expiresAt: null,
    deletedAt: null,
  };
  await context.store.transact(async (tx) => {
    await tx.prisma.serviceUser.create({ data: serviceUser });
    const { id: serviceUserId, enterpriseId } = serviceUser;
    await tx.prisma.roleAssignment.create({
      data: { id: newId(), enterpriseId, organizationId, serviceUserId, roleId: role.id, createdAt: now },
    });
    const data = { name: serviceUser.name, role: role.id };
    await audit(context, tx, 'create_service_user', { organizationId, targetId: serviceUserId, data });
  });
  return serviceUser;
}
