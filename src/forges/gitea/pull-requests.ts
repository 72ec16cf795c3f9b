import { z } from 'zod';
import { issueComment, pullRequestShape, toPullRequest } from '../github/shapes.ts';
import { type ApiCall, type ApiClient, listOf, validItems } from '../http/api-client.ts';
import { ForgeError, isForgeError } from '../interface/errors.ts';
import type {
  Mergeability,
  NewReview,
  PullRequest,
  PullRequestComment,
  PullRequests,
} from '../interface/pull-requests.ts';
import { createOnce } from '../support/create-once.ts';
import { readDiff, splitDiff } from '../support/read-diff.ts';
import { plainText, requireCommit } from '../support/text.ts';
import { withValidator } from '../support/validator.ts';
import { extendPullRequest } from './additions.ts';
import { commitStatus, lineComment, review } from './shapes.ts';

/** Options of {@link createGiteaPullRequests}. */
export interface GiteaPullRequestOptions {
  readonly client: ApiClient;
  readonly pathOf: (path: string) => string;
  /** The base URL of the pages. */
  readonly baseUrl: string;
}

const permission = 'write:repository';
const read = 'read:repository';
const maxOpen = 1_000;
const maxEach = 300;
const maxComments = 500;
const maxDiffBytes = 16 * 1024 * 1024;
/** Reviews whose comments are read: one request for each. */
const maxReviewsWithComments = 30;
const page = { size: 50, sizeName: 'limit' };
const draftPrefix = /^\s*(?:wip:|\[wip\]|draft:)\s*/i;
const templates = ['.gitea', '.forgejo', '.github', ''].flatMap((folder) =>
  ['PULL_REQUEST_TEMPLATE.md', 'pull_request_template.md'].map((name) => (folder === '' ? name : `${folder}/${name}`)),
);

