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
  /** True if the key has a budget, so that a call is refused if its price is unknown. */
  readonly hasBudget: boolean;
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
