import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createForges, type Forges } from '../../src/forges/forges.ts';
import type { Forge } from '../../src/forges/interface/forge.ts';
import type { PullRequests } from '../../src/forges/interface/pull-requests.ts';
import { findDiffLine } from '../../src/forges/support/read-diff.ts';
import { giteaToken, startGitea } from '../support/forges/gitea.ts';

const path = 'acme/site';
let gitea: Awaited<ReturnType<typeof startGitea>>;
let forges: Forges;
let forge: Forge;
let pulls: PullRequests;
const secret = 'a secret of webhooks';

beforeAll(async () => {
  gitea = await startGitea();
  forges = createForges({ allowHttp: true });
  forge = forges.open({ kind: 'gitea_token', host: gitea.url, token: giteaToken, webhookSecret: secret });
  pulls = forge.pullRequests ?? expect.fail('no pull requests');
});
afterAll(async () => {
  await forges.close();
  await gitea.close();
});
beforeEach(() => gitea.intercept(() => null));

const request = (headBranch: string) => ({ title: 'A title', body: 'A body', headBranch, baseBranch: 'main' });

it('lists repositories, and reads one', async () => {
  expect(await forge.listRepositories()).toMatchObject({
    repositories: [{ path, canPush: true, language: null }],
    next: null,
  });
  expect((await forge.listRepositories({ search: 'other' })).repositories).toEqual([]);
  await expect(forge.getRepository('acme/missing')).rejects.toMatchObject({ code: 'NOT_FOUND' });
});

it('reads the rights of an account, and who can be assigned if the token may not ask', async () => {
  expect(await forge.accessOf(path, 'Ann')).toBe('write');
  expect(await forge.accessOf(path, 'bob')).toBe('none');
  gitea.intercept(({ url }) => (url.pathname.endsWith('/permission') ? { body: { permission: 'owner' } } : null));
  expect(await forge.accessOf(path, 'carl')).toBe('admin');
});

it('reports the scopes that the token has and lacks, and changes nothing', async () => {
  const { identity, abilities } = await forge.testConnection();
  expect(identity).toMatchObject({ login: 'robot', email: 'robot@example.com' });
  const granted = Object.fromEntries(abilities.map(({ ability, isGranted }) => [ability, isGranted]));
  expect(granted).toMatchObject({ 'read_code': true, push: true, 'pull_requests': true, comments: false });
  expect(gitea.pulls).toEqual([]);
  await expect(pulls.comment(path, 1, 'x')).rejects.toMatchObject({
    code: 'MISSING_PERMISSION',
    permission: 'write:issue',
  });
});

it('creates a pull request once, also beyond the first page of open ones', async () => {
  const created = await pulls.create(path, { ...request('feature'), isDraft: true });
  expect(created).toMatchObject({
    isNew: true,
    pullRequest: { title: 'WIP: A title', state: 'draft', headRepository: path },
  });
  for (let index = 0; index < 60; index++) {
    gitea.pulls.push({
      path,
      number: gitea.pulls.length + 1,
      title: 'x',
      body: '',
      state: 'open',
      head: `other-${index}`,
      base: 'main',
      isMerged: false,
    });
  }
  expect(await pulls.create(path, request('feature'))).toMatchObject({ isNew: false, pullRequest: { number: 1 } });
  expect(await pulls.update(path, 1, { isDraft: false })).toMatchObject({ title: 'A title', state: 'open' });
});

it('adds labels by their ids, and reviewers and teams, and names those that Gitea refuses', async () => {
  const input = {
    ...request('labelled'),
    labels: ['agent', 'urgent', 'other'],
    reviewers: ['acme/design', 'nobody', 'x/y'],
  };
  const { pullRequest, warnings } = await pulls.create(path, input);
  const { host } = new URL(gitea.url);
  const missing = `${host} could not request the review: it does not exist, or the connection may not see it.`;
  expect(warnings).toEqual([
    'The label "other" was not added: acme/site has no such label.',
    `The reviewer "nobody" was not added: ${missing}`,
    'The reviewer "x/y" was not added: A team that reviews must be named acme/team.',
  ]);
  expect(await pulls.get(path, pullRequest.number)).toMatchObject({ labels: ['agent', 'Urgent'] });
  const bodies = gitea.requests
    .filter(({ url }) => url.pathname.endsWith('/requested_reviewers'))
    .map(({ body }) => JSON.parse(body) as object);
  expect(bodies).toContainEqual({ reviewers: [], 'team_reviewers': ['design'] });
});

it('finds the pull request that another process created in the meantime', async () => {
  let looks = 0;
  gitea.intercept(({ method, url }) =>
    method === 'GET' && url.pathname.endsWith('/pulls') && ++looks <= 2 ? { body: [] } : null,
  );
  const both = await Promise.all([pulls.create(path, request('race')), pulls.create(path, request('race'))]);
  expect(new Set(both.map(({ pullRequest }) => pullRequest.number)).size).toBe(1);
  expect(both.map(({ isNew }) => isNew).sort()).toEqual([false, true]);
});

