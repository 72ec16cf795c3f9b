import { refuse } from '../../domain/errors.ts';
import type { Place } from '../../domain/organizations/place.ts';
import { builder } from '../builder.ts';

/** The description of an input's `organizationId` that a key of one organization may leave out. */
export const organizationIdDescription =
  'The organization: its global ID, or any form of its id. Required, unless the key is bound to one organization: then it is that one.';

/** The description of a thing's `organization`. */
export const ownerDescription =
  'The organization that it belongs to; null: the enterprise itself, for every organization.';

/** Where something is created or acts that can belong to an organization or to the enterprise. */
export const ScopeInput = builder.inputType('ScopeInput', {
  isOneOf: true,
  description:
    'An organization, or the enterprise itself and so all of its organizations. Exactly one member, since leaving both out would mean something else for each caller.',
  fields: (t) => ({
    organizationId: t.id({ description: 'An organization: its global ID, or any form of its id, such as "org-…".' }),
    enterprise: t.boolean({ description: 'The enterprise itself. Must be true.' }),
  }),
});

/** The description of the member `scope` of what is created. */
export const scopeDescription = 'The organization or the enterprise that it belongs to.';

/** A scope as the domain has it. INVALID_INPUT at `scope.enterprise` unless that is true. */
export function readScope(scope: typeof ScopeInput.$inferInput): Place {
  if (scope.organizationId != null) return { organizationId: scope.organizationId };
  if (scope.enterprise) return 'enterprise';
  const said = '"enterprise" must be true. Name an organization by "organizationId" instead.';
  throw refuse(['scope', 'enterprise'], said);
}

/** The id of a scope's organization, in any form; null: the enterprise. The error of {@link readScope}. */
export function organizationIdOf(scope: typeof ScopeInput.$inferInput): string | null {
  const place = readScope(scope);
  return place === 'enterprise' ? null : place.organizationId;
}

/** The description of the `accessType` of a filter. */
export const accessTypeDescription =
  'ENTERPRISE: only what belongs to the enterprise itself, which its organizations may use too. ORGANIZATION: only what belongs to organizations. Left out: of an organization its own, of the enterprise everything.';
