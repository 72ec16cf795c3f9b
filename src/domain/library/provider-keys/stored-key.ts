import type { ModelProvider } from '../../../providers/model-providers.ts';
import type { Context } from '../../context.ts';

/** The kinds of owners of provider keys, in the order in which their keys are chosen. */
export const keyScopes = ['USER', 'ORGANIZATION', 'ENTERPRISE'] as const;
/** See {@link keyScopes}. */
export type KeyScope = (typeof keyScopes)[number];

/** Prices that the owner of a key gave, in USD for a million tokens; null: not given. */
export interface KeyPrices {
  readonly inputUsdPerMillion: number | null;
  readonly cachedUsdPerMillion: number | null;
  readonly outputUsdPerMillion: number | null;
}

/** A provider key with its value: never pass it to an API response, a log or an error. */
export interface StoredKey extends KeyPrices {
  readonly id: string;
  readonly scope: KeyScope;
  readonly name: string;
  readonly provider: ModelProvider;
  /** Null: the provider's own address. */
  readonly baseUrl: string | null;
  /** Null: a server that needs no key. */
  readonly key: string | null;
  /** Null: no budget. */
  readonly monthlyBudgetUsd: number | null;
  /** Cost since the beginning of the month in UTC; null for a key without a budget. */
  readonly spentThisMonthUsd: number | null;
}

/** Returns the associated data of a key's sealed value, which binds it to the key. */
export function providerKeyAssociatedData(enterpriseId: string, keyId: string): string {
  return `${enterpriseId}:${keyId}`;
}

/** Returns the first day of the current month in UTC, as `YYYY-MM-DD`: budgets start then. */
export function budgetStart({ now }: Pick<Context, 'now'>): string {
  return `${now().toISOString().slice(0, 7)}-01`;
}

const owners: Readonly<Record<KeyScope, string>> = {
  USER: 'of the user',
  ORGANIZATION: 'of the organization',
  ENTERPRISE: 'of the enterprise',
};

/** Names a key in messages, such as `the key "Team" of the organization`. */
export function describeKey({ name, scope }: Pick<StoredKey, 'name' | 'scope'>): string {
  return `the key ${JSON.stringify(name)} ${owners[scope]}`;
}
