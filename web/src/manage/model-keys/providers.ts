import type { ModelProvider } from '../../__generated__/keyFormCreateMutation.graphql.ts';
import { providers as texts } from '../../texts/model-keys.ts';

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
  OPENAI: { label: texts.openai, keysUrl: 'https://platform.openai.com/api-keys' },
  ANTHROPIC: { label: texts.anthropic, keysUrl: 'https://console.anthropic.com/settings/keys' },
  GOOGLE: { label: texts.google, keysUrl: 'https://aistudio.google.com/apikey' },
  OPENROUTER: { label: texts.openrouter, keysUrl: 'https://openrouter.ai/settings/keys' },
  COMPATIBLE: { label: texts.openaiCompatibleServer, keysUrl: null },
};

/** Returns true for a provider that this page knows. */
export const isKnownProvider = (provider: ModelProvider): provider is KnownProvider => provider in modelProviders;

/** The provider's name for display. */
export const providerLabel = (provider: ModelProvider): string =>
  provider === '%future added value' ? texts.otherProvider : modelProviders[provider].label;
