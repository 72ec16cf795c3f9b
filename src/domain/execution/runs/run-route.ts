import { type AgentProfile, ProviderCrash } from '../../../agents/agent.ts';
import { defaultModelOf, environmentRoute, modelIdOf, withRoute } from '../../../agents/profiles/route-launch.ts';
import type { OwnKey, ProviderRoute } from '../../../agents/provider.ts';
import { providerApis } from '../../../providers/model-providers.ts';

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
}

/** Chooses the provider of a run. Throws {@link ProviderCrash} if the agent needs a key and there is none. */
export async function chooseRoute(profile: AgentProfile, chosen: ChosenModels): Promise<RunRoute> {
  const { provider } = profile;
  if (provider === null || provider.routes.length === 0) return { profile, route: null, model: null };
  const found = environmentRoute(profile);
  if (found === null) {
    if (provider.isKeyRequired) throw new ProviderCrash({ code: 'KEY_MISSING', message: howToGiveKey(profile) });
    return { profile, route: null, model: null };
  }
  return launchOn(profile, found, found.own, chosen, null);
}

// The option `model` of the profile's `config` is not set a second time: the variables of the route name the model.
function launchOn(
  profile: AgentProfile,
  route: ProviderRoute,
  key: OwnKey,
  chosen: ChosenModels,
  listed: readonly string[] | null,
): RunRoute {
  const { model: configured, ...config } = profile.config;
  const isFree = profile.lockedOptions?.includes('model') !== true;
  const wanted =
    (isFree ? chosen.session : null) ??
    chosen.organization ??
    (typeof configured === 'string' && configured.startsWith(route.modelPrefix) ? configured : null);
  const model = wanted === null ? defaultModelOf(route, listed) : modelIdOf(route, wanted);
  const models = { model, listed: listed ?? [] };
  return { profile: withRoute({ ...profile, config }, { route, key, models }), route, model };
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
