import { refuse } from '../../../common/errors.ts';
import type { Scope } from '../../../domain/identity/organizations/scope.ts';
import { builder } from '../builder.ts';
import type { InputFields } from './add-mutation.ts';

/** The description of an input's `organizationId`, which is optional for a key of one organization. */
export const organizationIdDescription =
  'Global ID or REST id of the organization (`org-…`). Required, unless the API key is bound to a single organization, which is then the default.';

/** The description of an object's `organization`. */
export const ownerDescription =
  'Organization that owns the resource; null if the enterprise itself owns it, for the use of every organization.';

/** The members of an input that selects an organization or the enterprise. */
export const scopeMembers = (t: InputFields) => ({
  organizationId: t.id({ description: 'Global ID or REST id of the organization (`org-…`).' }),
  enterprise: t.boolean({ description: 'Selects the enterprise itself. Must be true.' }),
});

/** The scope of an operation: an organization or the enterprise. */
export const ScopeInput = builder.inputType('ScopeInput', {
  isOneOf: true,
  description:
    'Either an organization, or the enterprise itself and therefore all its organizations. Exactly one of the members must be set.',
  fields: scopeMembers,
});

/** The description of the member `scope` of inputs that create something. */
export const scopeDescription = 'The organization or the enterprise that is to own the new resource.';

/** Converts a scope to the domain's form. INVALID_INPUT at `scope.enterprise` unless that is true. */
export function readScope(scope: Partial<Pick<typeof ScopeInput.$inferInput, 'organizationId' | 'enterprise'>>): Scope {
  if (scope.organizationId != null) return { organizationId: scope.organizationId };
  if (scope.enterprise) return 'enterprise';
  const message = '"enterprise" must be true. Name an organization by "organizationId" instead.';
  throw refuse(['scope', 'enterprise'], message);
}

/** The id of a scope's organization, in any form; null for the enterprise. Throws the error of {@link readScope}. */
export function organizationIdOf(scope: typeof ScopeInput.$inferInput): string | null {
  const domainScope = readScope(scope);
  return domainScope === 'enterprise' ? null : domainScope.organizationId;
}

/** The description of the `accessType` of a filter. */
export const accessTypeDescription =
  '`ENTERPRISE`: only items of the enterprise itself, which its organizations may use too. `ORGANIZATION`: only items of organizations. Defaults to the organization’s own items in its lists, and to all items in lists of the enterprise.';
