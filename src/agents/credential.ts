import type { ModelProvider } from '../providers/model-providers.ts';
import type { CostOf } from '../providers/prices.ts';

/** The key for one call of a provider. Never log it, and never give it to an agent. */
export interface ProviderCredential {
  /** The id of the stored key; null: it comes from the configuration of the service. */
  readonly keyId: string | null;
  /** Names the key inside a sentence: `the key "Team" of the organization`. Contains no secret. */
  readonly label: string;
  readonly provider: ModelProvider;
  /** Null: the server needs none. */
  readonly key: string | null;
  /** Without a trailing slash. The path of a call to the gateway is appended to it. */
  readonly baseUrl: string;
  /** True if addresses of private networks are allowed too; null: any address, because an operator chose it. */
  readonly isPrivateAllowed: boolean | null;
  /** Null: costs are not counted, because nobody pays by this service's figures. */
  readonly costOf: CostOf | null;
  /** Null: the key has no budget. */
  readonly budget: CallBudget | null;
}

/** The budget of a key. */
export interface CallBudget {
  /**
   * Reserves the cost of a call. Waits while other calls have reserved what is left: `BUSY` after two minutes, or when the
   * signal aborts. A promise never rejects.
   */
  reserve(cost: CallCost, signal: AbortSignal): Promise<Reservation | CredentialRefusal | 'BUSY'>;
}

/** The cost of a call that has not been made, in US dollars. */
export interface CallCost {
  /** The highest costs. */
  readonly maxInputUsd: number;
  readonly maxOutputUsd: number;
  /** The likely cost of the input. */
  readonly inputUsd: number;
  /** The cost of the shortest output that the call can be limited to. */
  readonly minOutputUsd: number;
}

/** A part of a budget that is kept for one call. */
export interface Reservation {
  /** The amount that the output may cost; null: the highest cost of the call fits. */
  readonly outputUsd: number | null;
  /** Aborts when the process stops, and can wait for no answer any more. */
  readonly stopped: AbortSignal;
  /** Replaces the reservation by the use of the call; null: the call was not made. Only the first time counts. Never throws. */
  settle(use: CallUse | null): void;
}

/** The use of a call that has ended. */
export interface CallUse {
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
  /** Null: it is not known, so the whole reservation counts. */
  readonly costUsd: number | null;
}

/** The reason for which a call cannot be paid for, as a sentence that names the key and the remedy. */
export interface CredentialRefusal {
  /** `BUDGET_REACHED` suspends the session, any other ends its turn. */
  readonly refused: 'KEY_MISSING' | 'KEY_CHANGED' | 'BUDGET_REACHED' | 'UNAVAILABLE';
  readonly message: string;
}

/** Returns the credential for the next call. A promise must not reject. */
export type AskCredential = () =>
  | ProviderCredential
  | CredentialRefusal
  | Promise<ProviderCredential | CredentialRefusal>;

/** Tells if there is no credential. */
export function isRefusal(found: ProviderCredential | CredentialRefusal): found is CredentialRefusal {
  return 'refused' in found;
}
