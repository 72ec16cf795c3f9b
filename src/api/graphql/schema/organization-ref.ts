import type { OrganizationRecord } from '../../../domain/identity/organizations/use-organization.ts';
import { builder } from '../builder.ts';

/** Organization of the contract. Apart from its fields, since sessions and organizations name each other. */
export const Organization = builder.objectRef<OrganizationRecord>('Organization');
