import type { AgentOffer, AgentOption } from '../../../agents/options/agent-option.ts';
import { isLocked } from '../../../agents/options/locks.ts';
import { permissionFor } from '../../../auth/permissions.ts';
import { organizationsWith } from '../../../auth/viewer.ts';
import type { Transaction } from '../../../store/store.ts';
import type { Context, Services } from '../../context.ts';
import { useOrganization } from '../../identity/organizations/use-organization.ts';

export type { AgentOptionValue } from '../../../agents/options/agent-option.ts';

/** An option that an agent offered. */
export interface ObservedOption extends AgentOption {
  /** True if users cannot choose it. */
  readonly isLocked: boolean;
}

/** The start or the check at which an agent's offer was observed. */
export interface Observation {
  /** Null: at a check on the host, for all organizations. */
  readonly organizationId: string | null;
  readonly profileId: string;
  /** The agent's name and version; null: unknown. */
  readonly version: string | null;
  readonly offer: AgentOffer;
  /** False if the session had settings of its own: such an offer counts only if the version has none yet. */
  readonly isDefault: boolean;
}

/** Number of versions of an agent that an organization's observations keep. An agent may state any version. */
const maxVersions = 5;

const record = (onConflict: string) => `
  with observed as (
    insert into agent_observation as o (organization_id, profile_id, version, offer, observed_at)
    values ($1, $2, $3, $4::jsonb, $5::timestamptz)
    on conflict (organization_id, profile_id, version) ${onConflict}
    returning 1)
  delete from agent_observation where organization_id = $1 and profile_id = $2 and version <> $3 and version not in (
    select x.version from agent_observation x where x.organization_id = $1 and x.profile_id = $2 and x.version <> $3
     order by x.observed_at desc limit ${maxVersions - 1})
  returning version`;
const replacing = record('do update set offer = excluded.offer, observed_at = excluded.observed_at');
const adding = record('do nothing');

/** Time for which an equal observation is not stored again by the same process. */
const repeatMs = 10 * 60_000;
const maxRemembered = 1_000;

/** The last observation of each agent and organization that this process stored, and its time. */
const lastByStore = new WeakMap<object, Map<string, { readonly text: string; readonly atMs: number }>>();

/** Stores an observed offer. The caller has masked it. */
export async function recordObservation(
  { store, now }: Pick<Services, 'store' | 'now'>,
  { organizationId, profileId, version, offer, isDefault }: Observation,
): Promise<void> {
  const last = lastByStore.get(store) ?? new Map();
  lastByStore.set(store, last);
  const key = JSON.stringify([organizationId, profileId]);
  const text = JSON.stringify([version, offer]);
  const before = last.get(key);
  if (before?.text === text && performance.now() - before.atMs < repeatMs) return;
  const values = [organizationId ?? '', profileId, version ?? '', JSON.stringify(offer), now()];
  await store.execute(isDefault ? replacing : adding, values);
  if (last.size >= maxRemembered) last.clear();
  if (isDefault) last.set(key, { text, atMs: performance.now() });
}

type Scope = ReturnType<typeof organizationsWith>;

const newest = (inScope: string) => `
  select p.id, n.offer from unnest($1::text[]) as p(id) cross join lateral (
    select o.offer from agent_observation o where o.profile_id = p.id and ${inScope}
     order by o.observed_at desc limit 1) n`;

// The primary key finds the rows of some organizations, the index by time the newest row of any.
const newestIn = newest(`o.organization_id = any($2::text[])`);
const newestOfAll = newest(`(o.organization_id = '' or exists (
      select 1 from organization g where g.id = o.organization_id and g.enterprise_id = $2))`);

/**
 * Reads the newest offer of each agent that was observed in these organizations or at a check, in the agents' order;
 * null for an agent that was never observed there.
 */
export async function readOffers(
  reader: Pick<Context['store'], 'query'> | Transaction,
  profileIds: readonly string[],
  { enterpriseId, all, ids }: Scope,
): Promise<(AgentOffer | null)[]> {
  const rows = await reader.query<{ id: string; offer: AgentOffer }>(all ? newestOfAll : newestIn, [
    profileIds,
    all ? enterpriseId : [...ids, ''],
  ]);
  const byId = new Map(rows.map(({ id, offer }) => [id, offer]));
  return profileIds.map((id) => byId.get(id) ?? null);
}

/** An agent, and the organization in which its offer was observed; null: any in which the viewer may start sessions. */
export interface OfferKey {
  readonly agent: string;
  readonly organizationId: string | null;
}

/**
 * Returns the options of the newest offers that the viewer may see, in the keys' order. Offers are those of an
 * organization: its secrets and files may be in them. Throws the errors of `useOrganization`.
 */
export async function findOffers(context: Context, keys: readonly OfferKey[]): Promise<(ObservedOption[] | null)[]> {
  const found = new Map<OfferKey, ObservedOption[] | null>();
  for (const organizationId of new Set(keys.map((key) => key.organizationId))) {
    const ofOrganization = keys.filter((key) => key.organizationId === organizationId);
    const agents = ofOrganization.map(({ agent }) => agent);
    const offers = await readOffers(context.store, agents, await scopeOf(context, organizationId));
    for (const [n, key] of ofOrganization.entries()) found.set(key, withLocks(context, key.agent, offers[n] ?? null));
  }
  return keys.map((key) => found.get(key) ?? null);
}

function withLocks({ agentProfiles }: Context, agent: string, offer: AgentOffer | null): ObservedOption[] | null {
  const profile = agentProfiles.get(agent);
  if (!offer || !profile) return null;
  return offer.options.map((option) => ({ ...option, isLocked: isLocked(profile, option) }));
}

async function scopeOf(context: Context, organizationId: string | null): Promise<Scope> {
  if (organizationId === null) return organizationsWith(context.viewer, permissionFor.createSession);
  const { id } = await useOrganization(context, organizationId, permissionFor.createSession);
  return { enterpriseId: context.viewer.enterpriseId, all: false, ids: [id] };
}
