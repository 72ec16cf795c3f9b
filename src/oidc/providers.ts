import { createOidcProvider, type OidcProvider } from './provider.ts';
import type { OidcSettings } from './settings.ts';

/** The identity providers of the installation, by id, in the order of the configuration. */
export type OidcProviders = ReadonlyMap<string, OidcProvider>;

/** Creates the {@link OidcProviders}, without a request to any of them. */
export function createOidcProviders(settings: readonly OidcSettings[], now: () => Date): OidcProviders {
  return new Map(settings.map((each) => [each.id, createOidcProvider(each, now)]));
}
