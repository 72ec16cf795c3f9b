import { createEmulator } from 'emulate';
import { githubContract } from './contracts/github.ts';
import { type ForgeAnswer, type ForgeRequest, type ForgeServer, startForgeServer } from './forge-server.ts';
import { type CallGithub, type GithubGit, openGithubGit } from './github-git.ts';
import { changedFiles, submitReview } from './github-reviews.ts';
import { createGithubThreads } from './github-threads.ts';

/** GitHub as `emulate` serves it, at the addresses of GitHub Enterprise Server. */
export interface TestGithub extends ForgeServer {
  readonly privateKey: string;
  /** Calls the emulator with the token of a person, past the connection. */
  person(method: string, path: string, body?: unknown): Promise<Record<string, unknown>>;
  /** Calls the emulator with another token. */
  as(token: string, method: string, path: string, body?: unknown): Promise<Record<string, unknown>>;
  /** Its git server; null without the option `hasGit`. */
  readonly git: GithubGit | null;
  /** The ids of the first comments of resolved threads. */
  readonly resolvedThreads: ReadonlySet<string>;
}

/** The token of the person `octocat`, with the scopes of a classic token. */
export const personToken = 'ghp_c4n4ry0fTheClassicToken000000000000';
/** The token of `hubot`, who may write to no repository. */
export const strangerToken = 'ghp_c4n4ry0fTheStranger0000000000000000';
/** The token of the bot `renovate[bot]`, which may write to no repository. */
export const botToken = 'ghp_c4n4ry0fTheBot000000000000000000000';
/** The id of the installation in `acme`. */
export const installationId = 100;
/** The secret of the App's webhooks. */
export const webhookSecret = 'c4n4ry-of-the-webhook';

const permissions = {
  metadata: 'read',
  contents: 'write',
  'pull_requests': 'write',
  issues: 'write',
  checks: 'write',
  statuses: 'read',
  actions: 'read',
};

/** Options of {@link startGithub}. */
export interface GithubOptions {
  readonly webhookUrl?: string;
  /** {@link webhookSecret} if omitted. */
  readonly webhookSecret?: string;
  /** Adds a git server for `acme/site` and `acme/tools`. */
  readonly hasGit?: boolean;
  /** Gets the user name and password of each request of git, as text, before it is answered. */
  readonly onGitRequest?: (account: string) => void;
}

/**
 * Starts GitHub. The server in front of the emulator adds what emulate 0.12.2 lacks: the list of the installation's repositories,
 * the App's user, the head of a pull request after a push, commit statuses, replies to comments (emulate has them under an older
 * address), and the refusal of a second pull request. With a git server, it also adds the changed files of pull requests, and comments of
 * reviews on lines, which must be in the diff.
 */
