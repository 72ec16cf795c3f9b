import {
  type AskCredential,
  type CallBudget,
  type CredentialRefusal,
  isRefusal,
  type ProviderCredential,
} from '../../../agents/credential.ts';
import type { ProviderRoute } from '../../../agents/provider.ts';
import { providerApis } from '../../../providers/model-providers.ts';
import { readCosts } from '../../../providers/prices.ts';
import { baseUrlOf } from '../../../providers/request-provider.ts';
import type { Context } from '../../context.ts';
import { resolveStoredKey } from '../../library/provider-keys/resolve.ts';
import { describeKey, type StoredKey } from '../../library/provider-keys/stored-key.ts';
import type { LimitReached } from '../metering/limits.ts';
import { reachedBudget } from './key-budgets.ts';
import type { Reservations } from './reservations.ts';

/** The owner of the session of a run, and its provider. */
export interface CredentialScope {
  readonly organizationId: string;
  /** Null: the session belongs to no user. */
  readonly userId: string | null;
  readonly route: ProviderRoute;
  /** The key with which the run was planned. */
  readonly first: StoredKey;
  readonly reservations: Reservations;
}

/** The stored key of a run, which may change between two calls. */
export interface RunCredential {
  /** See AgentLaunch. One query for each call. */
  readonly ask: AskCredential;
  /** Returns the budget that the current key has reached; null: none. */
  findLimit(): Promise<LimitReached | null>;
}

/** An answer that is used again while the database cannot be reached is at most this old. */
const maxAgeMs = 30_000;

/** Creates the credential of a run. `onBudget`: a call was refused because the budget of the key is reached. */
export function createRunCredential(
  context: Context,
  { organizationId, userId, route, first, reservations }: CredentialScope,
  onBudget: (reached: LimitReached) => void,
): RunCredential {
  const firstUrl = baseUrlOf(first);
  let label = describeKey(first);
  let hasBudget = first.monthlyBudgetUsd !== null;
  let latest: { readonly found: ProviderCredential | CredentialRefusal; readonly at: number } | null = null;

  const toCredential = async (key: StoredKey | null): Promise<ProviderCredential | CredentialRefusal> => {
    if (key === null && route.own === null) return { refused: 'KEY_MISSING', message: missing(label, route) };
    const budget = key === null || key.monthlyBudgetUsd === null ? null : budgetOf(key);
    const found = key === null ? ownCredential(route) : await credentialOf(context, key, budget);
    // Another compatible server has other models.
    if (route.provider === 'compatible' && key?.id !== first.id && found.baseUrl !== firstUrl) {
      const message = `The session now uses ${found.label} instead of ${label}, on another server. Send a message to continue with that server.`;
      return { refused: 'KEY_CHANGED', message };
    }
    label = found.label;
    hasBudget = key?.monthlyBudgetUsd != null;
    const reached = key && reachedBudget(key);
    if (!reached) return found;
    onBudget(reached);
    return { refused: 'BUDGET_REACHED', message: reached.message };
  };
  const budgetOf = (key: StoredKey) => reservations.budget({ key, organizationId, userId: userId ?? '' }, onBudget);
  const resolve = () => resolveStoredKey(context, { organizationId, userId, providers: [route.provider] });

  return {
    async ask() {
      try {
        const found = await toCredential(await resolve());
        latest = { found, at: performance.now() };
        return found;
      } catch (error) {
        context.log.error({ err: error }, 'The key of a model provider could not be read.');
        if (latest !== null && performance.now() - latest.at <= maxAgeMs && !isRefusal(latest.found))
          return latest.found;
        return {
          refused: 'UNAVAILABLE',
          message: 'The service cannot read the key of the model provider. Retry later.',
        };
      }
    },
    async findLimit() {
      // Otherwise the next call finds a new budget.
      if (!hasBudget) return null;
      const key = await resolve();
      return key && reachedBudget(key);
    },
  };
}

/** Returns a stored key as the gateway uses it. */
async function credentialOf(
  { isPrivateProviderAllowed }: Pick<Context, 'isPrivateProviderAllowed'>,
  key: StoredKey,
  budget: CallBudget | null,
): Promise<ProviderCredential> {
  const { inputUsdPerMillion: inputUsd, outputUsdPerMillion: outputUsd, cachedUsdPerMillion: cachedUsd } = key;
  const prices = inputUsd === null || outputUsd === null ? null : { inputUsd, outputUsd, cachedUsd };
  return {
    keyId: key.id,
    label: describeKey(key),
    provider: key.provider,
    key: key.key,
    baseUrl: baseUrlOf(key),
    isPrivateAllowed: isPrivateProviderAllowed,
    costOf: await readCosts(key.provider, prices),
    budget,
  };
}

function ownCredential({ provider, own }: ProviderRoute): ProviderCredential {
  if (own === null) throw new Error('The route has no key of its own.');
  const { key, source, baseUrl } = own;
  return { keyId: null, label: source, provider, key, baseUrl, isPrivateAllowed: null, costOf: null, budget: null };
}

function missing(label: string, { provider }: ProviderRoute): string {
  return (
    `The session cannot use ${label} any longer: it was deleted or disabled, or its user has left the organization. Add another ` +
    `key for ${providerApis[provider].name} in the console (Model keys), then send a message to continue the session.`
  );
}
