import { parseUrl } from '../../common/parse-url.ts';
import { type ModelProvider, providerApis } from '../../providers/model-providers.ts';
import type { OwnKey } from '../provider.ts';
import { providerAt } from './profile-credential.ts';

/** Returns a variable of this process by name; undefined if it is not set or agents may not have it. */
export type ReadVariable = (name: string) => string | undefined;

/** Variables of this process with the keys of a provider, best first, and the one with its address. */
const environment: Readonly<
  Record<ModelProvider, { readonly keys: readonly string[]; readonly baseUrl: string | null }>
> = {
  openai: { keys: ['OPENAI_API_KEY'], baseUrl: 'OPENAI_BASE_URL' },
  anthropic: { keys: ['ANTHROPIC_API_KEY'], baseUrl: 'ANTHROPIC_BASE_URL' },
  google: { keys: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'], baseUrl: 'GOOGLE_GEMINI_BASE_URL' },
  openrouter: { keys: ['OPENROUTER_API_KEY'], baseUrl: null },
  compatible: { keys: ['OPENAI_API_KEY'], baseUrl: 'OPENAI_BASE_URL' },
};

/** The variables that may hold the key of a provider. */
export const keyVariablesOf = (provider: ModelProvider): readonly string[] => environment[provider].keys;

/** Returns the key of the service's environment for a provider; null: there is none. `ownVariables`: of the agent alone. */
export function environmentKey(
  provider: ModelProvider,
  readVariable: ReadVariable,
  ownVariables: readonly string[] = [],
): OwnKey | null {
  const { keys: shared, baseUrl: baseUrlName } = environment[provider];
  const keys = [...ownVariables, ...shared];
  const address = baseUrlName === null ? undefined : readAddress(readVariable(baseUrlName));
  // A server of OpenAI's API at another address is another provider.
  const isOther =
    (provider === 'openai' || provider === 'compatible') &&
    address !== undefined &&
    providerAt('openai', address) !== 'openai';
  if (isOther !== (provider === 'compatible')) return null;
  const baseUrl = address ?? providerApis[provider].baseUrl;
  const name = keys.find((each) => (readVariable(each) ?? '') !== '');
  if (baseUrl === null) return null;
  if (name !== undefined)
    return { key: readVariable(name) ?? null, source: `the variable ${name} of the service`, baseUrl };
  // A server of one's own often needs no key.
  if (provider !== 'compatible') return null;
  return { key: null, source: `the variable ${baseUrlName} of the service`, baseUrl };
}

function readAddress(text: string | undefined): string | undefined {
  const url = text === undefined ? null : parseUrl(text.trim());
  return url !== null && /^https?:$/.test(url.protocol) ? url.href.replace(/\/+$/, '') : undefined;
}
