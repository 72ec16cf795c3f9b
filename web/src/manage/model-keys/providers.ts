import type { ModelProvider } from '../../__generated__/keyFormCreateMutation.graphql.ts';

/** A provider that this page knows. */
export type KnownProvider = Exclude<ModelProvider, '%future added value'>;

/** A provider of models, in words. */
interface ProviderText {
  readonly label: string;
  /** The page on which the provider creates keys; null: the operator's own server. */
  readonly keysUrl: string | null;
}

/** The providers of models, in the order of the form. */
export const modelProviders: Readonly<Record<KnownProvider, ProviderText>> = {
  OPENAI: { label: 'OpenAI', keysUrl: 'https://platform.openai.com/api-keys' },
  ANTHROPIC: { label: 'Anthropic', keysUrl: 'https://console.anthropic.com/settings/keys' },
  GOOGLE: { label: 'Google', keysUrl: 'https://aistudio.google.com/apikey' },
  OPENROUTER: { label: 'OpenRouter', keysUrl: 'https://openrouter.ai/settings/keys' },
  COMPATIBLE: { label: 'OpenAI-compatible server', keysUrl: null },
};

/** Returns true for a provider that this page knows. */
export const isKnownProvider = (provider: ModelProvider): provider is KnownProvider => provider in modelProviders;

/** The provider's name for display. */
export const providerLabel = (provider: ModelProvider): string =>
  provider === '%future added value' ? 'Other provider' : modelProviders[provider].label;
