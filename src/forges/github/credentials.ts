import { createPrivateKey, createSign, type KeyObject } from 'node:crypto';
import { z } from 'zod';
import { type ApiClient, createApiClient } from '../http/api-client.ts';
import type { ForgeHttp } from '../http/forge-http.ts';
import { causedBy, ForgeError, isForgeError } from '../interface/errors.ts';
import type { GitAccess } from '../interface/forge.ts';
import { requireSecret } from '../support/connection.ts';
import { idText, nameText, timestamp } from '../support/text.ts';

/** The headers of each request to GitHub's API. */
export const githubHeaders = { accept: 'application/vnd.github+json', 'x-github-api-version': '2022-11-28' };

/** An installation of a GitHub App. */
export const installationShape = z.object({
  'id': idText,
  'account': z.object({ login: nameText(100) }).nullish(),
  'permissions': z.record(z.string(), z.string().max(20)),
  'events': z.string().max(100).array().max(200).optional(),
  'repository_selection': z.string().max(20).optional(),
  'suspended_at': timestamp,
});
/** See {@link installationShape}. */
export type Installation = z.output<typeof installationShape>;

/** The App as GitHub describes it. */
export const appShape = z.object({ id: idText, slug: z.string().regex(/^[\w-]{1,100}$/), name: nameText(100) });

const tokenShape = z.object({ token: z.string().regex(/^[\x21-\x7e]{10,1000}$/), 'expires_at': timestamp });

/** A token of an installation. */
export interface InstallationToken {
  readonly token: string;
  readonly expiresAt: Date;
}

/** The installation of a GitHub App, and its tokens. */
export interface AppCredentials {
  /** A client with the App's own authorization: for the App and its installations only. */
  readonly app: ApiClient;
  /** Reads the installation once, and again if `isFresh`. */
  installation(isFresh?: boolean): Promise<Installation>;
  /** A token for the API of the installation, for all its repositories. Kept until shortly before its end. */
  apiToken(): Promise<InstallationToken>;
  /** A token for git, limited to one repository and to the content's permissions. */
  gitToken(repositoryName: string, access: GitAccess): Promise<InstallationToken>;
}

/** Options of {@link createAppCredentials}. */
export interface AppOptions {
  readonly http: ForgeHttp;
  readonly apiUrl: string;
  readonly host: string;
  readonly appId: string;
  readonly privateKey: string;
  readonly installationId: string | null;
  readonly now: () => number;
}

/** A token is renewed when it has less than this time left: git needs it until the end of a long clone. */
const renewBeforeMs = 20 * 60 * 1_000;
const maxTokens = 200;

