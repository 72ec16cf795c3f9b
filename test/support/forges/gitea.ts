import { giteaContract } from './contracts/gitea.ts';
import { type ForgeAnswer, type ForgeRequest, type ForgeServer, startForgeServer } from './forge-server.ts';

/** The token that the test Gitea accepts. It lacks the scope `write:issue`. */
export const giteaToken = 'c4n4ry0f617ea0000000000000000000000000000';

interface Pull {
  path: string;
  number: number;
  title: string;
  body: string;
  state: 'open' | 'closed';
  head: string;
  base: string;
  isMerged: boolean;
  labels?: string[];
  reviewers?: string[];
}

const commit = 'a'.repeat(40);
const repoOf = (path: string) => ({
  'id': 3,
  'full_name': path,
  'name': 'site',
  'description': 'The site',
  'language': '',
  'default_branch': 'main',
  'private': true,
  'archived': false,
  'html_url': 'https://gitea.test/acme/site',
  'updated_at': '2026-11-01T10:00:00Z',
  'permissions': { admin: false, push: true, pull: true },
});
const robot = { id: 5, login: 'robot', 'full_name': 'Robot', email: 'robot@example.com' };
const person = { id: 6, login: 'ann', 'full_name': 'Ann', email: 'ann@example.com' };
const labels = { repository: [{ id: 11, name: 'agent' }], organization: [{ id: 12, name: 'Urgent' }] };
const at = '2026-11-02T10:00:00Z';
// A line of the content looks like a header of the diff.
const diffText = [
  ...['diff --git a/old.ts b/a.ts', 'similarity index 60%', 'rename from old.ts', 'rename to a.ts'],
  ...['--- a/old.ts', '+++ b/a.ts', '@@ -1,3 +1,3 @@', ' one', '-two', '+++ b/two', ' three'],
  ...['\\ No newline at end of file', 'diff --git "a/\\303\\244.ts" "b/\\303\\244.ts"'],
  ...['--- "a/\\303\\244.ts"', '+++ "b/\\303\\244.ts"', '@@ -1 +1 @@', '-x', '+y'],
  ...[
    'diff --git a/gone.ts b/gone.ts',
    'deleted file mode 100644',
    '--- a/gone.ts',
    '+++ /dev/null',
    '@@ -1 +0,0 @@',
    '-x',
    '',
  ],
].join('\n');