/** Creates the pull requests of Gitea. */
export function createGiteaPullRequests({ client, pathOf, baseUrl }: GiteaPullRequestOptions): PullRequests {
  const { host } = client;
  const repo = (path: string) => `/repos/${pathOf(path)}`;
  const one = (path: string, number: number) => `${repo(path)}/pulls/${number}`;
  const send = <T>(schema: z.ZodType<T>, call: ApiCall) => client.call(schema, { permission, ...call });
  const present = (path: string, data: z.output<typeof pullRequestShape>): PullRequest => {
    // Versions before 1.22 do not send "draft".
    const draft = data.draft ?? draftPrefix.test(data.title);
    return toPullRequest({ ...data, draft }, `${baseUrl}/${pathOf(path)}/pulls/${data.number}`);
  };

  // The API has no filter by the branch of the head.
  async function find(path: string, headBranch: string, baseBranch?: string): Promise<PullRequest | null> {
    const query = { state: 'open', sort: 'recentupdate' };
    const action = 'find the pull request of the branch';
    const { items } = await client.list(pullRequestShape, {
      ...page,
      path: `${repo(path)}/pulls`,
      query,
      action,
      permission: read,
      max: maxOpen,
    });
    const own = items
      .filter(({ head, base }) => head.ref === headBranch && (baseBranch === undefined || base.ref === baseBranch))
      .filter(({ head }) => head.repo?.full_name.toLowerCase() === pathOf(path).toLowerCase());
    own.sort((first, other) => first.number - other.number);
    return own[0] ? present(path, own[0]) : null;
  }

  async function readReviews(path: string, number: number) {
    return await client.list(review, {
      ...page,
      path: `${one(path, number)}/reviews`,
      action: 'read the reviews',
      permission: read,
      max: maxEach,
    });
  }

  async function submit(path: string, number: number, { body, state, commit, comments = [] }: NewReview) {
    const event = { approved: 'APPROVED', 'changes_requested': 'REQUEST_CHANGES', commented: 'COMMENT' }[state];
    const lines = comments.map((each) => ({
      path: each.path,
      body: each.body,
      ...(each.side === 'old' ? { 'old_position': each.line } : { 'new_position': each.line }),
    }));
    const { data } = await send(review, {
      method: 'POST',
      path: `${one(path, number)}/reviews`,
      body: { body, event, 'commit_id': commit === '' ? undefined : requireCommit(commit), comments: lines },
      action: 'submit the review',
    });
    const { isRequest: _, commentCount: __, ...shown } = data;
    return shown;
  }

  const extend: PullRequests['extend'] = (path, pullRequest, additions) =>
    extendPullRequest({ client, path: pathOf(path), permission }, pullRequest, additions);

  return {
    find,
    extend,
    async get(path, number) {
      const call = { path: one(path, number), action: 'read the pull request', permission: read };
      return present(path, (await client.call(pullRequestShape, call)).data);
    },
    create: (path, request) =>
      createOnce(request, {
        find: () => find(path, request.headBranch, request.baseBranch),
        async create() {
          const title = request.isDraft && !draftPrefix.test(request.title) ? `WIP: ${request.title}` : request.title;
          const body = { title, body: request.body, head: request.headBranch, base: request.baseBranch };
          const call = { path: `${repo(path)}/pulls`, body, action: 'create the pull request' };
          return present(path, (await send(pullRequestShape, { ...call, method: 'POST' })).data);
        },
        extend: (pullRequest) => extend(path, pullRequest, request),
      }),
    async update(path, number, { title, body, isDraft, isClosed }) {
      const call = { path: one(path, number), action: 'update the pull request' };
      const needsTitle = title === undefined && isDraft !== undefined;
      const current = needsTitle
        ? (await client.call(pullRequestShape, { ...call, permission: read })).data.title
        : title;
      const bare = current?.replace(draftPrefix, '');
      const newTitle = isDraft === undefined ? title : isDraft ? `WIP: ${bare}` : bare;
      const state = isClosed === undefined ? undefined : isClosed ? 'closed' : 'open';
      const { data } = await send(pullRequestShape, {
        ...call,
        method: 'PATCH',
        body: { title: newTitle, body, state },
      });
      return present(path, data);
    },
    async read(path, number, validator) {
      const call = { path: one(path, number), action: 'read the pull request', permission: read };
      const { data } = await client.call(pullRequestShape, call);
      const [statuses, reviews] = await Promise.all([
        client.list(commitStatus, {
          ...page,
          path: `${repo(path)}/commits/${data.head.sha}/status`,
          property: 'statuses',
          action: 'read the checks',
          permission: read,
          max: maxEach,
        }),
        readReviews(path, number),
      ]);
      const status = {
        ...present(path, data),
        mergeable: mergeabilityOf(data),
        checks: statuses.items,
        reviews: reviews.items
          .filter(({ isRequest }) => !isRequest)
          .map(({ isRequest: _, commentCount: __, ...each }) => each),
        isTruncated: statuses.isTruncated || reviews.isTruncated,
      };
      return withValidator(status, validator);
    },
    async comments(path, number, since) {
      const action = 'read the comments';
      const issue = { path: `${repo(path)}/issues/${number}/comments`, query: { since: since?.toISOString() }, action };
      // This list has no pages.
      const { data } = await client.call(z.unknown().array().max(5_000), { ...issue, permission: 'read:issue' });
      const reviews = (await readReviews(path, number)).items.filter(({ commentCount }) => commentCount > 0);
      const comments: PullRequestComment[] = validItems(issueComment, data.slice(-maxComments));
      for (const each of reviews.slice(-maxReviewsWithComments)) {
        const call = { path: `${one(path, number)}/reviews/${each.id}/comments`, action, permission: read };
        comments.push(...(await client.call(listOf(lineComment), call)).data);
      }
      const recent = comments.filter(
        (each) => since === undefined || (each.updatedAt?.getTime() ?? 0) >= since.getTime(),
      );
      recent.sort((first, other) => (first.createdAt?.getTime() ?? 0) - (other.createdAt?.getTime() ?? 0));
      const isTruncated =
        recent.length > maxComments || reviews.length > maxReviewsWithComments || data.length > maxComments;
      return { comments: recent.slice(0, maxComments), isTruncated };
    },
    async template(path, ref) {
      for (const file of templates) {
        try {
          const call = {
            path: `${repo(path)}/raw/${file}`,
            query: { ref },
            action: 'read the template',
            permission: read,
          };
          return plainText(await client.text(call, 256 * 1024));
        } catch (error) {
          if (!isForgeError(error, 'NOT_FOUND')) throw error;
        }
      }
      return null;
    },
    // The ids of commit statuses do not lead to the jobs of Actions.
    checkLogTail: async () => null,
    async comment(path, number, body) {
      const call = {
        path: `${repo(path)}/issues/${number}/comments`,
        body: { body },
        action: 'comment on the pull request',
      };
      return (await send(issueComment, { ...call, method: 'POST', permission: 'write:issue' })).data;
    },
    async commentOnIssue(path, number, body) {
      const call = { path: `${repo(path)}/issues/${number}/comments`, body: { body }, action: 'comment on the issue' };
      await send(issueComment, { ...call, method: 'POST', permission: 'write:issue' });
    },
    /** A comment on the same line joins the thread. The API returns the review that contains it. */
    async reply(path, number, threadId, body) {
      const [, side, line, file] = /^(old|new):(\d{1,9}):(.{1,4096})$/.exec(threadId) ?? [];
      if (!file) throw new ForgeError('NOT_FOUND', `${host} has no thread with this id.`);
      const comment = {
        path: file,
        line: Number(line),
        side: side === 'old' ? ('old' as const) : ('new' as const),
        body,
      };
      const created = await submit(path, number, { body: '', state: 'commented', commit: '', comments: [comment] });
      const location = { path: file, line: comment.line, side: comment.side, commit: created.commit, diffHunk: null };
      const { id, author, url, submittedAt } = created;
      return {
        id,
        threadId,
        reviewId: id,
        author,
        body,
        url,
        createdAt: submittedAt,
        updatedAt: submittedAt,
        location,
      };
    },
    resolveThread: () => Promise.reject(new ForgeError('UNSUPPORTED', `${host} has no API to resolve a thread.`)),
    async diff(path, number) {
      const call = { path: `${one(path, number)}.diff`, action: 'read the changed files', permission: read };
      return readDiff(splitDiff(await client.text(call, maxDiffBytes)));
    },
    submitReview: submit,
  };
}

// Gitea sends "mergeable: false" for conflicts and while it still checks.
function mergeabilityOf(data: z.output<typeof pullRequestShape>): Mergeability {
  if (data.state !== 'open') return 'unknown';
  if (data.mergeable === true) return data.draft ? 'blocked' : 'mergeable';
  return data.mergeable === false ? 'conflicting' : 'unknown';
}
