/** The descriptions of the input fields that name the place of what is to be made. */
export const placeDescriptions = {
  organizationId: 'Where; may be left out when the viewer has exactly one organization.',
  accessType: 'ENTERPRISE: it belongs to the enterprise itself, and organizationId is left out.',
} as const;

/** The description of a thing's `organization`. */
export const ownerDescription =
  'The organization that it belongs to; null: the enterprise itself, for every organization.';
