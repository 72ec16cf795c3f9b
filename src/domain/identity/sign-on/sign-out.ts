import type { Services } from '../../context.ts';

/**
 * Returns the page of an identity provider that ends the user's session there too, and then leads back; null if the provider has none,
 * does not answer, or is set to keep its sessions. The browser is signed out here in every case.
 */
export async function signOutAddress(
  { identityProviders, baseUrl, log }: Pick<Services, 'identityProviders' | 'baseUrl' | 'log'>,
  providerId: string | null,
): Promise<string | null> {
  const provider = providerId === null ? undefined : identityProviders.get(providerId);
  if (provider === undefined || !provider.settings.signOutAtProvider) return null;
  return provider.signOutAddress(`${baseUrl}/sign-in`).catch((error: unknown) => {
    log.warn({ provider: providerId, err: error }, 'The sign-out page of an identity provider could not be found.');
    return null;
  });
}
