import { gitlabContract } from './contracts/gitlab.ts';
import { type ForgeAnswer, type ForgeRequest, type ForgeServer, startForgeServer } from './forge-server.ts';

/** The token that the test GitLab accepts. */
export const gitlabToken = 'glpat-c4n4ryOfGitlab';

interface Merge {
  iid: number;
  title: string;
  description: string;
  state: string;
  source: string;
  target: string;
  labels: string[];
  reviewers: number[];
}

const commit = 'a'.repeat(40);
const path = 'group/sub/site';
const project = {
  'id': 31,
  'path_with_namespace': path,
  'name': 'site',
  'description': 'The site',
  'default_branch': 'main',
  'visibility': 'private',
  'archived': false,
  'web_url': `https://gitlab.test/${path}`,
  'last_activity_at': '2026-11-01T10:00:00.000Z',
  'permissions': { 'project_access': { 'access_level': 40 }, 'group_access': null },
};
const robot = { id: 5, username: 'project_31_bot_x', name: 'Robot' };
const person = { id: 6, username: 'ann', name: 'Ann' };
const people = [person, { ...person, id: 8, username: 'bob' }];

/** GitLab without a licence keeps the first reviewer, and does not say so. */
const maxReviewers = 1;

/** A GitLab with one project, after the description of its REST API, version 4. */
export async function startGitlab(): Promise<ForgeServer & { readonly merges: Merge[] }> {
  const merges: Merge[] = [];
  const notes: { id: number; body: string; discussion: string }[] = [
    { id: 1, body: 'Why?', discussion: 'd'.repeat(40) },
  ];
  const present = (each: Merge) => ({
    'iid': each.iid,
    'web_url': `https://gitlab.test/${path}/-/merge_requests/${each.iid}`,
    'title': each.title,
    'description': each.description,
    'state': each.state,
    'draft': each.title.startsWith('Draft:'),
    'author': robot,
    'source_branch': each.source,
    'target_branch': each.target,
    'source_project_id': 31,
    'target_project_id': 31,
    'sha': commit,
    'labels': each.labels,
    'reviewers': people.filter(({ id }) => each.reviewers.includes(id)),
    'created_at': '2026-11-02T10:00:00.000Z',
    'updated_at': '2026-11-02T10:00:00.000Z',
    'merged_at': null,
    'closed_at': null,
    'merge_commit_sha': null,
    'detailed_merge_status': 'ci_must_pass',
    'has_conflicts': false,
    'head_pipeline': { sha: commit },
    'diff_refs': { 'base_sha': 'b'.repeat(40), 'start_sha': 'b'.repeat(40), 'head_sha': commit },
  });
  const note = (id: number, body: string, change: object = {}) => {
    const at = `2026-11-02T10:0${id % 10}:00.000Z`;
    return { id, author: person, body, system: false, 'created_at': at, 'updated_at': at, ...change };
  };
  const position = { 'new_path': 'a.ts', 'old_path': 'a.ts', 'new_line': 3, 'old_line': null, 'head_sha': commit };

  function answer({ method, url, headers, body }: ForgeRequest): ForgeAnswer {
    if (headers.authorization !== `Bearer ${gitlabToken}`)
      return { status: 401, body: { message: '401 Unauthorized' } };
    const route = url.pathname.replace('/api/v4', '');
    const input = body ? (JSON.parse(body) as Record<string, string>) : {};
    if (route === '/user') return { body: { ...robot, bot: true, 'commit_email': null } };
    if (route === '/users')
      return { body: people.filter(({ username }) => username === url.searchParams.get('username')) };
    if (route === '/personal_access_tokens/self') {
      return { body: { scopes: ['read_api', 'write_repository'], 'expires_at': '2027-01-01', active: true } };
    }
    if (route === '/projects') return { headers: { 'x-next-page': '' }, body: [project] };
    const base = `/projects/${encodeURIComponent(path)}`;
    if (!route.startsWith(base)) return { status: 404, body: { message: '404 Project Not Found' } };
    const rest = route.slice(base.length);
    if (rest === '') return { body: project };
    if (rest === '/members/all/6') return { body: { ...person, state: 'active', 'access_level': 30 } };
    if (rest === '/merge_requests' && method === 'GET') {
      const [source, target] = [url.searchParams.get('source_branch'), url.searchParams.get('target_branch')];
      const found = merges.filter((each) => each.state === 'opened' && each.source === source);
      return { body: found.filter((each) => target === null || each.target === target).map(present) };
    }
    if (rest === '/merge_requests') {
      const { title = '', description = '', 'source_branch': source = '', 'target_branch': target = '' } = input;
      const other = merges.find((each) => each.state === 'opened' && each.source === source && each.target === target);
      const message = [`Another open merge request already exists for this source branch: !${other?.iid}`];
      if (other) return { status: 409, body: { message } };
      const created = {
        iid: merges.length + 1,
        title,
        description,
        state: 'opened',
        source,
        target,
        labels: [],
        reviewers: [],
      };
      merges.push(created);
      return { status: 201, body: present(created) };
    }
    if (rest.startsWith('/repository/commits/')) {
      const status = { status: 'failed', description: null, 'finished_at': null, 'allow_failure': false };
      const job = { ...status, id: 900, name: 'unit', 'target_url': `https://gitlab.test/${path}/-/jobs/900` };
      return {
        body: [job, { ...status, id: 901, name: 'external', status: 'success', 'target_url': 'https://ci.test/1' }],
      };
    }
    if (rest === '/jobs/900/trace')
      return { headers: { 'content-type': 'text/plain' }, body: 'one\ntwo\n\u001b[0;31mthree\u001b[0m\n' };
    if (/^\/issues\/\d+\/notes$/.test(rest)) return { status: 201, body: note(8, input.body ?? '') };
    const [, number, part] = /^\/merge_requests\/(\d+)(.*)$/.exec(rest) ?? [];
    const found = merges.find((each) => each.iid === Number(number));
    if (!found) return { status: 404, body: { message: '404 Not found' } };
    if (part === '' && method === 'PUT') {
      if (input.title !== undefined) found.title = input.title;
      if (input.state_event === 'close') found.state = 'closed';
      if (input.add_labels !== undefined) found.labels.push(...input.add_labels.split(','));
      if (input.reviewer_ids !== undefined)
        found.reviewers = (input.reviewer_ids as unknown as number[]).slice(0, maxReviewers);
      return { body: present(found) };
    }
    if (part === '') return { body: present(found) };
    if (part === '/approvals') return { body: { 'approved_by': [{ user: person }] } };
    if (part === '/reviewers')
      return { body: [{ user: { ...person, id: 8, username: 'bob' }, state: 'requested_changes' }] };
    if (part === '/approve') return { status: 201, body: {} };
    if (part === '/diffs') {
      const hunk = '@@ -1,2 +1,3 @@\n one\n+two\n three\n';
      return { body: [{ 'new_path': 'a.ts', 'old_path': 'old.ts', diff: hunk, 'renamed_file': true }] };
    }
    if (part === '/discussions' && method === 'GET') {
      const system = {
        id: 'e'.repeat(40),
        'individual_note': true,
        notes: [note(9, 'changed the title', { system: true })],
      };
      const threads = notes.map((each) => ({ id: each.discussion, notes: [note(each.id, each.body, { position })] }));
      return { body: [system, ...threads] };
    }
    if (part === '/discussions') {
      const thread = { id: 'f'.repeat(40), 'individual_note': false };
      return { status: 201, body: { ...thread, notes: [note(7, input.body ?? '')] } };
    }
    if (/^\/discussions\/[0-9a-f]+$/.test(part ?? '') && method === 'PUT') {
      return { body: { id: String(part).slice(13), 'individual_note': false, notes: [note(7, 'Why?')] } };
    }
    if (part === '/notes' || part?.endsWith('/notes')) {
      return { status: 201, body: note(7, input.body ?? '') };
    }
    return { status: 404, body: { message: '404 Not found' } };
  }
  return { ...(await startForgeServer(answer, undefined, gitlabContract)), merges };
}
