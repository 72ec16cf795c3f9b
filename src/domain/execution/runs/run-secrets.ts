import type { AgentProfile } from '../../../agents/agent.ts';
import { parseUrl } from '../../../common/parse-url.ts';
import type { Context } from '../../context.ts';
import { type OpenSecret, readSecrets, secretAssociatedData } from '../../library/secrets/secrets.ts';
import { environmentNameOf } from '../../secret-names.ts';

/** The secrets of one run. Never write them to a log, an error or an API response. */
export interface RunSecrets {
  /** For the environment of the agent's process. */
  readonly env: Readonly<Record<string, string>>;
  /** The names of the session's own secrets. */
  readonly ownNames: readonly string[];
  /** The variables that were left out, because the profile sets them. */
  readonly leftOut: readonly string[];
  /** Cookies: files for the agent, by the secrets' keys. */
  readonly secretFiles: readonly SecretFile[];
  /** The keys of the seeds of one-time passwords, for which the agent may request codes; it never has the seeds. */
  readonly totpKeys: readonly string[];
  /** The values to mask in everything that is stored. */
  readonly secretValues: readonly string[];
}

/** A secret that is a file. */
export interface SecretFile {
  readonly key: string;
  readonly content: string;
}

/** A session's own secret as it is stored. */
export interface SessionSecretRow {
  readonly key: string;
  readonly sealed: string;
  readonly isSensitive: boolean;
}

/** The session and the agent whose secrets are read. */
export interface SecretsOfRun {
  readonly sessionId: string;
  readonly organizationId: string;
  /** Ids of the organization's secrets; null: all, empty: none. */
  readonly secretIds: readonly string[] | null;
  readonly own: readonly SessionSecretRow[];
  /** Null: unknown to this worker, which then starts nothing. */
  readonly profile: AgentProfile | null;
}

/**
 * Opens the secrets of a run: those of the organization that the session selects, overridden by the session's own. None
 * replaces a variable that the agent's profile sets, or that contains its provider's key.
 */
export async function readRunSecrets(context: Context, wanted: SecretsOfRun): Promise<RunSecrets> {
  const { sessionId, organizationId, secretIds, profile } = wanted;
  const shared = await readSecrets(context, organizationId, secretIds);
  const own = wanted.own.map(
    ({ key, sealed, isSensitive }): OpenSecret => ({
      key,
      type: 'key-value',
      isSensitive,
      value: context.keyring.open(sealed, secretAssociatedData(sessionId, key)),
    }),
  );
  const ofType = (type: OpenSecret['type']) => shared.filter((secret) => secret.type === type);
  const variables = new Map([
    ...environmentOf(ofType('key-value')),
    ...own.map(({ key, value }): [string, string] => [key, value]),
  ]);
  const leftOut = [...new Set(profile ? variablesOfProfile(profile) : [])].filter((name) => variables.delete(name));
  return {
    env: Object.fromEntries(variables),
    ownNames: own.map(({ key }) => key),
    leftOut,
    secretFiles: ofType('cookie').map(({ key, value }) => ({ key, content: value })),
    totpKeys: ofType('totp').map(({ key }) => key),
    secretValues: [
      ...[...shared, ...own].filter(({ isSensitive }) => isSensitive).flatMap(maskedOf),
      ...(profile ? profileSecrets(profile) : []),
    ],
  };
}

// Two keys may map to one name (`api-key`, `api_key`): the key that equals the name wins, then the older.
function environmentOf(secrets: readonly OpenSecret[]): Map<string, string> {
  const env = new Map<string, string>();
  for (const { key, value } of secrets) {
    const name = environmentNameOf(key);
    if (name !== null && (name === key || !env.has(name))) env.set(name, value);
  }
  return env;
}

/** Returns the variables that the profile sets. */
export function variablesOfProfile({ env, provider }: AgentProfile): string[] {
  return [...Object.keys(env), ...(provider?.variables ?? []), ...Object.keys(provider?.gateway?.env ?? {})];
}

/** Returns the values of the profile to mask: its provider's keys, and values with names like keys. */
export function profileSecrets(profile: AgentProfile): string[] {
  const { env, provider } = profile;
  const set = Object.entries(env).filter(([name]) => isProfileSecret(profile, name));
  return [...set.map(([, value]) => value), ...(provider?.key ? [provider.key] : [])];
}

/** Returns true if a variable of the profile has a key: of its provider, or by its name. */
export function isProfileSecret({ provider }: Pick<AgentProfile, 'provider'>, name: string): boolean {
  return provider?.variables.includes(name) === true || /KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL/i.test(name);
}

/** Returns the texts to mask for a secret. */
function maskedOf({ type, value }: OpenSecret): string[] {
  if (type === 'cookie') return [value, ...cookieValues(value)];
  if (type === 'totp') return [value, ...seedsOf(value)];
  return [value];
}

// Reads a seed with its groups joined; a URL contains it among words that are not secret.
function seedsOf(value: string): string[] {
  const url = parseUrl(value);
  const seed = url === null ? value : (url.searchParams.get('secret') ?? '');
  const joined = seed.replaceAll(/[ -]/g, '').replace(/=+$/, '');
  return [seed, joined.toUpperCase(), joined.toLowerCase()];
}

/** The values in a file of cookies: JSON as browsers export it, the lines of Netscape's format, or a header's pairs. */
function cookieValues(file: string): string[] {
  const json = parsed(file);
  if (json !== null) return stringsIn(json);
  return file.split(/[\r\n]+/).flatMap((line) => {
    const columns = line.split('\t');
    if (columns.length >= 7) return [columns.slice(6).join('\t')];
    return line.split(';').flatMap((pair) => {
      const [, name = '', value = ''] = /^\s*([^=]+)=(.*)$/.exec(pair) ?? [];
      return attributes.test(name) ? [] : [value.trim()];
    });
  });
}

const attributes = /^(path|domain|expires|max-age|samesite)$/i;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

// [{name, value, domain …}], or {name: value}: of the former only the values, because a domain is not secret.
function stringsIn(json: unknown): string[] {
  const list = Array.isArray(json) ? json : [json];
  return list.flatMap((item: unknown) => {
    if (typeof item === 'string') return [item];
    if (typeof item !== 'object' || item === null) return [];
    const { value, cookies } = item as { value?: unknown; cookies?: unknown };
    if (cookies !== undefined) return stringsIn(cookies);
    const values = value === undefined ? Object.values(item) : [value];
    return values.filter((each) => typeof each === 'string');
  });
}
