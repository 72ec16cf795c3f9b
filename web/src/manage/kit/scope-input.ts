/** The scope of a new object: the enterprise if `organizationId` is null, otherwise the organization. */
export const scopeOf = (organizationId: string | null) =>
  organizationId === null ? { enterprise: true } : { organizationId };
