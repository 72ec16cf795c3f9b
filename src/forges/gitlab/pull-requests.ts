import { z } from 'zod';
import { type ApiCall, type ApiClient, listOf } from '../http/api-client.ts';
import { ForgeError, isForgeError } from '../interface/errors.ts';
import type { Mergeability, NewReviewComment, PullRequest, PullRequests, Review } from '../interface/pull-requests.ts';
import { createOnce } from '../support/create-once.ts';
import { logTailBytes, tailOf } from '../support/log-tail.ts';
import { readDiff } from '../support/read-diff.ts';
import { plainText, requireCommit } from '../support/text.ts';
import { withValidator } from '../support/validator.ts';
import { extendMergeRequest } from './additions.ts';
import { withoutQuickActions } from './quick-actions.ts';
import {
  account,
  changedFile,
  commitStatus,
  discussion,
  draftPrefix,
  type MergeRequest,
  mergeRequest,
  note,
  toComment,
  toPullRequest,
} from './shapes.ts';

/** Options of {@link createGitlabPullRequests}. */
export interface GitlabPullRequestOptions {
  readonly client: ApiClient;
  readonly pathOf: (path: string) => string;
  /** The base URL of the pages. */
  readonly baseUrl: string;
}

const permission = 'api';
const maxEach = 300;
const maxComments = 500;
const maxFiles = 1_000;
const reviewerShape = z.object({ user: account, state: z.string().max(40), 'created_at': z.string().nullish() });
const approvalShape = z.object({ 'approved_by': z.object({ user: account }).array().max(200).nullish() });

