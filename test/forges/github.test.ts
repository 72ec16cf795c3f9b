import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createForges, type Forges } from '../../src/forges/forges.ts';
import type { Forge } from '../../src/forges/interface/forge.ts';
import type { PullRequests } from '../../src/forges/interface/pull-requests.ts';
import type { ForgeRequest } from '../support/forges/forge-server.ts';
import { installationId, personToken, startGithub, type TestGithub } from '../support/forges/github.ts';

let github: TestGithub;
let forges: Forges;
let app: Forge;
let pulls: PullRequests;

beforeAll(async () => {
  github = await startGithub();
  forges = createForges({ allowHttp: true });
  app = forges.open(appConnection());
  pulls = pullRequestsOf(app);
});
afterAll(async () => {
  await forges.close();
  await github.close();
});
beforeEach(() => {
  github.requests.length = 0;
  github.intercept(() => null);
});

function appConnection(change: object = {}) {
  const id = String(installationId);
  const connection = { kind: 'github_app', host: github.url, appId: '12345', privateKey: github.privateKey } as const;
  return { ...connection, installationId: id, webhookSecret: null, ...change };
}
function pullRequestsOf(forge: Forge): PullRequests {
  if (!forge.pullRequests) throw new Error('The forge has no pull requests.');
  return forge.pullRequests;
}

/** Creates a branch with one commit; returns the commit. */
async function pushBranch(name: string, file = `${name}.txt`): Promise<string> {
  const main = (await github.person('GET', '/repos/acme/site/branches/main')) as { commit: { sha: string } };
  await github.person('POST', '/repos/acme/site/git/refs', { ref: `refs/heads/${name}`, sha: main.commit.sha });
  const content = Buffer.from(`content of ${name}`).toString('base64');
  const path = `/repos/acme/site/contents/${file}`;
  const created = await github.person('PUT', path, { message: `Add ${file}`, content, branch: name });
  return (created.commit as { sha: string }).sha;
}
const posts = (path: RegExp) =>
  github.requests.filter(({ method, url }) => method === 'POST' && path.test(url.pathname));
const newPullsOf = (requests: readonly ForgeRequest[]) =>
  requests.filter(({ method, url }) => method === 'POST' && url.pathname.endsWith('/pulls'));

it('lists the repositories of the installation, and reads one', async () => {
  const { repositories } = await app.listRepositories();
  expect(repositories.map(({ path }) => path).sort()).toEqual(['acme/site', 'acme/tools']);
  const { repositories: found } = await app.listRepositories({ search: 'SITE' });
  expect(found.map(({ path }) => path)).toEqual(['acme/site']);
  expect(await app.getRepository('acme/site')).toMatchObject({
    path: 'acme/site',
    name: 'site',
    description: 'The site',
    language: 'TypeScript',
    defaultBranch: 'main',
    isPrivate: true,
    cloneUrl: `${github.url}/acme/site.git`,
  });
});

it('reads the rights of an account, keeps them for a while, and asks nothing about a text that is no login', async () => {
  let now = Date.now();
  const aging = createForges({ allowHttp: true, now: () => now });
  const forge = aging.open(appConnection());
  const requestCount = () => github.requests.filter(({ url }) => url.pathname.endsWith('/permission')).length;
  expect(await forge.accessOf('acme/site', 'octocat')).toBe('admin');
  expect(await forge.accessOf('acme/site', 'hubot')).toBe('none');
  expect(await forge.accessOf('acme/site', 'nobody-at-all')).toBe('none');
  for (const text of ['', '../..', 'a/b', 'octocat?x=1', 'x'.repeat(200)]) {
    expect(await forge.accessOf('acme/site', text)).toBe('none');
  }
  expect(requestCount()).toBe(3);
  await github.person('PUT', '/repos/acme/site/collaborators/hubot', { permission: 'push' });
  const both = await Promise.all(['octocat', 'HUBOT'].map((login) => forge.accessOf('acme/site', login)));
  expect(both).toEqual(['admin', 'none']);
  expect(requestCount()).toBe(3);
  now += 6 * 60_000;
  expect(await forge.accessOf('acme/site', 'hubot')).toBe('write');
  now += 6 * 60_000;
  github.intercept(({ url }) => (url.pathname.endsWith('/permission') ? { status: 500 } : null));
  await expect(forge.accessOf('acme/site', 'hubot')).rejects.toMatchObject({ code: 'UNREACHABLE' });
  github.intercept(() => null);
  expect(await forge.accessOf('acme/site', 'hubot')).toBe('write');
  await github.person('DELETE', '/repos/acme/site/collaborators/hubot');
  await aging.close();
});