export async function startGithub(options: GithubOptions = {}): Promise<TestGithub> {
  const emulator = await createEmulator({
    service: 'github',
    port: 0,
    seed: {
      tokens: {
        [personToken]: { login: 'octocat', scopes: ['repo', 'user'] },
        [strangerToken]: { login: 'hubot', scopes: ['repo', 'user'] },
        [botToken]: { login: 'renovate[bot]', scopes: ['repo', 'user'] },
      },
      github: {
        users: [
          { login: 'octocat', name: 'The Octocat', email: 'octocat@example.com' },
          { login: 'hubot', name: 'Hubot', email: 'hubot@example.com' },
          { login: 'renovate[bot]', name: 'Renovate', email: 'renovate@example.com' },
        ],
        orgs: [{ login: 'acme', name: 'Acme', members: [{ login: 'octocat', role: 'admin' }] }],
        repos: [
          {
            owner: 'acme',
            name: 'site',
            'auto_init': true,
            language: 'TypeScript',
            description: 'The site',
            private: true,
          },
          { owner: 'acme', name: 'tools', 'auto_init': true },
          { owner: 'octocat', name: 'private-notes', 'auto_init': true, private: true },
        ],
        apps: [
          {
            'app_id': 12_345,
            'slug': 'switchyard-test',
            'name': 'Switchyard test',
            permissions,
            'events': [
              'pull_request',
              'check_run',
              'push',
              'issue_comment',
              'issues',
              'pull_request_review',
              'pull_request_review_comment',
            ],
            ...(options.webhookUrl && {
              'webhook_url': options.webhookUrl,
              'webhook_secret': options.webhookSecret ?? webhookSecret,
            }),
            'installations': [
              { 'installation_id': installationId, account: 'acme', 'repository_selection': 'all', permissions },
            ],
          },
        ],
      },
    },
  });
  const privateKey = emulator.generatedSecrets.find(({ kind }) => kind === 'github.app_private_key')?.value ?? '';
  const send = async (
    method: string,
    path: string,
    headers: Record<string, string>,
    body?: string,
  ): Promise<ForgeAnswer> => {
    const response = await fetch(`${emulator.url}${path}`, {
      method,
      headers,
      ...(body ? { body } : {}),
      redirect: 'manual',
    });
    const {
      'content-length': _,
      'transfer-encoding': __,
      connection: ___,
      ...kept
    } = Object.fromEntries(response.headers);
    return { status: response.status, headers: kept, body: await response.text() };
  };
  const forward = ({ method, url, headers, body }: ForgeRequest, path: string, newBody = body) =>
    send(
      method,
      `${path}${url.search}`,
      { ...pick(headers), ...(newBody && { 'content-type': 'application/json' }) },
      newBody,
    );
  async function createPull(request: ForgeRequest, path: string): Promise<ForgeAnswer> {
    const { head, base } = JSON.parse(request.body) as { head: string; base: string };
    const owner = path.split('/')[2];
    const query = `state=open&head=${owner}:${encodeURIComponent(head)}&base=${base}`;
    const open = await send('GET', `${path}?${query}`, pick(request.headers));
    const message = `A pull request already exists for ${owner}:${head}.`;
    const errors = [{ resource: 'PullRequest', code: 'custom', message }];
    const exists = open.status === 200 && (JSON.parse(String(open.body)) as unknown[]).length > 0;
    return exists ? { status: 422, body: { message: 'Validation Failed', errors } } : await forward(request, path);
  }
  async function withHead(request: ForgeRequest, path: string): Promise<ForgeAnswer> {
    const answer = await forward(request, path);
    if (answer.status !== 200) return answer;
    const pull = JSON.parse(String(answer.body)) as { state: string; head: { ref: string; sha: string } };
    const branch = `${path.split('/').slice(0, 4).join('/')}/branches/${pull.head.ref}`;
    const found = pull.state === 'open' ? await send('GET', branch, pick(request.headers)) : null;
    if (found?.status !== 200) return answer;
    const { commit } = JSON.parse(String(found.body)) as { commit: { sha: string } };
    const { etag: _, ...headers } = answer.headers ?? {};
    return { status: 200, headers, body: { ...pull, head: { ...pull.head, sha: commit.sha } } };
  }
  // One at a time, since the forge's own check is atomic.
  let creation: Promise<unknown> = Promise.resolve();
  const callWith: CallGithub = async (token, method, path, body) => {
    const headers = { authorization: `token ${token}`, 'content-type': 'application/json' };
    const answer = await send(method, path, headers, body === undefined ? undefined : JSON.stringify(body));
    if ((answer.status ?? 0) >= 300) throw new Error(`${method} ${path}: ${answer.status} ${String(answer.body)}`);
    return answer.body ? JSON.parse(String(answer.body)) : {};
  };
  const { hasGit, onGitRequest = () => undefined } = options;
  const git = hasGit ? await openGithubGit(callWith, personToken, ['acme/site', 'acme/tools'], onGitRequest) : null;
  const refsOf = async (path: string) => {
    const { base, head } = await callWith(personToken, 'GET', path);
    return { base: base.ref, head: head.ref } as { base: string; head: string };
  };
  const threads = createGithubThreads(callWith, personToken);
  const answerRequest = async (request: ForgeRequest): Promise<ForgeAnswer> => {
    const path = request.url.pathname.replace(/^\/api\/v3/, '');
    if (path === '/api/graphql') return await threads.answer(request.body);
    if (path === '/installation/repositories') {
      const answers = await Promise.all(['site', 'tools'].map((name) => forward(request, `/repos/acme/${name}`)));
      return { body: { repositories: answers.map(({ body }) => JSON.parse(String(body))) } };
    }
    if (path === '/users/switchyard-test%5Bbot%5D')
      return { body: { id: 4_242, login: 'switchyard-test[bot]', type: 'Bot' } };
    if (/^\/repos\/[^/]+\/[^/]+\/commits\/[0-9a-f]{40}\/status$/.test(path)) return { body: { statuses: [] } };
    const reply = /^(\/repos\/[^/]+\/[^/]+\/pulls\/\d+\/comments)\/(\d+)\/replies$/.exec(path);
    if (reply) {
      const body = { ...(JSON.parse(request.body) as object), 'in_reply_to_id': Number(reply[2]) };
      return await forward(request, String(reply[1]), JSON.stringify(body));
    }
    const [, pull, repository = '', part] = /^(\/repos\/([^/]+\/[^/]+)\/pulls\/\d+)\/(files|reviews)$/.exec(path) ?? [];
    if (git && pull && part === 'files') return { body: await changedFiles(git, repository, await refsOf(pull)) };
    if (git && pull && part === 'reviews' && request.method === 'POST') {
      const files = await changedFiles(git, repository, await refsOf(pull));
      return await submitReview(request, files, (rest, body) => forward(request, `${pull}${rest}`, body));
    }
    if (request.method === 'GET' && /^\/repos\/[^/]+\/[^/]+\/pulls\/\d+$/.test(path))
      return await withHead(request, path);
    if (request.method === 'POST' && /^\/repos\/[^/]+\/[^/]+\/pulls$/.test(path)) {
      const created = creation.then(() => createPull(request, path));
      creation = created.catch(() => null);
      return await created;
    }
    return await forward(request, path);
  };
  const front = await startForgeServer(answerRequest, git?.handle, githubContract);
  return {
    ...front,
    privateKey,
    git,
    resolvedThreads: threads.resolved,
    person: (method, path, body) => callWith(personToken, method, path, body),
    as: callWith,
    async close() {
      await front.close();
      await emulator.close();
      git?.close();
    },
  };
}

const pick = (headers: ForgeRequest['headers']): Record<string, string> =>
  Object.fromEntries(
    ['authorization', 'accept', 'if-none-match'].flatMap((name) => {
      const value = headers[name];
      return typeof value === 'string' ? [[name, value]] : [];
    }),
  );
