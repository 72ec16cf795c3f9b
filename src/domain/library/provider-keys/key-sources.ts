import type { CommonKeySource } from '../../../agents/profile-registry.ts';
import { usableProviders } from '../../../agents/profiles/usable-providers.ts';
import { permissionFor } from '../../../auth/permissions.ts';
import { ownerOf } from '../../../auth/viewer.ts';
import type { Context } from '../../context.ts';
import { useOrganization } from '../../identity/organizations/use-organization.ts';
import { findStoredProviders, type StoredProvider } from './resolve.ts';

/** The source of the key for a session: the session's user or organization, or one that is the same for everybody. */
export type AgentKeySource = 'USER' | 'ORGANIZATION' | CommonKeySource;

/** An agent, and the organization of the sessions; null: the source that is the same for all organizations. */
export interface KeySourceKey {
  readonly agent: string;
  readonly organizationId: string | null;
}

/**
 * Returns where the keys come from that the viewer's own sessions would have, in the keys' order. One query for each
 * organization. Throws the errors of `useOrganization`.
 */
export async function findKeySources(context: Context, keys: readonly KeySourceKey[]): Promise<AgentKeySource[]> {
  const stored = new Map<string | null, readonly StoredProvider[]>([[null, []]]);
  for (const organizationId of new Set(keys.map((key) => key.organizationId))) {
    if (organizationId === null) continue;
    const { id } = await useOrganization(context, organizationId, permissionFor.createSession);
    const userId = ownerOf(context.viewer).userId ?? null;
    stored.set(organizationId, await findStoredProviders(context, { organizationId: id, userId }));
  }
  return keys.map(({ agent, organizationId }) => sourceOf(context, agent, stored.get(organizationId) ?? []));
}

function sourceOf({ agents }: Context, agent: string, stored: readonly StoredProvider[]): AgentKeySource {
  const profile = agents.profiles.get(agent);
  const usable = profile === undefined ? [] : usableProviders(profile);
  // Those of the user come first.
  return stored.find(({ provider }) => usable.includes(provider))?.scope ?? agents.keySourceOf(agent);
}
