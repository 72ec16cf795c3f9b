import { isModelId } from './model-id.ts';
import type { ModelProvider } from './model-providers.ts';
import { type ProviderAccess, ProviderRequestError, type RequestRules, requestProvider } from './request-provider.ts';

/** Maximum number of models of a key that are read. */
export const maxModels = 1_000;

/** The request for the models of each provider. */
const paths: Readonly<Record<ModelProvider, string>> = {
  openai: '/models',
  anthropic: '/v1/models?limit=1000',
  google: '/v1beta/models?pageSize=1000',
  openrouter: '/models',
  compatible: '/models',
};

/**
 * Returns the ids of the models that a key offers, in the order of the provider, at most 1,000. Texts that
 * {@link isModelId} refuses are left out. Throws {@link ProviderRequestError}.
 */
export async function listModels(access: ProviderAccess, rules: RequestRules): Promise<string[]> {
  const answer = await requestProvider(access, paths[access.provider], rules);
  const items = access.provider === 'google' ? member(answer, 'models') : member(answer, 'data');
  if (!Array.isArray(items)) {
    const message = 'The server does not answer as a model provider: the answer has no list of models.';
    throw new ProviderRequestError(message, { code: 'UNEXPECTED_ANSWER' });
  }
  const ids = items.flatMap((item) => readModel(access, item) ?? []);
  return [...new Set(ids)].slice(0, maxModels);
}

function readModel({ provider, key }: ProviderAccess, item: unknown): string | null {
  const id = provider === 'google' ? googleModel(item) : member(item, 'id');
  if (typeof id !== 'string' || !isModelId(id)) return null;
  // A hostile server could return the key as an id.
  return key !== null && id.includes(key) ? null : id;
}

// Only models that generate text: `models/gemini-…` is the form of ids in its lists.
function googleModel(item: unknown): unknown {
  const methods = member(item, 'supportedGenerationMethods');
  const name = member(item, 'name');
  if (Array.isArray(methods) && !methods.includes('generateContent')) return null;
  return typeof name === 'string' ? name.replace(/^models\//, '') : null;
}

const member = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;

/**
 * Makes one cheap request that needs the key, and returns the number of models, at most {@link maxModels}; null if the request does
 * not tell.
 * OpenRouter lists its models to everybody, so that its key is checked by a request of its own. Throws {@link ProviderRequestError}.
 */
export async function checkAccess(access: ProviderAccess, rules: RequestRules): Promise<number | null> {
  if (access.provider !== 'openrouter') return (await listModels(access, rules)).length;
  const { remaining, isLimited } = readLimit(await requestProvider(access, '/key', rules));
  if (isLimited && remaining <= 0) {
    throw new ProviderRequestError('The key has reached its limit at OpenRouter.', { code: 'ACCOUNT_EMPTY' });
  }
  return null;
}

function readLimit(answer: unknown): { readonly isLimited: boolean; readonly remaining: number } {
  const remaining = member(member(answer, 'data'), 'limit_remaining');
  return typeof remaining === 'number' ? { isLimited: true, remaining } : { isLimited: false, remaining: 0 };
}
