import { type AgentProfile, ProviderCrash } from '../../../agents/agent.ts';
import { describeFailure } from '../../../agents/gateway/call-failures.ts';
import { defaultModelOf, environmentRoute, modelIdOf, withRoute } from '../../../agents/profiles/route-launch.ts';
import type { OwnKey, ProviderRoute } from '../../../agents/provider.ts';
import { providerApis } from '../../../providers/model-providers.ts';
import { baseUrlOf, ProviderRequestError } from '../../../providers/request-provider.ts';
import type { Context } from '../../context.ts';
import { readModels } from '../../library/provider-keys/key-models.ts';
import { resolveStoredKey } from '../../library/provider-keys/resolve.ts';
import { describeKey, type StoredKey } from '../../library/provider-keys/stored-key.ts';
import { recordFailure } from '../provider-keys/key-outcomes.ts';

/** The models that were chosen for a session, in the agent's words or the provider's; null: none. */
export interface ChosenModels {
  /** By the user of the session. */
  readonly session: string | null;
  /** By the session's organization, for the agent. */
  readonly organization: string | null;
}

/** The provider of a run and its model. */
export interface RunRoute {
  /** The profile with the settings of the route. */
  readonly profile: AgentProfile;
  /** Null: the agent has its own settings for its provider. */
  readonly route: ProviderRoute | null;
  /** The provider's id of the model that the agent starts with; null: the agent's own default. */
  readonly model: string | null;
  /** The stored key of the run; null: it has the key of the configuration. Contains a secret. */
  readonly storedKey: StoredKey | null;
}

/** The owner of a session, by unprefixed ids. */
export interface SessionOwner {
  readonly organizationId: string;
  /** Null: it belongs to no user. */
  readonly userId: string | null;
}

/**
 * Chooses the provider of a run: that of a stored key of the session's user, else of its organization, else of the
 * enterprise, else the first one with a key in the environment. Throws {@link ProviderCrash} if the agent needs a key and
 * there is none, or if no model can be chosen.
 */
export async function chooseRoute(
  context: Context,
  profile: AgentProfile,
  owner: SessionOwner,
  chosen: ChosenModels,
): Promise<RunRoute> {
  const { provider } = profile;
  if (provider === null || provider.routes.length === 0) return { profile, route: null, model: null, storedKey: null };
  const { routes } = provider;
  const storedKey = await resolveStoredKey(context, { ...owner, providers: routes.map((each) => each.provider) });
  const route = routes.find((each) => each.provider === storedKey?.provider);
  if (storedKey !== null && route) {
    const key = { key: storedKey.key, source: describeKey(storedKey), baseUrl: baseUrlOf(storedKey) };
    return { ...(await launchOn(context, profile, { route, key, id: storedKey.id }, chosen)), storedKey };
  }
  const found = environmentRoute(profile);
  if (found !== null) {
    const planned = await launchOn(context, profile, { route: found, key: found.own, id: null }, chosen);
    return { ...planned, storedKey: null };
  }
  if (provider.isKeyRequired) throw new ProviderCrash({ code: 'KEY_MISSING', message: howToGiveKey(profile) });
  return { profile, route: null, model: null, storedKey: null };
}

interface RouteKey {
  readonly route: ProviderRoute;
  readonly key: OwnKey;
  /** Of a stored key. */
  readonly id: string | null;
}

// The option `model` of the profile's `config` is not set a second time: the variables of the route name the model.
async function launchOn(
  context: Context,
  profile: AgentProfile,
  routeKey: RouteKey,
  chosen: ChosenModels,
): Promise<Omit<RunRoute, 'storedKey'>> {
  const { route, key } = routeKey;
  const { model: configured, ...config } = profile.config;
  const isFree = profile.lockedOptions?.includes('model') !== true;
  const wanted =
    (isFree ? chosen.session : null) ??
    chosen.organization ??
    (typeof configured === 'string' && configured.startsWith(route.modelPrefix) ? configured : null);
  // An agent with a default of its own knows the models of its provider.
  const { listed, error } = await readListed(context, routeKey);
  const model = wanted === null ? defaultModelOf(route, listed) : modelIdOf(route, wanted);
  if (model === null && route.defaultModel !== null) {
    const crash = noModel(routeKey, error);
    if (routeKey.id !== null && error !== null) await recordFailure(context, routeKey.id, crash.failure);
    throw crash;
  }
  const models = { model, listed: listed ?? [] };
  return { profile: withRoute({ ...profile, config }, { route, key, models }), route, model };
}

async function readListed(
  context: Context,
  { route: { provider, defaultModel }, key: { key, baseUrl }, id }: RouteKey,
): Promise<{ readonly listed: readonly string[] | null; readonly error: ProviderRequestError | null }> {
  if (defaultModel === null) return { listed: null, error: null };
  try {
    return { listed: await readModels(context, { id, provider, baseUrl, key }), error: null };
  } catch (error) {
    if (error instanceof ProviderRequestError) return { listed: null, error };
    throw error;
  }
}

function noModel({ route, key, id }: RouteKey, error: ProviderRequestError | null): ProviderCrash {
  const credential = { keyId: id, label: key.source, provider: route.provider, baseUrl: key.baseUrl };
  const code = error?.code;
  if (code === 'KEY_REFUSED' || code === 'NOT_REACHABLE') {
    const reason = 'no connection is possible or allowed';
    return new ProviderCrash({ code, message: describeFailure(code, credential, reason) });
  }
  const { host, pathname } = new URL(key.baseUrl);
  const message =
    code === 'NOT_FOUND'
      ? `There is no list of models at ${host}${pathname.replace(/\/+$/, '')}, the base URL of ${key.source}. Check the base URL: most servers ` +
        'need /v1 at its end. If the server has no such list, choose a model for the session. Then send a message to let the session go on.'
      : `The server at ${host}, the base URL of ${key.source}, lists no models for the agent. Choose a model for the session, or a default ` +
        'model of the organization, then send a message to continue the session.';
  return new ProviderCrash({ code: 'NOT_FOUND', message });
}

/** Returns the message for a session whose agent has no key: the ways to give it one. */
function howToGiveKey({ name, provider }: AgentProfile): string {
  const names = provider?.routes.map((route) => providerApis[route.provider].name) ?? [];
  const [variable] = provider?.variables ?? [];
  const environment = variable === undefined ? '' : ` An operator can also set ${variable} and restart the service.`;
  return (
    `${name} has no key of a model provider. Add one in the console, for yourself (My model keys) or for the organization ` +
    `(Settings, Model keys). The agent can use: ${names.join(', ')}.${environment} Then send a message to let the session go on.`
  );
}
