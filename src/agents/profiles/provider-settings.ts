import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { AgentProfile } from '../agent.ts';
import type { ProviderRoute } from '../provider.ts';
import { environmentKey, keyVariablesOf, type ReadVariable } from './environment-keys.ts';
import { readyEntries } from './ready.ts';
import { type RouteDraft, readyRoutes } from './routes.ts';
import { type ProfileDraft, wantsGateway } from './schema.ts';

/** The sources of a profile's keys. */
export interface KeySources {
  /** The directory for relative paths. */
  readonly directory: string;
  readonly readVariable: ReadVariable;
  /** True if the agent was found on this host, and no file describes it. */
  readonly isDetected: boolean;
}

/**
 * Finds a key in the file (`key_file`, `env`), otherwise in the variables of this process. Behind the gateway the agent
 * gets none of them.
 */
export async function withKeys(
  draft: ProfileDraft,
  { directory, readVariable, isDetected }: KeySources,
): Promise<Pick<AgentProfile, 'env' | 'provider'>> {
  const { id, env, provider } = draft;
  if (provider === null) return { env, provider };
  const { variables, api } = provider;
  const drafts = routesOf(draft);
  const baseUrl = provider.base_url;
  const keys: Record<string, string> = {};
  if (provider.key_file !== null && variables[0] !== undefined) {
    keys[variables[0]] = await readKey(id, resolve(directory, provider.key_file));
  }
  for (const name of variables) {
    const value = keys[name] ?? env[name] ?? readVariable(name);
    if (value !== undefined) keys[name] = value;
  }
  const variable = variables.find((name) => keys[name] !== undefined);
  const key = variable === undefined ? null : (keys[variable] ?? null);
  const others = Object.fromEntries(Object.entries(env).filter(([name]) => !variables.includes(name)));
  const [first] = drafts;
  // The key of another provider must not go to the address of the first.
  const namesOfFirst = first ? [...(first.keyVariables ?? []), ...keyVariablesOf(first.provider)] : [];
  const isOfFirst = variable === undefined || first === undefined || namesOfFirst.includes(variable);
  if (first && (isDetected || (wantsGateway(draft) && !isOfFirst && provider.key_file === null))) {
    const read = isDetected ? readVariable : (name: string) => keys[name];
    const routes = drafts.map(({ keyVariables, ...route }) => ({
      ...route,
      own: environmentKey(route.provider, read, keyVariables),
    }));
    const settings = { variables, key: null, keySource: null, gateway: null, routes, isKeyRequired: true };
    return { env: others, provider: settings };
  }
  const routes: ProviderRoute[] = drafts.map(({ keyVariables: _names, ...route }) => ({ ...route, own: null }));
  const shared = { variables, routes, isKeyRequired: false };
  if (!wantsGateway(draft) || api === null || baseUrl === null) {
    return { env: { ...env, ...keys }, provider: { ...shared, key: null, keySource: null, gateway: null } };
  }
  const keySource = variable === undefined ? null : sourceOf(draft, variable);
  return { env: others, provider: { ...shared, key, keySource, gateway: { api, baseUrl, env: provider.gateway_env } } };
}

/** The routes of a profile: those of its ready profile, unless the file sets up its provider in another way. */
function routesOf({ readyId, env, provider, sandbox }: ProfileDraft): readonly RouteDraft[] {
  const ready = readyId === null ? undefined : readyEntries[readyId];
  if (!ready || readyId === null || !Object.hasOwn(readyRoutes, readyId) || provider === null) return [];
  const routes = readyRoutes[readyId] ?? [];
  const isChosen = provider.stored_keys;
  // A command of a sandbox has its own network, in which the gateway has no address.
  if (isChosen === false || provider.gateway === false || sandbox?.driver === 'command') return [];
  if (isChosen === true) return routes;
  const own = ready.provider as Record<string, unknown>;
  const names = new Set(routes.flatMap((route) => Object.keys(route.env({ model: '', listed: [] }))));
  const readyEnv = (ready.env ?? {}) as Readonly<Record<string, string>>;
  const isChanged =
    (['api', 'base_url', 'gateway_env'] as const).some((name) => !isDeepStrictEqual(provider[name], own[name])) ||
    [...names].some((name) => env[name] !== readyEnv[name]);
  return isChanged ? [] : routes;
}

function sourceOf({ id, env, provider }: ProfileDraft, variable: string): string {
  if (provider?.key_file != null && variable === provider.variables[0]) return `the key_file of the agent "${id}"`;
  return env[variable] === undefined
    ? `the variable ${variable} of the service`
    : `the variable ${variable} of the agent "${id}"`;
}

async function readKey(id: string, path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    const cause = (error as Error).message;
    throw new Error(`The key_file of the agent "${id}" (${path}) cannot be read: ${cause}.`, { cause: error });
  });
  if (text.trim() === '') throw new Error(`The key_file of the agent "${id}" (${path}) is empty.`);
  return text.trim();
}
