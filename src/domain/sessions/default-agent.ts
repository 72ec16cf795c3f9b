import { usableProviders } from '../../agents/profiles/usable-providers.ts';
import { DomainError } from '../../common/errors.ts';
import type { Transaction } from '../../store/store.ts';
import type { Context } from '../context.ts';
import type { OrganizationRecord } from '../identity/organizations/use-organization.ts';
import { findStoredProviders, type KeyUser } from '../library/provider-keys/resolve.ts';

/**
 * Returns the agent of a new session that names none: the organization's, else the service's. If the service has none with
 * a key for everybody, the first agent for which the organization or the user has a key. `userId`: the session's user;
 * null: none. Throws UNKNOWN_REFERENCE if the organization's agent is no longer configured: it may have been chosen for
 * where it sends its data, so no other agent replaces it implicitly.
 */
export async function defaultAgentOf(
  context: Context,
  tx: Transaction,
  { id: organizationId, defaultAgent }: Pick<OrganizationRecord, 'id' | 'defaultAgent'>,
  userId: string | null,
): Promise<string> {
  if (defaultAgent === null) return agentWithKey(context, tx, { organizationId, userId });
  if (context.agentProfiles.has(defaultAgent)) return defaultAgent;
  const message = `The organization's default agent, ${JSON.stringify(defaultAgent)}, is no longer configured. Pass "agent", or set another default.`;
  throw new DomainError('UNKNOWN_REFERENCE', message, [{ path: ['agent'], message }]);
}

async function agentWithKey({ agents }: Context, tx: Transaction, user: KeyUser): Promise<string> {
  const { keylessIds, profiles, defaultId } = agents;
  if (keylessIds.length === 0) return defaultId;
  const stored = (await findStoredProviders({ store: tx }, user)).map(({ provider }) => provider);
  const isUsable = (id: string) => {
    const profile = profiles.get(id);
    return profile !== undefined && usableProviders(profile).some((provider) => stored.includes(provider));
  };
  return keylessIds.find(isUsable) ?? defaultId;
}
