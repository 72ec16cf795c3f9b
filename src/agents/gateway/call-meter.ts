import type { Transform } from 'node:stream';
import type { AgentUpdate } from '../agent.ts';
import type { ProviderCredential } from '../credential.ts';
import { costOfCall, costsOf, isPriced } from './call-cost.ts';
import { createModelGate } from './model-gate.ts';
import type { CallUsage } from './providers.ts';
import { type UsageReader, unknownUsage } from './usage-reader.ts';

/** A call of a model that is about to be sent. */
export interface MeteredCall {
  readonly credential: ProviderCredential;
  /** The model in its path; null: its body names it. */
  readonly pathModel: string | null;
  /** True if its body is compressed, so that no model can be read. */
  readonly isCompressed: boolean;
}

/** Measures one call. */
export interface CallMeter {
  /** The body passes through it; null: nothing is read from the body. */
  readonly gate: Transform | null;
  /** False if the call must not be sent: its price is not known, or its body is compressed, and the key has a budget. */
  readonly isAllowed: boolean;
  sent(bytes: number): void;
  received(bytes: number): void;
  /** Returns the usage of the call, which has ended. `isPriceUnknown`: a key with a budget was used for it. */
  usage(
    reader: UsageReader | null,
    isComplete: boolean,
  ): { readonly usage: Extract<AgentUpdate, { type: 'usage' }>; readonly isPriceUnknown: boolean };
}

/** Creates the meter of one call. `onUnpriced`: its model turned out to have no known price; nothing of it was sent. */
export function createCallMeter(
  { credential, pathModel, isCompressed }: MeteredCall,
  onUnpriced: () => void,
): CallMeter {
  const { keyId, costOf, hasBudget } = credential;
  const mustKnow = hasBudget && !isPriced(credential);
  let requestedModel = pathModel;
  let sentBytes = 0;
  let receivedBytes = 0;
  const onModel = (model: string | null) => {
    requestedModel = model;
    const isKnown = !mustKnow || (model !== null && costsOf(costOf, model));
    if (!isKnown) onUnpriced();
    return isKnown;
  };
  const isRead = costOf !== null && pathModel === null && !isCompressed;
  const isHeld = mustKnow && pathModel === null;
  return {
    gate: isRead ? createModelGate({ isHeld, onModel }) : null,
    // The size of a compressed body says nothing about its tokens, from which the cost of an incomplete call is estimated.
    isAllowed: !(hasBudget && isCompressed) && (!mustKnow || pathModel === null || costsOf(costOf, pathModel)),
    sent(bytes) {
      sentBytes += bytes;
    },
    received(bytes) {
      receivedBytes += bytes;
    },
    usage(reader, isComplete) {
      const answeredModel = reader?.model() ?? null;
      const total = reader?.total() ?? unknownUsage;
      const facts = { requestedModel, answeredModel, sentBytes, receivedBytes, isComplete };
      const costUsd = costOfCall(credential, total, facts);
      return { usage: updateOf(total, keyId, costUsd), isPriceUnknown: hasBudget && costUsd === null };
    },
  };
}

function updateOf(
  { inputTokens, outputTokens, cachedTokens }: CallUsage,
  keyId: string | null,
  costUsd: number | null,
) {
  const totalTokens = inputTokens === null || outputTokens === null ? null : inputTokens + outputTokens;
  return {
    type: 'usage',
    source: 'gateway',
    llmCalls: 1,
    inputTokens,
    outputTokens,
    cachedTokens,
    totalTokens,
    costUsd,
    contextUsed: null,
    contextSize: null,
    ...(keyId !== null && { providerKeyId: keyId }),
  } as const;
}
