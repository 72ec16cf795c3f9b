import type { ModelProvider } from './model-providers.ts';

/** The tokens of one call. */
export interface CallTokens {
  /** All input tokens, including the cached and the written ones. */
  readonly inputTokens: number;
  /** Read from the provider's cache. */
  readonly cachedTokens: number;
  /** Written to the provider's cache. */
  readonly writtenTokens: number;
  readonly outputTokens: number;
}

/** Prices in US dollars for a million tokens. */
export interface TokenPrices {
  readonly inputUsd: number;
  /** Null: cached tokens cost as much as others. */
  readonly cachedUsd: number | null;
  readonly outputUsd: number;
}

/** Returns the cost of a call in US dollars; null: the price of the model is not known. Never throws. */
export type CostOf = (model: string, tokens: CallTokens) => number | null;

/** Returns the costs of a provider's calls, by the owner's own prices, or those that the provider has published. */
export async function readCosts(provider: ModelProvider, prices: TokenPrices | null): Promise<CostOf> {
  if (prices !== null) return (_, tokens) => costAt(prices, tokens);
  // Each server has its own.
  if (provider === 'compatible') return () => null;
  // A large table: loaded only when a stored key is used.
  const { calcPrice } = await import('@pydantic/genai-prices');
  return (model, tokens) => {
    const { input, cached, written } = partsOf(tokens);
    const usage = {
      'input_tokens': input,
      'cache_read_tokens': cached,
      'cache_write_tokens': written,
      'output_tokens': tokens.outputTokens,
    };
    try {
      return calcPrice(usage, model, { providerId: provider })?.total_price ?? null;
    } catch {
      return null;
    }
  };
}

function costAt({ inputUsd, cachedUsd, outputUsd }: TokenPrices, tokens: CallTokens): number {
  const { input, cached } = partsOf(tokens);
  return ((input - cached) * inputUsd + cached * (cachedUsd ?? inputUsd) + tokens.outputTokens * outputUsd) / 1_000_000;
}

// A provider may report more cached tokens than input.
function partsOf({ inputTokens: input, cachedTokens, writtenTokens }: CallTokens) {
  const cached = Math.min(cachedTokens, input);
  return { input, cached, written: Math.min(writtenTokens, input - cached) };
}
