import type { OrganizationRecord } from '../../../domain/identity/organizations/use-organization.ts';
import { builder } from '../builder.ts';

/** The type without its fields: sessions and organizations refer to each other. */
export const Organization = builder.objectRef<OrganizationRecord>('Organization');