/** A Gitea, after the description of its REST API, version 1. */
export async function startGitea(
  paths: readonly string[] = ['acme/site'],
): Promise<ForgeServer & { readonly pulls: Pull[] }> {
  const pulls: Pull[] = [];
  const present = (each: Pull) => ({
    'number': each.number,
    'html_url': `https://gitea.test/${each.path}/pulls/${each.number}`,
    'title': each.title,
    'body': each.body,
    'state': each.state,
    'user': robot,
    'head': { ref: each.head, sha: commit, repo: repoOf(each.path) },
    'base': { ref: each.base, sha: 'b'.repeat(40), repo: repoOf(each.path) },
    'labels': (each.labels ?? []).map((name) => ({ id: 1, name })),
    'requested_reviewers': (each.reviewers ?? []).map((login) => ({ id: 6, login })),
    'created_at': at,
    'updated_at': at,
    'closed_at': null,
    'merged': each.isMerged,
    'merged_at': each.isMerged ? at : null,
    'merge_commit_sha': each.isMerged ? commit : null,
    'mergeable': true,
  });
  const comment = {
    'user': person,
    'created_at': at,
    'updated_at': at,
    'html_url': 'https://gitea.test/acme/site/pulls/1#issuecomment-1',
  };

  function answer({ method, url, headers, body }: ForgeRequest): ForgeAnswer {
    if (headers.authorization !== `token ${giteaToken}`)
      return { status: 401, body: { message: 'user does not exist' } };
    const route = url.pathname.replace('/api/v1', '');
    const input = body ? (JSON.parse(body) as Record<string, string>) : {};
    if (/\/issues\/\d+\/comments$/.test(route) && method === 'POST') {
      return { status: 403, body: { message: 'token does not have at least one of required scope(s): [write:issue]' } };
    }
    if (route === '/user') return { body: robot };
    if (route === '/user/repos') return { headers: { link: '' }, body: paths.map(repoOf) };
    if (route === '/orgs/acme/labels') {
      return { body: url.searchParams.get('page') === '1' ? labels.organization : [] };
    }
    const path = /^\/repos\/([^/]+\/[^/]+)/.exec(route)?.[1] ?? '';
    if (!paths.includes(path)) return { status: 404, body: { message: 'The target couldn’t be found.' } };
    const rest = route.slice(`/repos/${path}`.length);
    const [page, limit] = [Number(url.searchParams.get('page') ?? 1), Number(url.searchParams.get('limit') ?? 30)];
    if (rest === '') return { body: repoOf(path) };
    if (/^\/collaborators\/[^/]+\/permission$/.test(rest)) {
      return { status: 403, body: { message: 'Only admins can query all permissions' } };
    }
    if (rest === '/assignees') return { body: [person] };
    if (rest === '/labels') return { body: page > 1 ? [] : labels.repository };
    if (rest === '/pulls' && method === 'GET') {
      const open = pulls.filter((each) => each.path === path && each.state === 'open').reverse();
      return { body: open.slice((page - 1) * limit, page * limit).map(present) };
    }
    if (rest === '/pulls') {
      const { title = '', body: text = '', head = '', base = '' } = input;
      const other = pulls.find(
        (each) => each.path === path && each.state === 'open' && each.head === head && each.base === base,
      );
      const message = `pull request already exists for these targets [id: 1, issue_id: 1, head_repo_id: 3, base_repo_id: 3, head_branch: ${head}, base_branch: ${base}]`;
      if (other) return { status: 409, body: { message } };
      const number = pulls.length + 1;
      const created: Pull = { path, number, title, body: text, state: 'open', head, base, isMerged: false };
      pulls.push(created);
      return { status: 201, body: present(created) };
    }
    if (rest === `/commits/${commit}/status`) {
      const status = {
        context: 'test / unit (push)',
        description: 'Failing',
        'target_url': '/acme/site/actions/runs/1/jobs/0',
      };
      return {
        body: {
          state: 'failure',
          statuses: page > 1 ? [] : [{ ...status, id: 1, status: 'failure', 'updated_at': at }],
        },
      };
    }
    if (rest === '/raw/.github/PULL_REQUEST_TEMPLATE.md')
      return { headers: { 'content-type': 'text/plain' }, body: '## Why\n' };
    const [, number, part] = /^\/(?:pulls|issues)\/(\d+)(.*)$/.exec(rest) ?? [];
    const found = pulls.find((each) => each.path === path && each.number === Number(number));
    if (!found) return { status: 404, body: { message: 'The target couldn’t be found.' } };
    if (part === '' && method === 'PATCH') {
      found.title = input.title ?? found.title;
      if (input.state === 'closed') found.state = 'closed';
      return { status: 201, body: present(found) };
    }
    if (part === '') return { body: present(found) };
    if (part === '.diff') return { headers: { 'content-type': 'text/plain' }, body: diffText };
    if (part === '/labels') {
      const { labels: ids } = JSON.parse(body) as { labels: number[] };
      const all = [...labels.repository, ...labels.organization];
      found.labels = [...(found.labels ?? []), ...all.filter(({ id }) => ids.includes(id)).map(({ name }) => name)];
      return { body: [] };
    }
    if (part === '/requested_reviewers') {
      const { reviewers, 'team_reviewers': teams } = JSON.parse(body) as Record<string, string[]>;
      const unknown = reviewers?.find((login) => login !== 'ann') ?? teams?.find((name) => name !== 'design');
      if (unknown !== undefined) return { status: 404, body: { message: `user does not exist [name: ${unknown}]` } };
      found.reviewers = [...(found.reviewers ?? []), ...(reviewers ?? [])];
      return { status: 201, body: [] };
    }
    if (part === '/comments') return { body: [{ ...comment, id: 21, body: 'In the conversation' }] };
    if (part === '/reviews' && method === 'GET') {
      const review = {
        user: person,
        body: '',
        'commit_id': commit,
        'submitted_at': at,
        dismissed: false,
        'html_url': '',
      };
      const requested = { ...review, id: 30, state: 'REQUEST_REVIEW', 'comments_count': 0 };
      return {
        body: page > 1 ? [] : [requested, { ...review, id: 31, state: 'REQUEST_CHANGES', 'comments_count': 1 }],
      };
    }
    if (part === '/reviews') {
      const event = { APPROVED: 'APPROVED', 'REQUEST_CHANGES': 'REQUEST_CHANGES' }[String(input.event)] ?? 'COMMENT';
      return { body: { id: 32, user: robot, state: event, body: input.body, 'commit_id': commit, 'submitted_at': at } };
    }
    if (part === '/reviews/31/comments') {
      const location = {
        path: 'a.ts',
        position: 3,
        'original_position': 0,
        'commit_id': commit,
        'diff_hunk': '@@ -1 +1 @@',
      };
      return { body: [{ ...comment, ...location, id: 41, body: 'Why?', 'pull_request_review_id': 31 }] };
    }
    return { status: 404, body: { message: 'The target couldn’t be found.' } };
  }
  return { ...(await startForgeServer(answer, undefined, giteaContract)), pulls };
}
