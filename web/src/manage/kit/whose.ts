/** Where something new is made: on the enterprise, or in an organization. */
export function placeOf(isOfEnterprise: boolean, organization: { readonly organizationId: string } | null) {
  return isOfEnterprise
    ? { accessType: 'ENTERPRISE' as const }
    : { organizationId: organization?.organizationId ?? null };
}
