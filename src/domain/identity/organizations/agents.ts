import { usableProviders } from '../../../agents/profiles/usable-providers.ts';
import { DomainError, type Issue } from '../../../common/errors.ts';
import type { Transaction } from '../../../store/store.ts';
import type { Context } from '../../context.ts';
import { findStoredProviders, type KeyUser } from '../../library/provider-keys/resolve.ts';
import type { OrganizationRecord } from './use-organization.ts';

/** An agent profile as the APIs show it. */
export interface AgentRecord {
  /** The id by which sessions and organizations refer to it. */
  readonly id: string;
  readonly name: string;
  /** True for the agent of sessions if neither they nor their organization name one. */
  readonly isDefault: boolean;
}

/** Lists the agents that sessions may use, in the order of the configuration; the same for every viewer. */
export function listAgents({ agentProfiles, defaultAgent }: Context): AgentRecord[] {
  return [...agentProfiles.values()].map((profile) => toRecord(profile, defaultAgent));
}

/** Returns the agent of an id; null if the id is null or the agent is not configured. */
export function findAgent({ agentProfiles, defaultAgent }: Context, id: string | null): AgentRecord | null {
  const profile = id === null ? undefined : agentProfiles.get(id);
  return profile ? toRecord(profile, defaultAgent) : null;
}

const toRecord = ({ id, name }: { readonly id: string; readonly name: string }, defaultAgent: string): AgentRecord => ({
  id,
  name,
  isDefault: id === defaultAgent,
});

/** Returns the issue of an unknown agent in an input, at that path; none if the input omits the agent. */
export function agentIssues({ agentProfiles }: Context, name: string, agent: string | null | undefined): Issue[] {
  if (agent == null || agentProfiles.has(agent)) return [];
  const known = [...agentProfiles.keys()].join(', ');
  return [
    { path: [name], message: `"${name}" must be one of ${known}, but was ${JSON.stringify(agent.slice(0, 80))}.` },
  ];
}

/** Throws UNKNOWN_REFERENCE for an agent that does not exist. */
export function requireAgent(context: Context, name: string, agent: string | null | undefined): void {
  const issues = agentIssues(context, name, agent);
  if (issues[0]) throw new DomainError('UNKNOWN_REFERENCE', issues[0].message, issues);
}

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
  const message = `The organization's default agent, ${JSON.stringify(defaultAgent)}, is not configured any more: "agent" must be given, or another default be set.`;
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