/** Creates the credentials of a GitHub App. Throws INVALID_CONNECTION for a key that is none. */
export function createAppCredentials({
  http,
  apiUrl,
  host,
  appId,
  privateKey,
  installationId,
  now,
}: AppOptions): AppCredentials {
  const id = requireSecret(appId, 'id of the App');
  const key = readPrivateKey(privateKey);
  const app = createApiClient({
    http,
    baseUrl: apiUrl,
    headers: githubHeaders,
    authorize: async () => ({ authorization: `Bearer ${signAppToken(id, key, now())}` }),
    host,
    secrets: () => [],
    refusalAdvice: 'Check the App ID and the private key.',
    now,
  });
  const tokens = new Map<string, { readonly token: Promise<InstallationToken>; renewAt: number }>();
  let known: Promise<Installation> | null = null;

  async function findInstallation(): Promise<Installation> {
    const action = 'read the installation of the App';
    if (installationId !== null) {
      const path = `/app/installations/${encodeURIComponent(installationId)}`;
      return checkSuspended((await app.call(installationShape, { path, action })).data);
    }
    const { items } = await app.list(installationShape, { path: '/app/installations', action, size: 100, max: 100 });
    const [only, ...others] = items;
    if (!only) throw new ForgeError('INVALID_CONNECTION', 'The GitHub App is not installed in any account.');
    if (others.length > 0) {
      const names = items.slice(0, 10).map((each) => `${each.account?.login ?? 'unknown'} (${each.id})`);
      throw new ForgeError(
        'INVALID_CONNECTION',
        `The GitHub App has several installations: ${names.join(', ')}. Name the id of one of them.`,
      );
    }
    return checkSuspended(only);
  }

  function installation(isFresh = false): Promise<Installation> {
    if (isFresh) known = null;
    known ??= findInstallation().catch((error: unknown) => {
      known = null;
      throw error;
    });
    return known;
  }

  async function create(body: Readonly<Record<string, unknown>>): Promise<InstallationToken> {
    const path = `/app/installations/${(await installation()).id}/access_tokens`;
    const action = 'create a token of the installation';
    const { data } = await app.call(tokenShape, { method: 'POST', path, body, action });
    return { token: data.token, expiresAt: data.expires_at ?? new Date(now() + 60 * 60 * 1_000) };
  }

  // Concurrent callers share one request.
  function kept(name: string, body: () => Promise<Readonly<Record<string, unknown>>>): Promise<InstallationToken> {
    const found = tokens.get(name);
    if (found && found.renewAt > now()) return found.token;
    const token = body().then(create);
    const entry = { token, renewAt: now() + renewBeforeMs };
    tokens.delete(name);
    tokens.set(name, entry);
    token.then(
      ({ expiresAt }) => {
        entry.renewAt = expiresAt.getTime() - renewBeforeMs;
      },
      () => tokens.get(name) === entry && tokens.delete(name),
    );
    const [oldest] = tokens.keys();
    if (tokens.size > maxTokens && oldest !== undefined) tokens.delete(oldest);
    return token;
  }

  return {
    app,
    installation,
    apiToken: () => kept('', async () => ({})),
    async gitToken(repositoryName, access) {
      try {
        return await kept(`${access}:${repositoryName.toLowerCase()}`, async () => ({
          repositories: [repositoryName],
          permissions: gitPermissions((await installation()).permissions, access),
        }));
      } catch (error) {
        if (!isForgeError(error, 'REJECTED')) throw error;
        // The permissions may have changed since they were read.
        known = null;
        const permission = access === 'write' ? 'contents: write' : 'contents: read';
        throw causedBy(
          error,
          'MISSING_PERMISSION',
          `The GitHub App has no access to this repository, or not the permission "${permission}". ${error.message}`,
          { permission, status: error.status },
        );
      }
    },
  };
}

// A push that changes a workflow needs its own permission, which many Apps do not have.
function gitPermissions(granted: Readonly<Record<string, string>>, access: GitAccess) {
  if (access === 'read') return { contents: 'read' };
  return { contents: 'write', ...(granted.workflows === 'write' && { workflows: 'write' }) };
}

function checkSuspended(installation: Installation): Installation {
  if (installation.suspended_at === null) return installation;
  throw new ForgeError('CREDENTIAL_REFUSED', 'The installation of the GitHub App is suspended.');
}

function readPrivateKey(text: string): KeyObject {
  try {
    const key = createPrivateKey(text.trim().replaceAll('\\n', '\n'));
    if (key.asymmetricKeyType === 'rsa') return key;
  } catch (error) {
    throw causedBy(error, 'INVALID_CONNECTION', 'The private key of the GitHub App is not a key in PEM format.');
  }
  throw new ForgeError('INVALID_CONNECTION', 'The private key of the GitHub App is not an RSA key.');
}

// A JSON Web Token with RS256. GitHub allows 10 minutes; a minute on each side is for clocks that differ.
function signAppToken(appId: string, key: KeyObject, now: number): string {
  const seconds = Math.floor(now / 1_000);
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const content = `${part({ alg: 'RS256', typ: 'JWT' })}.${part({ iat: seconds - 60, exp: seconds + 540, iss: appId })}`;
  return `${content}.${createSign('RSA-SHA256').update(content).sign(key, 'base64url')}`;
}
