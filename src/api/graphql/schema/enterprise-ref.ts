import type { EnterpriseRecord } from '../../../domain/identity/organizations/enterprises.ts';
import { builder } from '../builder.ts';

/** The type without its fields: several files add fields to it. */
export const Enterprise = builder.objectRef<EnterpriseRecord>('Enterprise');
