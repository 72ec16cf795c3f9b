import type { AgentProfile } from '../agent.ts';
import type { LaunchModels, OwnKey, ProviderRoute } from '../provider.ts';
import type { ReadVariable } from './environment-keys.ts';

/** Returns the first route with a key of the service's environment; null: there is none. */
export function environmentRoute({ provider }: AgentProfile): (ProviderRoute & { readonly own: OwnKey }) | null {
  for (const route of provider?.routes ?? []) if (route.own !== null) return { ...route, own: route.own };
  return null;
}

/** Returns a profile whose agent calls its models by one route, with the key of the environment or another one. */
export function withRoute(
  profile: AgentProfile,
  { route, key, models }: { readonly route: ProviderRoute; readonly key: OwnKey; readonly models: LaunchModels },
): AgentProfile {
  const { provider } = profile;
  if (provider === null) return profile;
  const gateway = { api: route.api, baseUrl: key.baseUrl, env: route.env(models) };
  return { ...profile, provider: { ...provider, key: key.key, keySource: key.source, gateway } };
}

/** Models with these words in their ids do not chat. */
const otherModels =
  /embed|rerank|moderation|tts|whisper|transcribe|speech|audio|realtime|dall-e|image|video|sora|veo|imagen|babbage|davinci|search|guard|ocr/i;

/** Tells by the id of a model if it can chat. */
export const canChat = (model: string): boolean => !otherModels.test(model);

/** Returns the model that a route's agent uses if nobody has chosen one; null: its own default, or there is none. */
export function defaultModelOf({ defaultModel }: ProviderRoute, listed: readonly string[] | null): string | null {
  if (defaultModel === null) return null;
  const { pattern, fallback } = defaultModel;
  if (listed === null) return fallback;
  const matching = pattern === null ? [] : listed.filter((id) => pattern.test(id));
  return newest(matching) ?? listed.find(canChat) ?? fallback;
}

// claude-sonnet-4-5-20250929 is newer than claude-sonnet-4-20250514.
function newest(ids: readonly string[]): string | null {
  const version = (id: string) => id.replace(/-\d{8}$/, '');
  const sorted = ids.toSorted((a, b) => version(a).localeCompare(version(b), 'en', { numeric: true }));
  return sorted.at(-1) ?? null;
}

/** Returns the provider's id of a model from the value of an agent's option, and without the prefix of another provider. */
export function modelIdOf({ modelPrefix }: ProviderRoute, value: string): string {
  return modelPrefix !== '' && value.startsWith(modelPrefix) ? value.slice(modelPrefix.length) : value;
}

/** Names the source of an agent's key in the configuration of the service, such as `key in OPENAI_API_KEY`. */
export function describeOwnKey(profile: AgentProfile, readVariable: ReadVariable): string {
  // A server of one's own may need no key.
  if (environmentRoute(profile)?.own.key === null) return 'server in OPENAI_BASE_URL';
  const name = profile.provider?.variables.find((each) => readVariable(each) !== undefined);
  return name === undefined ? 'key of the profile' : `key in ${name}`;
}
