import { z } from 'zod';
import { maxUrlLength, outgoingUrlProblem } from '../../../common/outgoing-url.ts';
import { parseUrl } from '../../../common/parse-url.ts';
import { type ModelProvider, modelProviders } from '../../../providers/model-providers.ts';
import { text } from '../../input.ts';
import type { StoredKey } from './stored-key.ts';

/** Maximum length of a key, in characters. */
const maxKeyLength = 4_096;

const usd = (name: string, max: number) =>
  z
    .number({ error: `"${name}" must be a number.` })
    .min(0, `"${name}" must not be negative.`)
    .max(max, `"${name}" must be at most ${max}.`);

/** The prices of a key in inputs. */
export const pricesSchema = z.object({
  inputUsdPerMillion: usd('inputUsdPerMillion', 1_000_000),
  cachedUsdPerMillion: usd('cachedUsdPerMillion', 1_000_000).nullish(),
  outputUsdPerMillion: usd('outputUsdPerMillion', 1_000_000),
});

/** Prices of models in USD for a million tokens. Cached input tokens cost as much as others if omitted. */
export type PricesInput = z.input<typeof pricesSchema>;

/** The provider, the key and the base URL of {@link providerKeySchema}. */
export const accessSchema = (allowPrivate: boolean) =>
  providerKeySchema(allowPrivate).pick({ provider: true, key: true, baseUrl: true });

/**
 * The values of a provider key in inputs. A key is sent in a header: only visible ASCII characters, so that it cannot add
 * headers. Messages never repeat the key or the base URL. Without `allowPrivate` the base URL must be https and public.
 */
export function providerKeySchema(allowPrivate: boolean) {
  const urlRules = { name: 'baseUrl', variable: 'PROVIDER_ALLOW_PRIVATE', allowPrivate };
  return z.object({
    provider: z.enum(modelProviders, { error: `"provider" must be one of ${modelProviders.join(', ')}.` }),
    name: text('name', { min: 1, max: 100, isBlankRefused: true }).refine(
      (name) => !/[\p{C}\p{Zl}\p{Zp}]/u.test(name),
      {
        error: '"name" must have no control characters and no line breaks.',
      },
    ),
    key: text('key', { min: 1, max: maxKeyLength })
      .refine((key) => /^[\x21-\x7e]*$/.test(key), {
        error:
          '"key" must have only visible ASCII characters: no spaces, no line breaks, and nothing around the key itself.',
      })
      .nullish(),
    baseUrl: text('baseUrl', { min: 1, max: maxUrlLength })
      .superRefine((url, check) => {
        const problem = outgoingUrlProblem(url, urlRules) ?? queryProblem(url);
        if (problem !== null) check.addIssue({ code: 'custom', message: problem });
      })
      .nullish(),
    monthlyBudgetUsd: usd('monthlyBudgetUsd', 1_000_000_000).nullish(),
    prices: pricesSchema.nullish(),
    isEnabled: z.boolean({ error: '"isEnabled" must be true or false.' }).nullish(),
  });
}

// Paths are appended to the base URL.
const queryProblem = (url: string) =>
  url.includes('?') ? '"baseUrl" must have no query: paths such as /models are added at its end.' : null;

/** Returns a base URL in its stored form: as URLs are written, without a slash at the end. */
export function normalizeBaseUrl(url: string | null): string | null {
  return url === null ? null : (parseUrl(url)?.href ?? url).replace(/\/+$/, '');
}

/** A key with its provider, as an input leaves it. */
interface KeyValues {
  readonly provider: ModelProvider;
  readonly baseUrl: string | null;
  readonly hasKey: boolean;
}

/** Returns the problem of a budget: calls of an own server have no known cost without prices. Null if there is none. */
export function budgetProblem({
  provider,
  monthlyBudgetUsd,
  inputUsdPerMillion,
}: Pick<StoredKey, 'provider' | 'monthlyBudgetUsd' | 'inputUsdPerMillion'>): {
  path: string[];
  message: string;
} | null {
  if (provider !== 'compatible' || monthlyBudgetUsd === null || inputUsdPerMillion !== null) return null;
  const message =
    '"prices" is required: with a budget, your own server needs prices, because the cost of its calls isn’t known.';
  return { path: ['prices'], message };
}

/** Returns the problem of a key and a base URL for their provider, with the path of the input; null if there is none. */
export function combinationProblem({
  provider,
  baseUrl,
  hasKey,
}: KeyValues): { path: string[]; message: string } | null {
  if (provider === 'compatible' && baseUrl === null) {
    const message = '"baseUrl" is required for a compatible server, such as http://localhost:11434/v1.';
    return { path: ['baseUrl'], message };
  }
  if (provider !== 'compatible' && !hasKey) {
    return { path: ['key'], message: '"key" is required. Only compatible servers can work without one.' };
  }
  return null;
}
