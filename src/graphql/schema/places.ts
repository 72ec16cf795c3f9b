/** The descriptions of the input fields that name the place of what is to be made. */
export const placeDescriptions = {
  organizationId: 'Where; may be left out when the viewer has exactly one organization.',
  accessType: 'ENTERPRISE: it belongs to the enterprise itself, and organizationId is left out.',
} as const;

/** The description of a thing's `organization`. */
export const ownerDescription =
  'The organization that it belongs to; null: the enterprise itself, for every organization.';

/** The description of the `accessType` of a filter. */
export const accessTypeDescription =
  'ENTERPRISE: only what belongs to the enterprise itself, which its organizations may use too. ORGANIZATION: only what belongs to organizations. Left out: of an organization its own, of the enterprise everything.';
