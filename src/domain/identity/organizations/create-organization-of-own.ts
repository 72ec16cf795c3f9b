import type { Context } from '../../context.ts';
import { DomainError } from '../../errors.ts';
import { assignRoleIn } from '../people/role-assignments.ts';
import { type CreateOrganizationInput, createOrganizationIn } from './organizations.ts';
import type { OrganizationRecord } from './use-organization.ts';

/**
 * Makes an organization with the viewer as its administrator, or none of both. INVALID_STATE for a viewer that is no user;
 * the errors of createOrganization and of assignRole.
 */
export function createOrganizationOfOwn(context: Context, raw: CreateOrganizationInput): Promise<OrganizationRecord> {
  const { viewer } = context;
  if (viewer.principal.type !== 'USER') {
    throw new DomainError('INVALID_STATE', 'Only a user can become a member of the organization that it makes.');
  }
  const principal = { userId: viewer.principal.id };
  // A personal key reaches one organization, and this one will be none that it reaches: what counts is what its user holds
  // everywhere by its role on the enterprise.
  const asUser = { ...context, viewer: { ...viewer, everywhere: viewer.enterprisePermissions } };
  return context.store.transact(async (tx) => {
    const organization = await createOrganizationIn(context, tx, raw);
    await assignRoleIn(asUser, tx, { principal, organizationId: organization.id, roleId: 'org_admin' });
    return organization;
  });
}
