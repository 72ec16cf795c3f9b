import type { Transform } from 'node:stream';
import type { AgentUpdate } from '../agent.ts';
import type { ProviderCredential, Reservation } from '../credential.ts';
import type { CallPlan } from './budget/call-plan.ts';
import { costOfCall } from './call-cost.ts';
import { createModelReader } from './model-reader.ts';
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

/** The usage of a call, for its session. */
export type CallUpdate = Extract<AgentUpdate, { type: 'usage' }>;

/** Measures one call. */
export interface CallMeter {
  /** The body passes through it; null: nothing is read from the body. */
  readonly gate: Transform | null;
  sent(bytes: number): void;
  received(bytes: number): void;
  /** Returns the usage of the call. */
  usage(reader: UsageReader | null, isComplete: boolean): CallUpdate;
}

/** Creates the meter of one call with a key that has no budget. */
export function createCallMeter({ credential, pathModel, isCompressed }: MeteredCall): CallMeter {
  let requestedModel = pathModel;
  let sentBytes = 0;
  let receivedBytes = 0;
  const isRead = credential.costOf !== null && pathModel === null && !isCompressed;
  const onModel = (model: string) => {
    requestedModel = model;
  };
  return {
    gate: isRead ? createModelReader(onModel) : null,
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
      return updateOf(total, credential.keyId, costOfCall(credential, total, facts));
    },
  };
}

/** Measures one call with a key that has a budget, and settles its reservation. */
export interface BudgetMeter extends CallMeter {
  /** The call has ended. Returns true if the price of the model that answered is not known. */
  settle(reader: UsageReader | null, isComplete: boolean): boolean;
  /** The process stops before the answer has ended: its cost is estimated from the sizes. */
  estimate(reader: UsageReader | null): void;
  /** The call was not made, or the provider refused it. */
  cancel(): void;
}

/** Creates the meter of a call with a reservation. */
export function createBudgetMeter(
  credential: ProviderCredential,
  plan: CallPlan,
  { reservation, sentBytes }: { readonly reservation: Reservation; readonly sentBytes: number },
): BudgetMeter {
  let receivedBytes = 0;
  const measure = (reader: UsageReader | null, isComplete: boolean, isEstimate: boolean) => {
    const total = reader?.total() ?? unknownUsage;
    const { model: requestedModel } = plan;
    const answeredModel = reader?.model() ?? null;
    const facts = { requestedModel, answeredModel, sentBytes, receivedBytes, isComplete: isComplete || !isEstimate };
    const { costUsd: _, ...incomplete } = total;
    const known = isEstimate ? total : plan.complete(isComplete ? total : incomplete, isComplete);
    return { total, costUsd: costOfCall(credential, known, facts) };
  };
  const settleAs = ({ total, costUsd }: ReturnType<typeof measure>) => {
    const { inputTokens, cachedTokens, outputTokens } = total;
    reservation.settle({
      inputTokens: inputTokens ?? 0,
      cachedTokens: cachedTokens ?? 0,
      outputTokens: outputTokens ?? 0,
      costUsd,
    });
  };
  return {
    gate: null,
    sent: () => undefined,
    received(bytes) {
      receivedBytes += bytes;
    },
    // The key's usage is written with the reservation.
    usage(reader, isComplete) {
      const { total, costUsd } = measure(reader, isComplete, !isComplete);
      return updateOf(total, null, costUsd);
    },
    settle(reader, isComplete) {
      const measured = measure(reader, isComplete, false);
      settleAs(measured);
      return measured.costUsd === null && reader !== null && credential.provider !== 'openrouter';
    },
    estimate: (reader) => settleAs(measure(reader, false, true)),
    cancel: () => reservation.settle(null),
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
