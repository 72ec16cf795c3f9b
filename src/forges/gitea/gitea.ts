import { z } from 'zod';
import { account, collaborator, repository } from '../github/shapes.ts';
import { type ApiCall, type ApiClient, createApiClient, listOf } from '../http/api-client.ts';
import type { ForgeServices } from '../http/services.ts';
import { isForgeError } from '../interface/errors.ts';
import type { AbilityReport, Forge, ForgeAbility, ForgeIdentity } from '../interface/forge.ts';
import { checkedPullRequests } from '../support/checked-pull-requests.ts';
import { type ForgeAddress, requireSecret, type TokenConnection } from '../support/connection.ts';
import { maxPage, readPageCursor } from '../support/page-cursor.ts';
import { requirePath } from '../support/paths.ts';
import { createAccessOf } from '../support/repository-access.ts';
import { createGiteaPullRequests } from './pull-requests.ts';
import { tokenUser } from './shapes.ts';
import { createGiteaWebhooks } from './webhooks.ts';

const read = 'read:repository';

/** Opens Gitea or Forgejo with an access token. */
export function openGitea(
  connection: TokenConnection<'gitea_token'>,
  { host, baseUrl }: ForgeAddress,
  { http, now }: ForgeServices,
): Forge {
  const token = requireSecret(connection.token, 'token');
  const client = createApiClient({
    http,
    baseUrl: `${baseUrl}/api/v1`,
    host,
    headers: { accept: 'application/json' },
    authorize: async () => ({ authorization: `token ${token}` }),
    secrets: () => [token],
    now,
  });
  const pathOf = (path: string) => requirePath(path, host, 2);
  const cloneUrl = (path: string) => `${baseUrl}/${pathOf(path)}.git`;

  async function readIdentity(): Promise<ForgeIdentity> {
    const call = { path: '/user', action: 'read the account of the connection', permission: 'read:user' };
    const { data } = await client.call(tokenUser, call);
    const noreply = `${data.login}@noreply.${host.replace(/:\d+$/, '')}`;
    const email = data.email && /^[^\s<>@]+@[^\s<>@]+$/.test(data.email) ? data.email : noreply;
    return { id: String(data.id), login: data.login, name: data.full_name || data.login, isBot: false, email };
  }
  let identity: Promise<ForgeIdentity> | null = null;

  const accessOf = createAccessOf(now, async (path, login) => {
    const action = 'read the rights of an account';
    const call = { path: `/repos/${pathOf(path)}/collaborators/${encodeURIComponent(login)}/permission`, action };
    try {
      return (await client.call(collaborator, { ...call, permission: read })).data;
    } catch (error) {
      // Only administrators of a repository may ask about others. Everybody may read who can be assigned: those who can write.
      if (!isForgeError(error, 'MISSING_PERMISSION')) throw error;
      const list = { path: `/repos/${pathOf(path)}/assignees`, action, permission: read };
      const { data } = await client.call(listOf(account), list);
      return data.some((each) => each?.login.toLowerCase() === login.toLowerCase()) ? 'write' : 'none';
    }
  });

  return {
    kind: 'gitea_token',
    host,
    cloneUrl,
    async listRepositories({ search, cursor, limit = 50 } = {}) {
      const page = readPageCursor(cursor);
      const size = Math.min(Math.max(limit, 1), 50);
      const { data, headers } = await client.call(listOf(repository), {
        path: '/user/repos',
        query: { limit: size, page },
        action: 'list the repositories',
        permission: read,
      });
      const isMore = headers.link === undefined ? data.length >= size : /rel="?next/.test(headers.link);
      const words = search?.toLowerCase() ?? '';
      const found = data.filter(({ path }) => path.toLowerCase().includes(words));
      return {
        repositories: found.map((each) => ({ ...each, cloneUrl: cloneUrl(each.path) })),
        next: isMore && data.length > 0 && page < maxPage ? String(page + 1) : null,
      };
    },
    async getRepository(path) {
      const action = `read the repository ${pathOf(path)}`;
      const { data } = await client.call(repository, {
        path: `/repos/${pathOf(path)}`,
        action,
        permission: read,
      });
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
    accessOf,
    async testConnection() {
      const account = await readIdentity();
      return {
        identity: account,
        abilities: await readAbilities(client, account.login),
        expiresAt: null,
        warnings: [],
      };
    },
    pullRequests: checkedPullRequests(createGiteaPullRequests({ client, pathOf, baseUrl }), host),
    webhooks: createGiteaWebhooks({ host, baseUrl, secret: connection.webhookSecret }),
  };
}

/**
 * Tries each scope on a repository that cannot exist, since its name is reserved: the forge checks the scope of a token first
 * (403), and only then looks for the repository (404). Nothing is changed.
 */
async function readAbilities(client: ApiClient, login: string): Promise<AbilityReport[]> {
  const missing = `/repos/${encodeURIComponent(login)}/permission-test.git`;
  const [canRead, canWrite, canComment] = await Promise.all([
    isAllowed(client, { path: missing, action: 'read a repository' }),
    isAllowed(client, { method: 'POST', path: `${missing}/pulls`, body: {}, action: 'write to a repository' }),
    isAllowed(client, { method: 'POST', path: `${missing}/issues/1/comments`, body: { body: '' }, action: 'comment' }),
  ]);
  const report = (ability: ForgeAbility, permission: string, isGranted: boolean | null, isRequired: boolean) => {
    return { ability, permission, isGranted, isRequired };
  };
  return [
    report('read_code', 'read:repository', canRead, true),
    report('push', 'write:repository', canWrite, true),
    report('pull_requests', 'write:repository', canWrite, true),
    report('comments', 'write:issue', canComment, false),
    report('checks', 'read:repository', canRead, false),
  ];
}

// Null: neither of the two expected responses.
async function isAllowed(client: ApiClient, call: ApiCall): Promise<boolean | null> {
  try {
    await client.call(z.unknown(), call);
    return null;
  } catch (error) {
    if (isForgeError(error, 'NOT_FOUND')) return true;
    if (isForgeError(error, 'MISSING_PERMISSION')) return false;
    if (isForgeError(error, 'REJECTED')) return null;
    throw error;
  }
}
