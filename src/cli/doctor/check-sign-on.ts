import type { Config } from '../../config/config.ts';
import { createOidcProviders } from '../../oidc/providers.ts';
import { readOidcSettings } from '../../oidc/settings.ts';
import { type Finding, failure, messageOf, ok, warning } from './finding.ts';

/** Checks OIDC_PROVIDERS: that the file is valid, and that each provider answers with its metadata and keys. */
export async function checkSignOn({ oidcProvidersPath, baseUrl }: Config): Promise<Finding[]> {
  if (oidcProvidersPath === null) return [];
  try {
    const providers = createOidcProviders(await readOidcSettings(oidcProvidersPath), () => new Date());
    const findings = await Promise.all(
      [...providers.values()].map(async (provider): Promise<Finding> => {
        const { id, issuer } = provider.settings;
        try {
          await provider.check();
          return ok('sign-on', `${id}: ${issuer} answers.`);
        } catch (error) {
          const fix = 'Check the issuer, and that this host may connect to it (docs/sign-on.md).';
          return failure('sign-on', `${id}: ${messageOf(error)}`, fix);
        }
      }),
    );
    if (baseUrl !== null) return findings;
    const text = 'BASE_URL is not set: providers would send browsers back to the address of this process.';
    return [...findings, warning('sign-on', text, 'Set BASE_URL to the address that browsers use.')];
  } catch (error) {
    return [failure('sign-on', messageOf(error), 'Correct the file that OIDC_PROVIDERS names (docs/sign-on.md).')];
  }
}
