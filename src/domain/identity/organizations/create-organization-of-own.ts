import { DomainError } from '../../../common/errors.ts';
import type { Context } from '../../context.ts';
import { assignRoleIn } from '../people/role-assignments.ts';
import { type CreateOrganizationInput, createOrganizationIn } from './organizations.ts';
import type { OrganizationRecord } from './use-organization.ts';

/**
 * Creates an organization with the viewer as its administrator, in one transaction. Throws INVALID_STATE for a viewer
 * that is not a user; the errors of createOrganization and of assignRole.
 */
export function createOrganizationOfOwn(context: Context, raw: CreateOrganizationInput): Promise<OrganizationRecord> {
  const { viewer } = context;
  if (viewer.principal.type !== 'USER') {
    throw new DomainError('INVALID_STATE', 'Only a user can become a member of the organization that it makes.');
  }
  const principal = { userId: viewer.principal.id };
  // A personal key acts in one organization, which can't be the new one: so the permissions count that its user has
  // everywhere by its enterprise role.
  const asUser = { ...context, viewer: { ...viewer, everywhere: viewer.enterprisePermissions } };
  return context.store.transact(async (tx) => {
    const organization = await createOrganizationIn(context, tx, raw);
    await assignRoleIn(asUser, tx, { principal, organizationId: organization.id, roleId: 'org_admin' });
    return organization;
  });
}
