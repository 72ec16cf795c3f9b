import { z } from 'zod';
import { createApiClient, listOf } from '../http/api-client.ts';
import type { ForgeServices } from '../http/services.ts';
import type { Forge, ForgeIdentity, GitCredential, RepositoryPage, RepositoryQuery } from '../interface/forge.ts';
import { checkedPullRequests } from '../support/checked-pull-requests.ts';
import type { ForgeAddress, ForgeConnection, TokenConnection } from '../support/connection.ts';
import { requireSecret } from '../support/connection.ts';
import { maxPage, readPageCursor } from '../support/page-cursor.ts';
import { requirePath } from '../support/paths.ts';
import { createAccessOf } from '../support/repository-access.ts';
import { nameText } from '../support/text.ts';
import { readAppReport, readTokenReport } from './abilities.ts';
import { apiUrlOf } from './addresses.ts';
import { type AppCredentials, appShape, createAppCredentials, githubHeaders } from './credentials.ts';
import { createGithubPullRequests } from './pull-requests.ts';
import { collaborator, repository } from './shapes.ts';
import { createGithubWebhooks } from './webhooks.ts';

/** A connection to GitHub. */
export type GithubConnection =
  | Extract<ForgeConnection, { readonly kind: 'github_app' }>
  | TokenConnection<'github_token'>;

const userShape = z.object({
  id: z.number().int(),
  login: nameText(100),
  name: nameText(),
  type: z.string().max(40).optional(),
});

/** Opens GitHub or GitHub Enterprise Server, as an App or with a token (classic or fine-grained). */
export function openGithub(connection: GithubConnection, address: ForgeAddress, { http, now }: ForgeServices): Forge {
  const { host, baseUrl } = address;
  const apiUrl = apiUrlOf(address);
  const app: AppCredentials | null =
    connection.kind === 'github_app' ? createAppCredentials({ ...connection, http, apiUrl, host, now }) : null;
  const personal = connection.kind === 'github_token' ? requireSecret(connection.token, 'token') : null;
  let current = personal;
  const client = createApiClient({
    http,
    baseUrl: apiUrl,
    host,
    headers: githubHeaders,
    async authorize() {
      if (app) current = (await app.apiToken()).token;
      return { authorization: `Bearer ${current}` };
    },
    secrets: () => (current === null ? [] : [current]),
    now,
  });
  const pathOf = (path: string) => requirePath(path, host, 2);
  const cloneUrl = (path: string) => `${baseUrl}/${pathOf(path)}.git`;
  const withUrl = (each: z.output<typeof repository>) => ({ ...each, cloneUrl: cloneUrl(each.path) });
  const emailHost = host === 'github.com' || host.endsWith('.ghe.com') ? host : host.replace(/:\d+$/, '');
  const emailOf = (id: number, login: string) => `${id}+${login}@users.noreply.${emailHost}`;

  async function readIdentity(): Promise<ForgeIdentity> {
    const action = 'read the account of the connection';
    if (!app) {
      const { data: user } = await client.call(userShape, { path: '/user', action });
      const isBot = user.type === 'Bot' || user.login.endsWith('[bot]');
      return {
        id: String(user.id),
        login: user.login,
        name: user.name || user.login,
        isBot,
        email: emailOf(user.id, user.login),
      };
    }
    const { data } = await app.app.call(appShape, { path: '/app', action });
    const login = `${data.slug}[bot]`;
    const { data: user } = await client.call(userShape, { path: `/users/${encodeURIComponent(login)}`, action });
    return { id: String(user.id), login, name: login, isBot: true, email: emailOf(user.id, login) };
  }
  let identity: Promise<ForgeIdentity> | null = null;

  async function readPage({ search, cursor, limit = 50 }: RepositoryQuery): Promise<RepositoryPage> {
    const page = readPageCursor(cursor);
    const action = 'list the repositories';
    const query = { 'per_page': Math.min(Math.max(limit, 1), 100), page };
    const call = app
      ? { path: '/installation/repositories', query, action, permission: 'metadata: read' }
      : {
          path: '/user/repos',
          query: { ...query, sort: 'full_name', affiliation: 'owner,collaborator,organization_member' },
          action,
          permission: 'metadata: read',
        };
    const shape = app
      ? z.object({ repositories: listOf(repository) }).transform((data) => data.repositories)
      : listOf(repository);
    const { data, headers } = await client.call(shape, call);
    const isMore = headers.link === undefined ? data.length >= query.per_page : /rel="?next/.test(headers.link);
    const words = search?.toLowerCase() ?? '';
    const found = data.filter(({ path }) => path.toLowerCase().includes(words));
    return {
      repositories: found.map(withUrl),
      next: isMore && data.length > 0 && page < maxPage ? String(page + 1) : null,
    };
  }

  return {
    kind: connection.kind,
    host,
    cloneUrl,
    /** GitHub cannot search in these lists: a page may be empty and have a next one. */
    listRepositories: (query = {}) => readPage(query),
    async getRepository(path) {
      const action = `read the repository ${pathOf(path)}`;
      const call = { path: `/repos/${pathOf(path)}`, action, permission: 'metadata: read' };
      return withUrl((await client.call(repository, call)).data);
    },
    async credentialFor(path, access): Promise<GitCredential> {
      const [, name = ''] = pathOf(path).split('/');
      if (!app) {
        return { username: 'x-access-token', password: personal ?? '', expiresAt: null, isLimitedToRepository: false };
      }
      const { token, expiresAt } = await app.gitToken(name, access);
      return { username: 'x-access-token', password: token, expiresAt, isLimitedToRepository: true };
    },
    identity() {
      identity ??= readIdentity().catch((error: unknown) => {
        identity = null;
        throw error;
      });
      return identity;
    },
    accessOf: createAccessOf(now, async (path, login) => {
      const call = {
        path: `/repos/${pathOf(path)}/collaborators/${encodeURIComponent(login)}/permission`,
        action: 'read the rights of an account',
        permission: 'metadata: read',
      };
      return (await client.call(collaborator, call)).data;
    }),
    async testConnection() {
      const report = app ? await readAppReport(app) : await readTokenReport(client);
      return { identity: await readIdentity(), ...report };
    },
    pullRequests: checkedPullRequests(
      createGithubPullRequests({
        client,
        pathOf,
        baseUrl,
        graphqlPath: apiUrl.endsWith('/api/v3') ? '/../graphql' : '/graphql',
      }),
      host,
    ),
    webhooks: createGithubWebhooks({ host, baseUrl, secret: connection.webhookSecret }),
  };
}
