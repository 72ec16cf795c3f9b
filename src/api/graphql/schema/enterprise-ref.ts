import type { EnterpriseRecord } from '../../../domain/identity/organizations/enterprises.ts';
import { builder } from '../builder.ts';

/** Enterprise of the contract. Apart from its fields, to which several files add. */
export const Enterprise = builder.objectRef<EnterpriseRecord>('Enterprise');
