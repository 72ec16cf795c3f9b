import { z } from 'zod';
import { type ApiClient, createApiClient, listOf } from '../http/api-client.ts';
import type { ForgeServices } from '../http/services.ts';
import { isForgeError } from '../interface/errors.ts';
import type { AbilityReport, ConnectionReport, Forge, ForgeAbility, ForgeIdentity } from '../interface/forge.ts';
import { checkedPullRequests } from '../support/checked-pull-requests.ts';
import { type ForgeAddress, requireSecret, type TokenConnection } from '../support/connection.ts';
import { readPageCursor } from '../support/page-cursor.ts';
import { requirePath } from '../support/paths.ts';
import { createAccessOf } from '../support/repository-access.ts';
import { nameText, timestamp } from '../support/text.ts';
import { createGitlabPullRequests } from './pull-requests.ts';
import { account, member, project } from './shapes.ts';
import { createGitlabWebhooks } from './webhooks.ts';

const userShape = z.object({
  'id': z.number().int(),
  'username': nameText(100),
  'name': nameText(),
  'bot': z.boolean().nullish(),
  'commit_email': z.string().max(320).nullish(),
});

/** Opens GitLab with a personal, project or group access token. */
export function openGitlab(
  connection: TokenConnection<'gitlab_token'>,
  { host, baseUrl }: ForgeAddress,
  { http, now }: ForgeServices,
): Forge {
  const token = requireSecret(connection.token, 'token');
  const client = createApiClient({
    http,
    baseUrl: `${baseUrl}/api/v4`,
    host,
    headers: { accept: 'application/json' },
    authorize: async () => ({ authorization: `Bearer ${token}` }),
    secrets: () => [token],
    now,
  });
  const pathOf = (path: string) => {
    const clean = requirePath(path, host);
    return clean.includes('/') ? clean : requirePath('', host);
  };
  const cloneUrl = (path: string) => `${baseUrl}/${pathOf(path)}.git`;

  async function readIdentity(): Promise<ForgeIdentity> {
    const { data } = await client.call(userShape, { path: '/user', action: 'read the account of the connection' });
    const login = data.username;
    const noreply = `${data.id}-${login}@users.noreply.${host.replace(/:\d+$/, '')}`;
    const email = data.commit_email && /^[^\s<>@]+@[^\s<>@]+$/.test(data.commit_email) ? data.commit_email : noreply;
    return {
      id: String(data.id),
      login,
      name: data.name || login,
      isBot: data.bot ?? /_bot(?:_|$)/.test(login),
      email,
    };
  }
  let identity: Promise<ForgeIdentity> | null = null;

  return {
    kind: 'gitlab_token',
    host,
    cloneUrl,
    async listRepositories({ search, cursor, limit = 50 } = {}) {
      const page = readPageCursor(cursor);
      const size = Math.min(Math.max(limit, 1), 100);
      const { data, headers } = await client.call(listOf(project), {
        path: '/projects',
        query: {
          membership: 'true',
          'order_by': 'id',
          'per_page': size,
          page,
          search: search || undefined,
          'search_namespaces': search ? 'true' : undefined,
        },
        action: 'list the projects',
        permission: 'read_api',
      });
      const next = headers['x-next-page'] ?? (data.length === size ? String(page + 1) : '');
      return {
        repositories: data.map((each) => ({ ...each, cloneUrl: cloneUrl(each.path) })),
        next: data.length > 0 && next === String(page + 1) ? next : null,
      };
    },
    async getRepository(path) {
      const call = {
        path: projectPath(pathOf(path)),
        action: `read the project ${pathOf(path)}`,
        permission: 'read_api',
      };
      const { data } = await client.call(project, call);
      return { ...data, cloneUrl: cloneUrl(data.path) };
    },
    async credentialFor(path) {
      pathOf(path);
      return { username: 'oauth2', password: token, expiresAt: null, isLimitedToRepository: false };
    },
    identity() {
      identity ??= readIdentity().catch((error: unknown) => {
        identity = null;
        throw error;
      });
      return identity;
    },
    accessOf: createAccessOf(now, async (path, login) => {
      const call = { action: 'read the rights of an account', permission: 'read_api' };
      const users = { ...call, path: '/users', query: { username: login } };
      const { data } = await client.call(listOf(account), users);
      const user = data.find((each) => each?.login.toLowerCase() === login.toLowerCase());
      if (!user) return 'none';
      // With the members of the groups above, and of groups that were invited.
      return (await client.call(member, { ...call, path: `${projectPath(pathOf(path))}/members/all/${user.id}` })).data;
    }),
    testConnection: async () => ({ identity: await readIdentity(), ...(await readReport(client)) }),
    pullRequests: checkedPullRequests(createGitlabPullRequests({ client, pathOf, baseUrl }), host),
    webhooks: createGitlabWebhooks({ host, baseUrl, secret: connection.webhookSecret }),
  };
}

/** The path of a project in the API: the slashes of its own path are encoded. */
export const projectPath = (path: string): string => `/projects/${encodeURIComponent(path)}`;

const tokenShape = z.object({
  'scopes': z.string().max(100).array().max(100).nullish(),
  'expires_at': timestamp,
});

/** The scopes that have each ability. */
const needs: readonly (readonly [ForgeAbility, scopes: readonly string[], isRequired: boolean])[] = [
  ['read_code', ['read_repository', 'write_repository', 'api'], true],
  ['push', ['write_repository', 'api'], true],
  ['pull_requests', ['api'], true],
  ['comments', ['api'], false],
  ['checks', ['read_api', 'api'], false],
  ['check_logs', ['read_api', 'api'], false],
];

async function readReport(client: ApiClient): Promise<Omit<ConnectionReport, 'identity'>> {
  const token = await readToken(client);
  const scopes = token?.scopes ?? null;
  const abilities = needs.map(
    ([ability, any, isRequired]): AbilityReport => ({
      ability,
      permission: any[0] ?? '',
      isGranted: scopes === null ? null : any.some((scope) => scopes.includes(scope)),
      isRequired,
    }),
  );
  const warnings = [
    ...(scopes === null
      ? ['GitLab does not report the scopes of this token. Switchyard cannot know them before a session uses them.']
      : []),
    ...(scopes?.some((scope) => /^(?:sudo|admin_mode)$/.test(scope))
      ? ['The token has administrative scopes. Sessions don’t need them.']
      : []),
  ];
  return { abilities, expiresAt: token?.expires_at ?? null, warnings };
}

// Versions before 15.5 do not have this route.
async function readToken(client: ApiClient) {
  try {
    return (await client.call(tokenShape, { path: '/personal_access_tokens/self', action: 'read the token' })).data;
  } catch (error) {
    if (isForgeError(error, 'NOT_FOUND', 'MISSING_PERMISSION', 'REJECTED')) return null;
    throw error;
  }
}
