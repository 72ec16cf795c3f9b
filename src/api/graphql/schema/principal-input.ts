import type { RoleHolder } from '../../../domain/identity/people/lock-principal.ts';
import { builder } from '../builder.ts';

/** A user or a service user, as inputs identify one. */
export const PrincipalInput = builder.inputType('PrincipalInput', {
  isOneOf: true,
  description: 'A user or a service user. Exactly one of the members must be set.',
  fields: (t) => ({
    userId: t.id({ description: 'Global ID or REST id of the user (`user-…`).' }),
    serviceUserId: t.id({ description: 'Global ID or REST id of the service user (`service-user-…`).' }),
  }),
});

/** The principal of an input, by its id in any form. */
export function readPrincipal({ userId, serviceUserId }: typeof PrincipalInput.$inferInput): RoleHolder {
  return userId == null ? { serviceUserId: serviceUserId ?? '' } : { userId };
}
