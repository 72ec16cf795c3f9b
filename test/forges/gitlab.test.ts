import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createForges, type Forges } from '../../src/forges/forges.ts';
import type { Forge } from '../../src/forges/interface/forge.ts';
import type { PullRequests } from '../../src/forges/interface/pull-requests.ts';
import { findDiffLine } from '../../src/forges/support/read-diff.ts';
import { gitlabToken, startGitlab } from '../support/forges/gitlab.ts';

const path = 'group/sub/site';
let gitlab: Awaited<ReturnType<typeof startGitlab>>;
let forges: Forges;
let forge: Forge;
let pulls: PullRequests;
const open = (token = gitlabToken, webhookSecret: string | null = null) =>
  forges.open({ kind: 'gitlab_token', host: gitlab.url, token, webhookSecret });

beforeAll(async () => {
  gitlab = await startGitlab();
  forges = createForges({ allowHttp: true });
  forge = open();
  pulls = forge.pullRequests ?? expect.fail('no pull requests');
});
afterAll(async () => {
  await forges.close();
  await gitlab.close();
});
beforeEach(() => gitlab.intercept(() => null));

const request = (headBranch: string) => ({ title: 'A title', body: 'A body', headBranch, baseBranch: 'main' });

it('lists projects, and reads one in a subgroup', async () => {
  const { repositories, next } = await forge.listRepositories({ search: 'site' });
  expect(next).toBeNull();
  expect(repositories).toMatchObject([{ path, canPush: true, cloneUrl: `${gitlab.url}/${path}.git` }]);
  expect(await forge.getRepository(path)).toMatchObject({ defaultBranch: 'main', isPrivate: true });
  await expect(forge.getRepository('group/missing')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  expect(await forge.credentialFor(path, 'write')).toMatchObject({ username: 'oauth2', password: gitlabToken });
});

it('reads the rights of an account with those of its groups', async () => {
  expect(await forge.accessOf(path, 'ann')).toBe('write');
  expect(await forge.accessOf(path, 'bob')).toBe('none');
  expect(await forge.accessOf(path, 'nobody')).toBe('none');
  const waiting = { id: 6, username: 'ann', state: 'awaiting', 'access_level': 50 };
  gitlab.intercept(({ url }) => (/members\/all\/6$/.test(url.pathname) ? { body: waiting } : null));
  expect(await open(gitlabToken, 'another').accessOf(path, 'ann')).toBe('none');
});

it('reports the scopes that the token has and lacks', async () => {
  const { identity, abilities, expiresAt } = await forge.testConnection();
  expect(identity).toMatchObject({ login: 'project_31_bot_x', isBot: true });
  expect(expiresAt).toEqual(new Date('2027-01-01'));
  const granted = Object.fromEntries(abilities.map(({ ability, isGranted }) => [ability, isGranted]));
  expect(granted).toEqual({
    'read_code': true,
    push: true,
    'pull_requests': false,
    comments: false,
    checks: true,
    'check_logs': true,
  });
  await expect(open('glpat-other').testConnection()).rejects.toMatchObject({ code: 'CREDENTIAL_REFUSED' });
});

it('names the scope that a call lacks', async () => {
  const body = {
    error: 'insufficient_scope',
    'error_description': 'The request requires higher privileges.',
    scope: 'api',
  };
  gitlab.intercept(({ method }) => (method === 'POST' ? { status: 403, body } : null));
  await expect(pulls.create(path, request('feature-x'))).rejects.toMatchObject({
    code: 'MISSING_PERMISSION',
    permission: 'api',
  });
});

it('creates a merge request once, as a draft with labels and reviewers', async () => {
  const input = { ...request('feature'), isDraft: true, labels: ['agent'], reviewers: ['ann', 'nobody'] };
  const created = await pulls.create(path, input);
  expect(created).toMatchObject({
    isNew: true,
    pullRequest: { title: 'Draft: A title', state: 'draft', headRepository: path },
  });
  const { host } = new URL(gitlab.url);
  expect(created.warnings).toEqual([`The reviewer "nobody" was not added: ${host} has no such user.`]);
  expect(gitlab.merges[0]).toMatchObject({ labels: ['agent'], reviewers: [6] });
  expect(await pulls.create(path, input)).toMatchObject({ isNew: false, pullRequest: { number: 1 } });
  expect(await pulls.update(path, 1, { isDraft: false })).toMatchObject({ title: 'A title', state: 'open' });
});

it('adds labels and reviewers to those that are there, and names what GitLab leaves out', async () => {
  const pullRequest = await pulls.get(path, 1);
  const warnings = await pulls.extend(path, pullRequest, {
    labels: ['Agent', 'a,b', 'urgent'],
    reviewers: ['ANN', 'bob'],
  });
  expect(warnings).toEqual([
    'The label "a,b" was not added: A label must not contain a comma, which separates labels in GitLab.',
    'The reviewer "bob" was not added: the forge left it out and gave no reason.',
  ]);
  expect(gitlab.merges[0]).toMatchObject({ labels: ['agent', 'urgent'], reviewers: [6] });
  expect(JSON.parse(gitlab.requests.at(-1)?.body ?? '')).toEqual({ 'reviewer_ids': [6, 8] });
});

it('finds the merge request that another process created in the meantime', async () => {
  let looks = 0;
  gitlab.intercept(({ method, url }) =>
    method === 'GET' && url.pathname.endsWith('/merge_requests') && ++looks <= 2 ? { body: [] } : null,
  );
  const both = await Promise.all([pulls.create(path, request('race')), pulls.create(path, request('race'))]);
  expect(new Set(both.map(({ pullRequest }) => pullRequest.number)).size).toBe(1);
  expect(both.map(({ isNew }) => isNew).sort()).toEqual([false, true]);
});

it('reads checks, reviews and mergeability', async () => {
  const { pullRequest } = await pulls.create(path, request('status'));
  const status = await pulls.read(path, pullRequest.number);
  expect(status).toMatchObject({
    mergeable: 'blocked',
    checks: [
      { id: 'job:900', name: 'unit', state: 'failed', hasLog: true },
      { id: 'status:901', name: 'external', state: 'passed', hasLog: false },
    ],
    reviews: [
      { state: 'approved', author: { login: 'ann' } },
      { state: 'changes_requested', author: { login: 'bob' } },
    ],
  });
  expect(await pulls.read(path, pullRequest.number, status?.validator)).toBeNull();
  expect(await pulls.checkLogTail(path, 'job:900', 2)).toEqual({ text: 'two\nthree', isTruncated: true });
  expect(await pulls.checkLogTail(path, 'status:901')).toBeNull();
});

it('executes no quick action in the texts of others', async () => {
  const text =
    'Done:\n/merge\n \t/Approve \n/close #3\n/usr/bin/env is a path, and a/merge no action.\n> /merge\n/target_branch x';
  const escaped =
    'Done:\n\\/merge\n \t\\/Approve \n\\/close #3\n/usr/bin/env is a path, and a/merge no action.\n> /merge\n\\/target_branch x';
  const sent: string[] = [];
  gitlab.intercept(({ method, body }) => {
    if (method === 'GET' || !body) return null;
    const { description, body: comment } = JSON.parse(body) as { description?: string; body?: string };
    sent.push(description ?? comment ?? '');
    return null;
  });
  const { pullRequest } = await pulls.create(path, { ...request('actions'), body: text });
  await pulls.update(path, pullRequest.number, { body: text });
  await pulls.comment(path, pullRequest.number, text);
  await pulls.commentOnIssue(path, 3, text);
  await pulls.reply(path, pullRequest.number, 'd'.repeat(40), text);
  const comments = [{ path: 'a.ts', line: 3, side: 'new' as const, body: text }];
  await pulls.submitReview(path, pullRequest.number, {
    ...{ body: text, state: 'commented', commit: 'a'.repeat(40), comments },
  });
  expect(sent).toEqual(Array(7).fill(escaped));
});

it('reads comments without those of the system, replies, and reviews', async () => {
  const { pullRequest } = await pulls.create(path, request('comments'));
  const { comments } = await pulls.comments(path, pullRequest.number);
  expect(comments).toMatchObject([
    { body: 'Why?', threadId: 'd'.repeat(40), location: { path: 'a.ts', line: 3, side: 'new' } },
  ]);
  const reply = await pulls.reply(path, pullRequest.number, 'd'.repeat(40), 'Because.');
  expect(reply).toMatchObject({ body: 'Because.', threadId: 'd'.repeat(40) });
  await expect(pulls.reply(path, pullRequest.number, '../../x', 'x')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await pulls.resolveThread(path, pullRequest.number, 'd'.repeat(40));
  await expect(pulls.resolveThread(path, pullRequest.number, '../x')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  const comment = { path: 'a.ts', line: 3, side: 'new', body: 'Here' } as const;
  const review = { body: 'Fine', state: 'approved', commit: 'a'.repeat(40), comments: [comment] } as const;
  expect(await pulls.submitReview(path, pullRequest.number, review)).toMatchObject({ state: 'approved', body: 'Fine' });
  const last = gitlab.requests.at(-1);
  expect([last?.method, last?.url.pathname.endsWith('/approve')]).toEqual(['POST', true]);
});

it('reads the lines of the diff, and comments on a line that did not change in a renamed file', async () => {
  const { pullRequest } = await pulls.create(path, request('lines'));
  const files = await pulls.diff(path, pullRequest.number);
  expect(files).toEqual([{ path: 'a.ts', oldPath: 'old.ts', hunks: [{ oldStart: 1, newStart: 1, marks: ' + ' }] }]);
  const line = { path: 'a.ts', line: 3, side: 'new' } as const;
  expect(findDiffLine(files, line)).toEqual({ oldPath: 'old.ts', otherLine: 2 });
  const comments = [{ ...line, ...findDiffLine(files, line), body: 'Here' }];
  const positions: unknown[] = [];
  gitlab.intercept(({ method, url, body }) => {
    if (method === 'POST' && url.pathname.endsWith('/discussions')) positions.push(JSON.parse(body).position);
    return null;
  });
  await pulls.submitReview(path, pullRequest.number, {
    ...{ body: 'Fine', state: 'commented', commit: 'a'.repeat(40), comments },
  });
  expect(positions).toMatchObject([{ 'new_path': 'a.ts', 'old_path': 'old.ts', 'new_line': 3, 'old_line': 2 }]);
});

const project = { 'path_with_namespace': path };
const user = { id: 6, username: 'ann' };
const merge = {
  'object_kind': 'merge_request',
  user,
  project,
  'object_attributes': {
    iid: 4,
    url: `https://gitlab.test/${path}/-/merge_requests/4`,
    title: 'A title',
    state: 'merged',
    action: 'merge',
    'source_branch': 'feature',
    'target_branch': 'main',
    'last_commit': { id: 'a'.repeat(40) },
  },
};

it('accepts webhooks with a secret token or a signing token, and no other', () => {
  const body = Buffer.from(JSON.stringify(merge));
  const secret = 'a secret token';
  const hooks = open(gitlabToken, secret).webhooks ?? expect.fail('no webhooks');
  const headers = { 'x-gitlab-token': secret, 'x-gitlab-event-uuid': '13792a34-cac6-4fda-95a8-c58e00a3954e' };
  expect(hooks.parse(headers, body)).toMatchObject({
    id: headers['x-gitlab-event-uuid'],
    name: 'merge_request',
    action: 'merge',
    repository: path,
    sender: { login: 'ann' },
    event: { type: 'pull_request', pullRequest: { number: 4, state: 'merged', headBranch: 'feature' } },
  });
  const refusal = expect.objectContaining({ code: 'INVALID_SIGNATURE' });
  expect(() => hooks.parse({ 'x-gitlab-token': 'another' }, body)).toThrow(refusal);
  expect(() => hooks.parse({}, body)).toThrow(refusal);
  const key = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const signing = open(gitlabToken, key).webhooks ?? expect.fail('no webhooks');
  const now = new Date();
  const signed = {
    'webhook-id': 'delivery-1',
    'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
    'webhook-signature': new Webhook(key).sign('delivery-1', now, body.toString()),
  };
  expect(signing.parse(signed, body).id).toBe('delivery-1');
  expect(() => signing.parse({ ...signed, 'webhook-id': 'delivery-2' }, body)).toThrow(refusal);
  expect(() => signing.parse({ 'x-gitlab-token': key }, body)).toThrow(refusal);
  expect(() => signing.parse(signed, Buffer.concat([body, Buffer.from(' ')]))).toThrow(refusal);
});

it.each([
  [
    {
      'object_kind': 'note',
      user,
      project,
      'merge_request': { iid: 4 },
      'object_attributes': { id: 1, note: 'Why?', system: false },
    },
    { type: 'comment', number: 4, comment: { body: 'Why?', author: { login: 'ann' } } },
  ],
  [{ 'object_kind': 'note', user, project, 'object_attributes': { id: 1, note: 'on an issue' } }, null],
  [
    {
      'object_kind': 'build',
      user,
      project,
      'build_id': 9,
      'build_name': 'unit',
      'build_status': 'failed',
      sha: 'a'.repeat(40),
      ref: 'feature',
    },
    { type: 'check', branch: 'feature', check: { id: 'job:9', name: 'unit', state: 'failed', hasLog: true } },
  ],
  [
    {
      'object_kind': 'pipeline',
      user,
      project,
      'merge_request': { iid: 4 },
      'object_attributes': { id: 3, status: 'success', sha: 'a'.repeat(40) },
    },
    { type: 'check', pullRequests: [4], check: { id: 'pipeline:3', state: 'passed' } },
  ],
  [
    {
      'object_kind': 'push',
      'user_id': 6,
      'user_username': 'ann',
      project,
      ref: 'refs/heads/x',
      before: '0'.repeat(40),
      after: 'a'.repeat(40),
    },
    { type: 'push', ref: 'refs/heads/x', before: null, after: 'a'.repeat(40) },
  ],
  [
    { ...merge, 'object_attributes': { ...merge.object_attributes, action: 'approved', state: 'opened' } },
    { type: 'review', number: 4, review: { state: 'approved' } },
  ],
  [{ 'object_kind': 'wiki_page', user, project }, null],
])('reads the webhook %j', (payload, event) => {
  const hooks = open(gitlabToken, 'secret').webhooks ?? expect.fail('no webhooks');
  const delivery = hooks.parse({ 'x-gitlab-token': 'secret' }, Buffer.from(JSON.stringify(payload)));
  if (event === null) expect(delivery.event).toBeNull();
  else expect(delivery.event).toMatchObject(event);
});

it('does not accept the signature of GitHub', () => {
  const hooks = open(gitlabToken, 'secret').webhooks ?? expect.fail('no webhooks');
  const signature = createHmac('sha256', 'secret').update('{}').digest('hex');
  expect(() => hooks.parse({ 'x-hub-signature-256': `sha256=${signature}` }, Buffer.from('{}'))).toThrow(/signature/);
});