it('gives a token for one repository, which it keeps and does not show to another', async () => {
  const first = await app.credentialFor('acme/site', 'write');
  expect(first).toMatchObject({ username: 'x-access-token', isLimitedToRepository: true });
  expect(first.expiresAt?.getTime()).toBeGreaterThan(Date.now() + 50 * 60_000);
  const [again, reading, other] = await Promise.all([
    app.credentialFor('acme/site', 'write'),
    app.credentialFor('acme/site', 'read'),
    app.credentialFor('acme/tools', 'write'),
  ]);
  expect(again.password).toBe(first.password);
  expect(new Set([first, reading, other].map(({ password }) => password)).size).toBe(3);
  const bodies = posts(/access_tokens$/).map(({ body }) => JSON.parse(body));
  expect(bodies).toContainEqual({ repositories: ['site'], permissions: { contents: 'write' } });
  expect(bodies).toContainEqual({ repositories: ['site'], permissions: { contents: 'read' } });
});

it('renews a token before it expires', async () => {
  let now = Date.now();
  const aging = createForges({ allowHttp: true, now: () => now });
  const forge = aging.open(appConnection());
  const first = await forge.credentialFor('acme/site', 'read');
  now += 30 * 60_000;
  expect((await forge.credentialFor('acme/site', 'read')).password).toBe(first.password);
  // The emulator does not accept tokens of the App from the future, so only the request is observed.
  now += 11 * 60_000;
  github.requests.length = 0;
  await forge.credentialFor('acme/site', 'read').catch(() => null);
  expect(posts(/access_tokens$/)).toHaveLength(1);
  await aging.close();
});

it('refuses a repository of another account', async () => {
  await expect(app.credentialFor('octocat/private-notes', 'read')).rejects.toMatchObject({
    code: 'MISSING_PERMISSION',
  });
  await expect(app.getRepository('acme/missing')).rejects.toMatchObject({ code: 'NOT_FOUND' });
});

it('reports the permissions that it has and lacks', async () => {
  const { identity, abilities } = await app.testConnection();
  expect(identity).toMatchObject({ login: 'switchyard-test[bot]', isBot: true });
  expect(identity?.email).toMatch(/^\d+\+switchyard-test\[bot\]@users\.noreply\.127\.0\.0\.1$/);
  const granted = Object.fromEntries(abilities.map(({ permission, isGranted }) => [permission, isGranted]));
  expect(granted).toMatchObject({
    'contents: read': true,
    'contents: write': true,
    'pull_requests: write': true,
    'workflows: write': false,
    'statuses: read': true,
  });
});

it('reports the scopes of a classic token, and its end', async () => {
  github.intercept(async ({ url }) => {
    const headers = {
      'x-oauth-scopes': 'repo, read:org',
      'github-authentication-token-expiration': '2027-01-02 03:04:05 UTC',
    };
    return url.pathname.endsWith('/user') ? { headers, body: { id: 7, login: 'octocat' } } : null;
  });
  const forge = forges.open({ kind: 'github_token', host: github.url, token: personToken, webhookSecret: null });
  const report = await forge.testConnection();
  expect(report.expiresAt).toEqual(new Date('2027-01-02T03:04:05Z'));
  expect(report.abilities.find(({ ability }) => ability === 'pull_requests')).toMatchObject({
    permission: 'repo',
    isGranted: true,
  });
  expect(report.abilities.find(({ ability }) => ability === 'push_workflows')).toMatchObject({ isGranted: false });
  expect(await forge.credentialFor('acme/site', 'write')).toMatchObject({
    password: personToken,
    isLimitedToRepository: false,
  });
});

