import type { ProviderCredential } from '../credential.ts';
import type { CallUsage } from './providers.ts';

/** The models and the sizes of a call. */
export interface CallFacts {
  /** As the agent wrote it; null: unknown. */
  readonly requestedModel: string | null;
  /** As the provider wrote it; null: unknown. */
  readonly answeredModel: string | null;
  readonly sentBytes: number;
  readonly receivedBytes: number;
  /** False if the response is not complete: then its last figures may be missing. */
  readonly isComplete: boolean;
}

/** Bytes of a request for one token, and bytes of a response with its events. Real ones have more bytes for each token. */
const [sentBytesPerToken, receivedBytesPerToken] = [4, 100];

/** The price of tokens that are kept in Anthropic's cache for an hour, to those that are kept for five minutes. */
export const longCacheFactor = 1.6;

/**
 * Returns the cost of a call in US dollars; null: the price is not known. The provider's own figure counts first, then the
 * model that the provider names, because an agent may write another one. An agent could leave a response before its figures
 * come: then the tokens are estimated from the sizes.
 */
export function costOfCall(
  { provider, costOf }: Pick<ProviderCredential, 'provider' | 'costOf'>,
  usage: CallUsage,
  facts: CallFacts,
): number | null {
  if (costOf === null) return null;
  if (provider === 'openrouter' && usage.costUsd !== undefined && facts.isComplete) return usage.costUsd;
  const { requestedModel: requested, answeredModel: answered } = facts;
  const estimate = (known: number | null, bytes: number, bytesPerToken: number) => {
    const isKnown = known !== null && facts.isComplete;
    return isKnown ? known : Math.max(known ?? 0, Math.ceil(bytes / bytesPerToken));
  };
  const tokens = {
    inputTokens: estimate(usage.inputTokens, facts.sentBytes, sentBytesPerToken),
    cachedTokens: usage.cachedTokens ?? 0,
    writtenTokens: usage.writtenTokens ?? 0,
    outputTokens: estimate(usage.outputTokens, facts.receivedBytes, receivedBytesPerToken),
  };
  const long = usage.longWrittenTokens ?? 0;
  const longTokens = { inputTokens: long, cachedTokens: 0, writtenTokens: long, outputTokens: 0 };
  const costAs = (model: string | null) => {
    if (model === null) return null;
    const cost = costOf(model, tokens);
    const more = cost === null || long === 0 ? 0 : (costOf(model, longTokens) ?? 0) * (longCacheFactor - 1);
    return cost === null ? null : cost + more;
  };
  // The owner's own prices need no model. A new version of the requested model, such as gpt-5-2027-01-01, has its price.
  const isVersion = answered === null || (requested !== null && answered.startsWith(`${requested}-`));
  return costAs(answered) ?? (isVersion ? costAs(requested) : null) ?? costAs('');
}
