import { providerApis } from '../../providers/model-providers.ts';
import type { AgentProfile } from '../agent.ts';
import type { AskCredential } from '../credential.ts';
import type { AgentOffer } from '../options/agent-option.ts';
import { defaultModelOf, environmentRoute, withRoute } from '../profiles/route-launch.ts';

/** The way in which a checked agent reaches its model. */
export interface CheckedRoute {
  /** The profile to launch. */
  readonly launched: AgentProfile;
  /** If missing: the key of the profile. */
  readonly credential?: AskCredential;
  /** False: sessions get their model from the list of their key, which a check does not read, so the agent shows its own. */
  readonly hasModel: boolean;
}

const refusal = {
  refused: 'KEY_MISSING',
  message: 'A check uses no stored key, and the environment of the service has none for this agent.',
} as const;

/**
 * Chooses the route of a check: the first one with a key of the environment. Without such a key, the agent starts behind a
 * gateway that refuses its calls: a session with a stored key starts in the same way.
 */
export function checkedRoute(profile: AgentProfile): CheckedRoute {
  const own = environmentRoute(profile);
  const route = own ?? profile.provider?.routes[0];
  if (route === undefined) return { launched: profile, hasModel: true };
  const models = { model: defaultModelOf(route, null), listed: [] };
  if (own !== null)
    return { launched: withRoute(profile, { route, key: own.own, models }), hasModel: models.model !== null };
  const baseUrl = providerApis[route.provider].baseUrl ?? providerApis.openai.baseUrl;
  return {
    launched: withRoute(profile, { route, key: { key: null, source: 'the check', baseUrl }, models }),
    credential: () => refusal,
    hasModel: false,
  };
}

/** Returns the options that sessions have too: without the model if the check has another one than sessions. */
export function sessionOffer(offer: AgentOffer, profile: AgentProfile): AgentOffer {
  if (checkedRoute(profile).hasModel) return offer;
  return { ...offer, options: offer.options.filter(({ id, category }) => id !== 'model' && category !== 'model') };
}

/** A sentence for a check without a key; none if there is one, or the agent needs none. */
export function keylessWarnings(profile: AgentProfile): string[] {
  const { credential } = checkedRoute(profile);
  return credential ? ['The check ran without a key of a model provider. Sessions need one.'] : [];
}