it('refuses a wrong key and a wrong installation with a sentence', async () => {
  expect(() => forges.open(appConnection({ privateKey: 'not a key' }))).toThrowError(/private key .* PEM/);
  const wrong = forges.open(appConnection({ installationId: '999' }));
  await expect(wrong.testConnection()).rejects.toMatchObject({ code: 'NOT_FOUND' });
  const only = forges.open(appConnection({ installationId: null }));
  expect((await only.getRepository('acme/site')).path).toBe('acme/site');
  // The emulator accepts every token.
  github.intercept(() => ({ status: 401, body: { message: 'Bad credentials' } }));
  const refused = forges.open({ kind: 'github_token', host: github.url, token: 'ghp_unknown', webhookSecret: null });
  await expect(refused.testConnection()).rejects.toMatchObject({
    code: 'CREDENTIAL_REFUSED',
    message: expect.stringMatching(/refused the credential of the connection: Bad credentials\.$/),
  });
  github.intercept(() => ({ status: 401, body: { message: 'A JSON web token could not be decoded' } }));
  await expect(forges.open(appConnection()).testConnection()).rejects.toMatchObject({
    code: 'CREDENTIAL_REFUSED',
    message: expect.stringMatching(/could not be decoded\. Check the App ID and the private key\.$/),
  });
});

const request = (headBranch: string) => ({
  title: `Title of ${headBranch}`,
  body: 'Body',
  headBranch,
  baseBranch: 'main',
});

it('creates a pull request once, whatever is repeated', async () => {
  const commit = await pushBranch('switchyard/once');
  const created = await pulls.create('acme/site', {
    ...request('switchyard/once'),
    isDraft: true,
    labels: ['agent'],
    reviewers: ['hubot'],
  });
  expect(created).toMatchObject({
    isNew: true,
    pullRequest: { state: 'draft', headCommit: commit, headBranch: 'switchyard/once' },
  });
  const again = await pulls.create('acme/site', request('switchyard/once'));
  expect(again).toMatchObject({ isNew: false, pullRequest: { number: created.pullRequest.number } });
  expect(newPullsOf(github.requests)).toHaveLength(1);
});

it('finds the pull request that another process created in the meantime', async () => {
  await pushBranch('switchyard/race');
  let looks = 0;
  // The first look of each process finds nothing, as if both looked before either created it.
  github.intercept(({ method, url }) =>
    method === 'GET' && url.pathname.endsWith('/pulls') && ++looks <= 2 ? { body: [] } : null,
  );
  const both = await Promise.all([
    pulls.create('acme/site', request('switchyard/race')),
    pulls.create('acme/site', request('switchyard/race')),
  ]);
  expect(new Set(both.map(({ pullRequest }) => pullRequest.number)).size).toBe(1);
  expect(both.map(({ isNew }) => isNew).sort()).toEqual([false, true]);
});

it('finds the pull request whose response was lost', async () => {
  await pushBranch('switchyard/lost');
  github.intercept(async ({ method, url, body }) => {
    if (method !== 'POST' || !url.pathname.endsWith('/pulls')) return null;
    await github.person('POST', '/repos/acme/site/pulls', JSON.parse(body));
    return { status: 502, body: 'Bad gateway' };
  });
  const found = await pulls.create('acme/site', request('switchyard/lost'));
  expect(found).toMatchObject({ isNew: false, pullRequest: { headBranch: 'switchyard/lost' } });
});