/** Creates the merge requests of GitLab. */
export function createGitlabPullRequests({ client, pathOf, baseUrl }: GitlabPullRequestOptions): PullRequests {
  const { host } = client;
  const projectOf = (path: string) => `/projects/${encodeURIComponent(pathOf(path))}`;
  const one = (path: string, number: number) => `${projectOf(path)}/merge_requests/${number}`;
  const threadOf = (path: string, number: number, threadId: string) => {
    if (!/^[0-9a-f]{8,64}$/.test(threadId)) throw new ForgeError('NOT_FOUND', `${host} has no thread with this id.`);
    return `${one(path, number)}/discussions/${threadId}`;
  };
  const urlOf = (path: string, number: number) => `${baseUrl}/${pathOf(path)}/-/merge_requests/${number}`;
  const present = (path: string, data: MergeRequest) => toPullRequest(data, pathOf(path), urlOf(path, data.iid));
  const send = <T>(schema: z.ZodType<T>, call: ApiCall) => client.call(schema, { permission, ...call });

  async function find(path: string, headBranch: string, baseBranch?: string): Promise<PullRequest | null> {
    const { data } = await client.call(listOf(mergeRequest), {
      path: `${projectOf(path)}/merge_requests`,
      query: { state: 'opened', 'source_branch': headBranch, 'target_branch': baseBranch, 'per_page': 100 },
      action: 'find the merge request of the branch',
      permission: 'read_api',
    });
    const own = data
      .map((each) => present(path, each))
      .filter((each) => each.headBranch === headBranch && (baseBranch === undefined || each.baseBranch === baseBranch))
      .filter((each) => each.headRepository !== null);
    return own.sort((first, other) => first.number - other.number)[0] ?? null;
  }

  async function read(path: string, number: number): Promise<MergeRequest> {
    const call = { path: one(path, number), action: 'read the merge request', permission: 'read_api' };
    return (await client.call(mergeRequest, call)).data;
  }

  async function readChecks(path: string, data: MergeRequest) {
    // A pipeline of the merged result has a commit of its own. Other services report on the branch's.
    const commits = [...new Set([data.head_pipeline?.sha ?? data.sha, data.sha])].filter((commit) => commit !== null);
    const lists = commits.map((commit) =>
      client.list(commitStatus, {
        path: `${projectOf(path)}/repository/commits/${commit}/statuses`,
        action: 'read the checks',
        permission: 'read_api',
        size: 100,
        max: maxEach,
      }),
    );
    const found = await Promise.all(lists);
    const items = [...new Map(found.flatMap((list) => list.items).map((check) => [check.id, check])).values()];
    return { items, isTruncated: found.some((list) => list.isTruncated) };
  }

  // Approvals say who approved. The list of reviewers says who requested changes, in newer versions.
  async function readReviews(path: string, number: number): Promise<Review[]> {
    const action = 'read the reviews';
    const [approvals, reviewers] = await Promise.all([
      orNone(() =>
        client.call(approvalShape, { path: `${one(path, number)}/approvals`, action, permission: 'read_api' }),
      ),
      orNone(() =>
        client.call(reviewerShape.array().max(200), {
          path: `${one(path, number)}/reviewers`,
          action,
          permission: 'read_api',
        }),
      ),
    ]);
    const review = (author: Review['author'], state: Review['state']): Review => {
      return {
        id: `${state}:${author?.id ?? '0'}`,
        author,
        state,
        body: '',
        commit: null,
        submittedAt: null,
        url: null,
      };
    };
    return [
      ...(approvals?.approved_by ?? []).map(({ user }) => review(user, 'approved')),
      ...(reviewers ?? [])
        .filter(({ state }) => state === 'requested_changes')
        .map(({ user }) => review(user, 'changes_requested')),
    ];
  }

  async function addLineComment(
    path: string,
    number: number,
    refs: MergeRequest['diff_refs'],
    comment: NewReviewComment,
  ): Promise<void> {
    const position = {
      'position_type': 'text',
      'base_sha': refs?.base_sha,
      'start_sha': refs?.start_sha,
      'head_sha': refs?.head_sha,
      'new_path': comment.path,
      'old_path': comment.oldPath ?? comment.path,
      // A line that did not change needs both numbers.
      ...(comment.side === 'old'
        ? { 'old_line': comment.line, 'new_line': comment.otherLine ?? undefined }
        : { 'new_line': comment.line, 'old_line': comment.otherLine ?? undefined }),
    };
    const call = {
      path: `${one(path, number)}/discussions`,
      body: { body: withoutQuickActions(comment.body), position },
      action: 'comment on the line',
    };
    await client.send({ ...call, method: 'POST', permission });
  }

  const extend: PullRequests['extend'] = (path, pullRequest, additions) =>
    extendMergeRequest({ client, path: one(path, pullRequest.number), permission }, pullRequest, additions);

  return {
    find,
    extend,
    get: async (path, number) => present(path, await read(path, number)),
    create: (path, request) =>
      createOnce(request, {
        find: () => find(path, request.headBranch, request.baseBranch),
        async create() {
          const title = request.isDraft && !draftPrefix.test(request.title) ? `Draft: ${request.title}` : request.title;
          const { data } = await send(mergeRequest, {
            method: 'POST',
            path: `${projectOf(path)}/merge_requests`,
            body: {
              title,
              description: withoutQuickActions(request.body),
              'source_branch': request.headBranch,
              'target_branch': request.baseBranch,
            },
            action: 'create the merge request',
          });
          return present(path, data);
        },
        extend: (pullRequest) => extend(path, pullRequest, request),
      }),
    async update(path, number, { title, body, isDraft, isClosed }) {
      const current = title === undefined && isDraft !== undefined ? (await read(path, number)).title : title;
      const bare = current?.replace(draftPrefix, '');
      const { data } = await send(mergeRequest, {
        method: 'PUT',
        path: one(path, number),
        body: {
          title: isDraft === undefined ? title : isDraft ? `Draft: ${bare}` : bare,
          description: body === undefined ? undefined : withoutQuickActions(body),
          'state_event': isClosed === undefined ? undefined : isClosed ? 'close' : 'reopen',
        },
        action: 'update the merge request',
      });
      return present(path, data);
    },
    async read(path, number, validator) {
      const data = await read(path, number);
      const [checks, reviews] = await Promise.all([readChecks(path, data), readReviews(path, number)]);
      const status = {
        ...present(path, data),
        mergeable: mergeabilityOf(data),
        checks: checks.items,
        reviews,
        isTruncated: checks.isTruncated,
      };
      return withValidator(status, validator);
    },
    async diff(path, number) {
      const { items } = await client.list(changedFile, {
        path: `${one(path, number)}/diffs`,
        action: 'read the changed files',
        permission: 'read_api',
        size: 50,
        max: maxFiles,
      });
      return readDiff(items);
    },
    async comments(path, number, since) {
      const { items, isTruncated } = await client.list(discussion, {
        path: `${one(path, number)}/discussions`,
        action: 'read the comments',
        permission: 'read_api',
        size: 100,
        max: maxComments,
      });
      const comments = items
        .flatMap(({ id, notes }) =>
          notes.filter((each) => !each.system).map((each) => toComment(each, id, urlOf(path, number))),
        )
        .filter((each) => since === undefined || (each.updatedAt?.getTime() ?? 0) >= since.getTime());
      comments.sort((first, other) => (first.createdAt?.getTime() ?? 0) - (other.createdAt?.getTime() ?? 0));
      return { comments: comments.slice(0, maxComments), isTruncated: isTruncated || comments.length > maxComments };
    },
    async template(path, ref) {
      const file = encodeURIComponent('.gitlab/merge_request_templates/Default.md');
      const call = {
        path: `${projectOf(path)}/repository/files/${file}/raw`,
        query: { ref },
        action: 'read the template',
      };
      const text = await orNone(async () => ({ data: await client.text(call, 256 * 1024) }));
      return text === null ? null : plainText(text);
    },
    async checkLogTail(path, checkId, lines = 200) {
      const [, job] = /^job:(\d{1,20})$/.exec(checkId) ?? [];
      if (job === undefined) return null;
      const call = {
        path: `${projectOf(path)}/jobs/${job}/trace`,
        action: 'read the log of the job',
        permission: 'read_api',
      };
      return await orNone(async () => ({ data: tailOf(await client.tail(call, logTailBytes), lines) }));
    },
    async comment(path, number, body) {
      const call = {
        path: `${one(path, number)}/notes`,
        body: { body: withoutQuickActions(body) },
        action: 'comment on the merge request',
      };
      return toComment((await send(note, { ...call, method: 'POST' })).data, null, urlOf(path, number));
    },
    async commentOnIssue(path, number, body) {
      const call = { path: `${projectOf(path)}/issues/${number}/notes`, action: 'comment on the issue' };
      await send(note, { ...call, method: 'POST', body: { body: withoutQuickActions(body) } });
    },
    async reply(path, number, threadId, body) {
      const call = {
        path: `${threadOf(path, number, threadId)}/notes`,
        body: { body: withoutQuickActions(body) },
        action: 'reply to the comment',
      };
      return toComment((await send(note, { ...call, method: 'POST' })).data, threadId, urlOf(path, number));
    },
    async resolveThread(path, number, threadId) {
      const call = { path: threadOf(path, number, threadId), body: { resolved: true }, action: 'resolve the thread' };
      await send(discussion, { ...call, method: 'PUT' });
    },
    async submitReview(path, number, { body, state, commit, comments = [] }) {
      const sha = requireCommit(commit);
      const { 'diff_refs': refs } = await read(path, number);
      for (const each of comments) await addLineComment(path, number, refs, each);
      const call = {
        path: `${one(path, number)}/notes`,
        body: { body: withoutQuickActions(body) },
        action: 'submit the review',
      };
      const { data } = await send(note, { ...call, method: 'POST' });
      const approve = {
        path: `${one(path, number)}/approve`,
        body: { sha },
        action: 'approve the merge request',
        permission,
      };
      if (state === 'approved') await client.send({ ...approve, method: 'POST' });
      const url = `${urlOf(path, number)}#note_${data.id}`;
      // The REST API cannot request changes; the note says what to change.
      const shown = state === 'approved' ? 'approved' : 'commented';
      return {
        id: data.id,
        author: data.author,
        state: shown,
        body: data.body,
        commit: sha,
        submittedAt: data.created_at,
        url,
      };
    },
  };
}

/** The data of a response; null if the resource does not exist, or not in this version or edition. */
async function orNone<T>(call: () => Promise<{ readonly data: T }>): Promise<T | null> {
  try {
    return (await call()).data;
  } catch (error) {
    if (isForgeError(error, 'NOT_FOUND')) return null;
    throw error;
  }
}

function mergeabilityOf(each: MergeRequest): Mergeability {
  const status = each.detailed_merge_status ?? 'unchecked';
  if (each.has_conflicts || status === 'conflict' || status === 'broken_status') return 'conflicting';
  if (status === 'mergeable') return 'mergeable';
  return ['unchecked', 'checking', 'preparing', 'approvals_syncing'].includes(status) ? 'unknown' : 'blocked';
}
