import type { KeyScope } from '../../../domain/library/provider-keys/stored-key.ts';
import { type ProviderFailureCode, providerFailures } from '../../../providers/failures.ts';
import type { ModelProvider } from '../../../providers/model-providers.ts';
import { defineEnum } from './define-enum.ts';

/** The cost of a list of models, in items: it may be a request to the provider. */
export const itemsOfModels = 50;

export const ModelProviderEnum = defineEnum<ModelProvider>('ModelProvider', 'Provider of models, which a key is for.', {
  openai: 'OpenAI, at api.openai.com by default.',
  anthropic: 'Anthropic, at api.anthropic.com by default.',
  google: 'Google, with the Gemini API.',
  openrouter: 'OpenRouter, at openrouter.ai by default.',
  compatible: 'Any server with the API of OpenAI, such as Ollama, vLLM or LiteLLM.',
});

export const ProviderKeyScopeEnum = defineEnum<KeyScope>('ProviderKeyScope', 'Kind of owner of a provider key.', {
  USER: 'A user owns the key. Only sessions of the user use it.',
  ORGANIZATION: 'An organization owns the key. Sessions of users without a key of their own use it.',
  ENTERPRISE: 'The enterprise owns the key. Sessions of organizations and users without a key of their own use it.',
});

export const ProviderFailureCodeEnum = defineEnum<ProviderFailureCode>(
  'ProviderFailureCode',
  'Cause of a failed call to a model provider.',
  providerFailures,
);
