/** The kinds of model providers. `compatible`: any server with the API of OpenAI, at a base URL of its own. */
export const modelProviders = ['openai', 'anthropic', 'google', 'openrouter', 'compatible'] as const;
/** See {@link modelProviders}. */
export type ModelProvider = (typeof modelProviders)[number];

/** The properties of a provider's API. */
interface ProviderApi {
  /** For messages. */
  readonly name: string;
  /** Without a slash at the end, as the documentation of the provider has it; null: each server has its own. */
  readonly baseUrl: string | null;
  /** The headers of a request with a key. */
  keyHeaders(key: string): Readonly<Record<string, string>>;
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

/** The API of each provider. */
export const providerApis = {
  openai: { name: 'OpenAI', baseUrl: 'https://api.openai.com/v1', keyHeaders: bearer },
  anthropic: {
    name: 'Anthropic',
    baseUrl: 'https://api.anthropic.com',
    keyHeaders: (key) => ({ 'x-api-key': key, 'anthropic-version': '2023-06-01' }),
  },
  google: {
    name: 'Google',
    baseUrl: 'https://generativelanguage.googleapis.com',
    keyHeaders: (key) => ({ 'x-goog-api-key': key }),
  },
  openrouter: { name: 'OpenRouter', baseUrl: 'https://openrouter.ai/api/v1', keyHeaders: bearer },
  compatible: { name: 'OpenAI-compatible server', baseUrl: null, keyHeaders: bearer },
} as const satisfies Record<ModelProvider, ProviderApi>;