it('opens a pull request where drafts are not supported', async () => {
  await pushBranch('switchyard/no-drafts');
  github.intercept(({ method, url, body }) => {
    const isDraft = method === 'POST' && url.pathname.endsWith('/pulls') && JSON.parse(body).draft === true;
    return isDraft
      ? { status: 422, body: { message: 'Draft pull requests are not supported in this repository.' } }
      : null;
  });
  const { pullRequest, warnings } = await pulls.create('acme/site', {
    ...request('switchyard/no-drafts'),
    isDraft: true,
  });
  expect(pullRequest.state).toBe('open');
  expect(warnings).toHaveLength(1);
});

it('adds labels and reviewers also to a pull request that it finds, and names those that GitHub refuses', async () => {
  await pushBranch('switchyard/labels');
  const { pullRequest } = await pulls.create('acme/site', request('switchyard/labels'));
  const message = 'Reviews may only be requested from collaborators.';
  github.intercept(({ method, url, body }) => {
    if (method !== 'POST' || !url.pathname.endsWith('/requested_reviewers')) return null;
    if (body.includes('mallory')) return { status: 422, body: { message } };
    return body.includes('design') ? { status: 201, body: {} } : null;
  });
  const additions = { labels: ['agent', 'Agent'], reviewers: ['hubot', 'mallory', 'acme/design', 'other/design'] };
  const found = await pulls.create('acme/site', { ...request('switchyard/labels'), ...additions });
  const { host } = new URL(github.url);
  expect(found).toMatchObject({ isNew: false, pullRequest: { number: pullRequest.number } });
  expect(found.warnings).toEqual([
    `The reviewer "mallory" was not added: ${host} did not request the review: ${message}`,
    'The reviewer "other/design" was not added: A team that reviews must be named acme/team.',
  ]);
  expect(await pulls.get('acme/site', pullRequest.number)).toMatchObject({ labels: ['Agent'], reviewers: ['hubot'] });
  // Labels and reviewers that are there are not added again.
  github.requests.length = 0;
  await pulls.create('acme/site', { ...request('switchyard/labels'), labels: ['AGENT'], reviewers: ['Hubot'] });
  expect(github.requests.filter(({ method }) => method === 'POST')).toEqual([]);
});

it('says that a permission for labels is missing, in one sentence', async () => {
  await pushBranch('switchyard/no-labels');
  github.intercept(({ method, url }) =>
    method === 'POST' && url.pathname.endsWith('/labels')
      ? { status: 403, body: { message: 'Resource not accessible by integration' } }
      : null,
  );
  const { isNew, warnings } = await pulls.create('acme/site', {
    ...request('switchyard/no-labels'),
    labels: ['a', 'b'],
  });
  expect({ isNew, warnings }).toMatchObject({
    isNew: true,
    warnings: [expect.stringMatching(/^The labels "a", "b" were not added: The connection may not set the label at /)],
  });
});

it('reads checks, reviews and mergeability, and says when nothing changed', async () => {
  const commit = await pushBranch('switchyard/status');
  const { pullRequest } = await pulls.create('acme/site', request('switchyard/status'));
  const run = { 'head_sha': commit, name: 'unit tests', status: 'completed', conclusion: 'failure' };
  await github.person('POST', '/repos/acme/site/check-runs', {
    ...run,
    output: { title: '2 tests failed', summary: 'x' },
  });
  await github.person('POST', `/repos/acme/site/pulls/${pullRequest.number}/reviews`, {
    body: 'Please rename it.',
    event: 'COMMENT',
  });
  const status = await pulls.read('acme/site', pullRequest.number);
  expect(status).toMatchObject({
    state: 'open',
    mergeable: 'mergeable',
    checks: [{ name: 'unit tests', state: 'failed', summary: '2 tests failed' }],
    reviews: [{ state: 'commented', body: 'Please rename it.', author: { login: 'octocat' } }],
    isTruncated: false,
  });
  expect(await pulls.read('acme/site', pullRequest.number, status?.validator)).toBeNull();
  await github.person('PUT', `/repos/acme/site/pulls/${pullRequest.number}/merge`, {});
  const merged = await pulls.read('acme/site', pullRequest.number, status?.validator);
  expect(merged).toMatchObject({ state: 'merged' });
  expect(merged?.mergedAt).toBeInstanceOf(Date);
});

