import { createHash } from 'node:crypto';
import { canChat, environmentRoute } from '../../../agents/profiles/route-launch.ts';
import { usableProviders } from '../../../agents/profiles/usable-providers.ts';
import { permissionFor } from '../../../auth/permissions.ts';
import { ownerOf } from '../../../auth/viewer.ts';
import { notFound, RateLimitedError } from '../../../common/errors.ts';
import { listModels } from '../../../providers/list-models.ts';
import type { ModelProvider } from '../../../providers/model-providers.ts';
import { type ProviderAccess, ProviderRequestError } from '../../../providers/request-provider.ts';
import type { Context } from '../../context.ts';
import { useOrganization } from '../../identity/organizations/use-organization.ts';
import type { ProviderKeyRecord } from './provider-keys.ts';
import { resolveStoredKey } from './resolve.ts';
import { providerKeyAssociatedData } from './stored-key.ts';

/** Time for which the models of a key are kept, and for which a failure is. */
const keptMs = 10 * 60_000;
const failureKeptMs = 30_000;
/** Maximum number of keys whose models are kept. */
const maxKept = 1_000;
/** Maximum number of requests of users to model providers that a process has open at once. */
const maxOpen = 50;

interface Kept {
  readonly models: Promise<string[]>;
  until: number;
}

// The keys of the map contain the values of keys only as a hash: a changed key is another entry.
const kept = new Map<string, Kept>();

/** A key with its value and its id; null: a key of the service's configuration. */
type IdentifiedAccess = ProviderAccess & { readonly id: string | null };

type Services = Pick<Context, 'isPrivateProviderAllowed' | 'now'>;

/**
 * Returns the models of a key, as `listModels` does, and keeps them for 10 minutes in this process. `beforeRequest` is
 * awaited before a request, and may refuse it by an error. Throws ProviderRequestError.
 */
export async function readModels(
  { isPrivateProviderAllowed, now }: Services,
  access: IdentifiedAccess,
  beforeRequest?: () => Promise<void>,
): Promise<string[]> {
  const { id, provider, baseUrl, key } = access;
  // The addresses of the service's own configuration are the operator's choice.
  const allowPrivate = id === null || isPrivateProviderAllowed;
  const digest = createHash('sha256')
    .update(JSON.stringify([id, provider, baseUrl, key, allowPrivate]))
    .digest('hex');
  const found = kept.get(digest);
  if (found && found.until > now().getTime()) return found.models;
  await beforeRequest?.();
  const entry: Kept = { models: listModels(access, { allowPrivate }), until: now().getTime() + keptMs };
  entry.models.catch(() => {
    entry.until = now().getTime() + failureKeptMs;
  });
  kept.delete(digest);
  const [oldest] = kept.size >= maxKept ? kept.keys() : [];
  if (oldest !== undefined) kept.delete(oldest);
  kept.set(digest, entry);
  return entry.models;
}

let open = 0;

/** Counts a request that the viewer causes to a model provider while it runs. Throws RATE_LIMITED beyond the limits. */
export async function requestForViewer<T>(context: Context, run: () => Promise<T>): Promise<T> {
  await spendRequest(context);
  open += 1;
  try {
    return await run();
  } finally {
    open -= 1;
  }
}

/** Spends one of the viewer's requests to model providers in this minute. Throws RATE_LIMITED. */
async function spendRequest({ limits, viewer }: Context): Promise<void> {
  const message = 'Too many requests to model providers: wait and try again.';
  if (open >= maxOpen) throw new RateLimitedError(message, { resetSeconds: 10 });
  const spending = await limits.provider.spend(viewer.principal.id);
  if (spending && !spending.isAllowed) throw new RateLimitedError(message, spending);
}

/** Returns a stored key with its value, for a request to its provider. Throws NOT_FOUND for a deleted key. */
export async function openProviderKey(
  { store, keyring }: Pick<Context, 'store' | 'keyring'>,
  id: string,
): Promise<ProviderAccess & { readonly id: string }> {
  const [row] = await store.query<{
    enterpriseId: string;
    provider: ModelProvider;
    baseUrl: string | null;
    sealed: string | null;
  }>(
    `select enterprise_id as "enterpriseId", provider, base_url as "baseUrl", sealed
       from provider_key where id = $1 and deleted_at is null`,
    [id],
  );
  if (!row) throw notFound('provider key');
  const { enterpriseId, sealed, ...access } = row;
  const key = sealed === null ? null : keyring.open(sealed, providerKeyAssociatedData(enterpriseId, id));
  return { id, ...access, key };
}

/** Returns the models of a key that the viewer may see; null if the provider does not tell, or the viewer asked too often. */
export async function findModelsOfKey(context: Context, { id }: ProviderKeyRecord): Promise<string[] | null> {
  return orNull(async () => readModels(context, await openProviderKey(context, id), () => spendRequest(context)));
}

/** An agent, and the organization of the sessions by an id in any form. */
export interface AgentInOrganization {
  readonly agent: string;
  readonly organizationId: string;
}

/**
 * Returns the models that can chat for the viewer's own sessions on an agent in an organization, as the agent writes them:
 * those of the key that the sessions would have. Null: there is no such key, or its provider does not tell. Throws the
 * errors of `useOrganization`.
 */
export async function findModelsOfAgent(
  context: Context,
  { agent, organizationId }: AgentInOrganization,
): Promise<string[] | null> {
  const { id } = await useOrganization(context, organizationId, permissionFor.createSession);
  const profile = context.agentProfiles.get(agent);
  if (!profile) return null;
  const { userId } = ownerOf(context.viewer);
  const stored = await resolveStoredKey(context, { organizationId: id, userId, providers: usableProviders(profile) });
  const ofService = stored === null ? environmentRoute(profile) : null;
  const route = ofService ?? profile.provider?.routes.find(({ provider }) => provider === stored?.provider);
  const access = stored ?? (ofService && { ...ofService.own, id: null, provider: ofService.provider });
  if (!route || access === null) return null;
  const models = await orNull(() => readModels(context, access, () => spendRequest(context)));
  return models === null ? null : models.filter(canChat).map((model) => route.modelPrefix + model);
}

async function orNull(read: () => Promise<string[]>): Promise<string[] | null> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ProviderRequestError || error instanceof RateLimitedError) return null;
    throw error;
  }
}