it('reads checks, reviews and mergeability', async () => {
  const status = await pulls.read(path, 1);
  expect(status).toMatchObject({
    mergeable: 'mergeable',
    checks: [{ name: 'test / unit (push)', state: 'failed', url: null }],
    reviews: [{ id: '31', state: 'changes_requested', author: { login: 'ann' } }],
  });
  expect(await pulls.read(path, 1, status?.validator)).toBeNull();
});

it('reads comments, replies in the thread of a line, reviews, and reads the template', async () => {
  const { comments } = await pulls.comments(path, 1);
  expect(comments).toMatchObject([
    { body: 'In the conversation', threadId: null },
    { body: 'Why?', threadId: 'new:3:a.ts', location: { path: 'a.ts', line: 3, side: 'new', diffHunk: '@@ -1 +1 @@' } },
  ]);
  await pulls.reply(path, 1, 'new:3:a.ts', 'Because.');
  const sent = JSON.parse(gitea.requests.at(-1)?.body ?? '') as object;
  expect(sent).toMatchObject({ event: 'COMMENT', comments: [{ path: 'a.ts', body: 'Because.', 'new_position': 3 }] });
  const review = { body: 'Fine', state: 'approved', commit: 'a'.repeat(40) } as const;
  expect(await pulls.submitReview(path, 1, review)).toMatchObject({ state: 'approved', body: 'Fine' });
  expect(await pulls.template(path, 'main')).toBe('## Why\n');
});

it('reads the lines of the diff, without files whose names git quotes', async () => {
  const files = await pulls.diff(path, 1);
  expect(files).toEqual([
    { path: 'a.ts', oldPath: 'old.ts', hunks: [{ oldStart: 1, newStart: 1, marks: ' -+ ' }] },
    { path: 'gone.ts', oldPath: 'gone.ts', hunks: [{ oldStart: 1, newStart: 0, marks: '-' }] },
  ]);
  const found = (line: number, side: 'old' | 'new', file = 'a.ts') => findDiffLine(files, { path: file, line, side });
  expect(found(2, 'new')).toEqual({ oldPath: 'old.ts', otherLine: null });
  expect(found(3, 'old')).toEqual({ oldPath: 'old.ts', otherLine: 3 });
  expect([found(4, 'new'), found(2, 'new', 'old.ts'), found(1, 'new', 'gone.ts')]).toEqual([null, null, null]);
  expect(found(1, 'old', 'gone.ts')).toEqual({ oldPath: 'gone.ts', otherLine: null });
});

const pull = {
  'number': 1,
  'html_url': 'https://gitea.test/acme/site/pulls/1',
  'title': 'A title',
  'body': '',
  'state': 'closed',
  'merged': true,
  'user': { id: 5, login: 'robot' },
  'head': { ref: 'feature', sha: 'a'.repeat(40), repo: { 'full_name': path } },
  'base': { ref: 'main' },
};
const common = { repository: { 'full_name': path }, sender: { id: 6, login: 'ann' } };
const comment = { id: 3, user: common.sender, body: 'Why?', 'html_url': '' };

it.each([
  [
    'pull_request',
    { ...common, action: 'closed', 'pull_request': pull },
    { type: 'pull_request', pullRequest: { number: 1, state: 'merged' } },
  ],
  [
    'pull_request_rejected',
    { ...common, action: 'reviewed', 'pull_request': pull, review: { type: 'x', content: 'No' } },
    { type: 'review', number: 1, review: { state: 'changes_requested', body: 'No' } },
  ],
  [
    'issue_comment',
    { ...common, action: 'created', 'is_pull': true, issue: { number: 1 }, comment },
    { type: 'comment', number: 1, comment: { body: 'Why?' } },
  ],
  ['issue_comment', { ...common, action: 'created', 'is_pull': false, issue: { number: 2 }, comment }, null],
  [
    'status',
    { ...common, sha: 'a'.repeat(40), context: 'ci', state: 'failure' },
    { type: 'check', check: { name: 'ci', state: 'failed' } },
  ],
  [
    'push',
    { ...common, ref: 'refs/heads/x', before: 'a'.repeat(40), after: '0'.repeat(40) },
    { type: 'push', after: null },
  ],
  ['fork', common, null],
])('reads the signed webhook %s, and refuses it under another signature', (name, payload, event) => {
  const hooks = forge.webhooks ?? expect.fail('no webhooks');
  const body = Buffer.from(JSON.stringify(payload));
  const sign = (key: string) => createHmac('sha256', key).update(body).digest('hex');
  const headers = { 'x-gitea-event': name, 'x-gitea-delivery': 'f6266f16-1bf3-46a5-9ea4-602e06ead473' };
  const delivery = hooks.parse({ ...headers, 'x-gitea-signature': sign(secret) }, body);
  expect(delivery).toMatchObject({ id: headers['x-gitea-delivery'], name, repository: path, sender: { login: 'ann' } });
  if (event === null) expect(delivery.event).toBeNull();
  else expect(delivery.event).toMatchObject(event);
  const refusal = expect.objectContaining({ code: 'INVALID_SIGNATURE' });
  expect(() => hooks.parse({ ...headers, 'x-gitea-signature': sign('another') }, body)).toThrow(refusal);
  expect(() => hooks.parse({ ...headers, 'x-gitea-signature': '' }, body)).toThrow(refusal);
});
