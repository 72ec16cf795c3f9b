/** Where something new belongs: to the enterprise, where `organizationId` is null, or to an organization. */
export const scopeOf = (organizationId: string | null) =>
  organizationId === null ? { enterprise: true } : { organizationId };
