import type { ModelProvider } from '../../providers/model-providers.ts';
import type { ProviderCredential } from '../credential.ts';
import type { ProviderGateway, ProviderSettings } from '../provider.ts';

/** Hosts of the providers whose servers all have OpenAI's API. */
const hosts: Readonly<Record<string, ModelProvider>> = {
  'api.openai.com': 'openai',
  'openrouter.ai': 'openrouter',
};

/** Returns the provider at an address, by its API. */
export function providerAt(api: ProviderGateway['api'], baseUrl: string): ModelProvider {
  if (api === 'openai') return hosts[new URL(baseUrl).hostname] ?? 'compatible';
  return api === 'gemini' ? 'google' : 'anthropic';
}

/** Returns the credential of a profile: the key of the service's own configuration, if there is one. */
export function profileCredential(
  profileId: string,
  { key, keySource }: ProviderSettings,
  { api, baseUrl }: ProviderGateway,
): ProviderCredential {
  return {
    keyId: null,
    label: keySource ?? `the profile "${profileId}", which has no key`,
    provider: providerAt(api, baseUrl),
    key,
    baseUrl,
    isPrivateAllowed: null,
    costOf: null,
    budget: null,
  };
}