it('uses validators, and the content of the response that they confirm', async () => {
  let confirmed = 0;
  const body = { id: 1, 'full_name': 'acme/site', name: 'site', private: true, 'default_branch': 'main' };
  github.intercept(({ url, headers }) => {
    if (!url.pathname.endsWith('/repos/acme/site')) return null;
    if (headers['if-none-match'] !== '"v1"') return { headers: { etag: '"v1"' }, body };
    confirmed++;
    return { status: 304 };
  });
  const names = [await app.getRepository('acme/site'), await app.getRepository('acme/site')].map(({ name }) => name);
  expect(names).toEqual(['site', 'site']);
  expect(confirmed).toBe(1);
});

it('comments, replies in the thread, reviews, and reads the comments', async () => {
  const commit = await pushBranch('switchyard/comments');
  const { pullRequest } = await pulls.create('acme/site', request('switchyard/comments'));
  const { number } = pullRequest;
  const line = { body: 'Why?', 'commit_id': commit, path: 'switchyard/comments.txt', line: 1, side: 'RIGHT' };
  const thread = await github.person('POST', `/repos/acme/site/pulls/${number}/comments`, line);
  await pulls.comment('acme/site', number, 'A comment');
  const reply = await pulls.reply('acme/site', number, String(thread.id), 'Because.');
  expect(reply.threadId).toBe(String(thread.id));
  const { comments } = await pulls.comments('acme/site', number);
  expect(comments.map(({ body }) => body).sort()).toEqual(['A comment', 'Because.', 'Why?']);
  expect(comments.find(({ body }) => body === 'Why?')).toMatchObject({
    author: { login: 'octocat', isBot: false },
    location: { path: 'switchyard/comments.txt', line: 1, side: 'new', commit },
  });
  const review = await pulls.submitReview('acme/site', number, { body: 'Looks good.', state: 'commented', commit });
  expect(review).toMatchObject({ state: 'commented', body: 'Looks good.' });
});

it('updates and closes a pull request', async () => {
  await pushBranch('switchyard/update');
  const { pullRequest } = await pulls.create('acme/site', request('switchyard/update'));
  const changed = await pulls.update('acme/site', pullRequest.number, { title: 'A new title', isClosed: true });
  expect(changed).toMatchObject({ title: 'A new title', state: 'closed' });
  expect(await pulls.find('acme/site', 'switchyard/update')).toBeNull();
});

it('reads the template of either spelling; null if there is none', async () => {
  expect(await pulls.template('acme/site', 'main')).toBeNull();
  const content = Buffer.from('## What\r\n\r\n## Why\r\n').toString('base64');
  await github.person('PUT', '/repos/acme/site/contents/.github/PULL_REQUEST_TEMPLATE.md', {
    message: 'Add it',
    content,
  });
  expect(await pulls.template('acme/site', 'main')).toBe('## What\n\n## Why\n');
});

it('reads the end of a log of Actions', async () => {
  const stamp = '2026-11-23T10:00:00.0000000Z ';
  const log = Array.from({ length: 500 }, (_, index) => `${stamp}\u001b[31mline ${index}\u001b[0m`).join('\r\n');
  github.intercept(({ url }) => (url.pathname.endsWith('/actions/jobs/77/logs') ? { body: `${log}\n` } : null));
  const tail = await pulls.checkLogTail('acme/site', 'run:77', 3);
  expect(tail).toEqual({ text: 'line 497\nline 498\nline 499', isTruncated: true });
  expect(await pulls.checkLogTail('acme/site', 'run:404404')).toBeNull();
  expect(await pulls.checkLogTail('acme/site', 'status:1')).toBeNull();
});
