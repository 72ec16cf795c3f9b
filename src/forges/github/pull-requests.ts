import { z } from 'zod';
import { type ApiCall, type ApiClient, listOf } from '../http/api-client.ts';
import { ForgeError, isForgeError } from '../interface/errors.ts';
import type { Mergeability, NewPullRequest, PullRequest, PullRequests } from '../interface/pull-requests.ts';
import { createOnce } from '../support/create-once.ts';
import { logTailBytes, tailOf } from '../support/log-tail.ts';
import { readDiff } from '../support/read-diff.ts';
import { plainText, requireCommit } from '../support/text.ts';
import { withValidator } from '../support/validator.ts';
import { extendPullRequest } from './additions.ts';
import {
  changedFile,
  checkRun,
  commitStatus,
  issueComment,
  pullRequestShape,
  review,
  reviewComment,
  toPullRequest,
} from './shapes.ts';
import { resolveGithubThread } from './threads.ts';

/** Options of {@link createGithubPullRequests}. */
export interface GithubPullRequestOptions {
  readonly client: ApiClient;
  readonly pathOf: (path: string) => string;
  /** The base URL of the pages. */
  readonly baseUrl: string;
  /** The path of the GraphQL API below the URL of the REST API. */
  readonly graphqlPath: string;
}

const permission = 'pull_requests: write';
const maxEach = 300;
const maxComments = 500;
const maxFiles = 1_000;
const templateFolders = ['.github', '', 'docs'];

/** Creates the pull requests of GitHub. */
export function createGithubPullRequests({
  client,
  pathOf,
  baseUrl,
  graphqlPath,
}: GithubPullRequestOptions): PullRequests {
  const { host } = client;
  const repo = (path: string) => `/repos/${pathOf(path)}`;
  const urlOf = (path: string, number: number) => `${baseUrl}/${pathOf(path)}/pull/${number}`;
  const send = <T>(schema: z.ZodType<T>, call: ApiCall) => client.call(schema, { permission, ...call });

  async function find(path: string, headBranch: string, baseBranch?: string): Promise<PullRequest | null> {
    const [owner] = pathOf(path).split('/');
    const { data } = await client.call(listOf(pullRequestShape), {
      path: `${repo(path)}/pulls`,
      query: { head: `${owner}:${headBranch}`, base: baseBranch, state: 'open', 'per_page': 100 },
      action: 'find the pull request of the branch',
      permission: 'pull_requests: read',
    });
    // The forge's filter is not trusted: with an unknown "head", some versions list every pull request.
    const own = data
      .map((each) => toPullRequest(each, urlOf(path, each.number)))
      .filter((each) => each.headBranch === headBranch && (baseBranch === undefined || each.baseBranch === baseBranch))
      .filter((each) => each.headRepository?.toLowerCase() === pathOf(path).toLowerCase());
    return own.sort((one, other) => one.number - other.number)[0] ?? null;
  }

  async function post(path: string, request: NewPullRequest, draft: boolean): Promise<PullRequest> {
    const { data } = await send(pullRequestShape, {
      method: 'POST',
      path: `${repo(path)}/pulls`,
      body: { title: request.title, body: request.body, head: request.headBranch, base: request.baseBranch, draft },
      action: 'create the pull request',
    });
    return toPullRequest(data, urlOf(path, data.number));
  }

  async function setDraft(nodeId: string | undefined, isDraft: boolean): Promise<void> {
    const name = isDraft ? 'convertPullRequestToDraft' : 'markPullRequestReadyForReview';
    const query = `mutation($id: ID!) { ${name}(input: {pullRequestId: $id}) { pullRequest { id } } }`;
    const action = 'change the draft state of the pull request';
    const { data } = await send(z.object({ errors: z.object({ message: z.string() }).array().optional() }), {
      method: 'POST',
      path: graphqlPath,
      body: { query, variables: { id: nodeId } },
      action,
    });
    const [error] = data.errors ?? [];
    if (error) throw new ForgeError('REJECTED', `${host} did not ${action}: ${plainText(error.message, 500)}`);
  }

  const extend: PullRequests['extend'] = (path, pullRequest, additions) =>
    extendPullRequest({ client, path: pathOf(path), permission }, pullRequest, additions);

  return {
    find,
    extend,
    async get(path, number) {
      const call = { path: `${repo(path)}/pulls/${number}`, action: 'read the pull request' };
      const { data } = await client.call(pullRequestShape, { ...call, permission: 'pull_requests: read' });
      return toPullRequest(data, urlOf(path, number));
    },
    create: (path, request) =>
      createOnce(request, {
        find: () => find(path, request.headBranch, request.baseBranch),
        async create(warnings) {
          try {
            return await post(path, request, request.isDraft ?? false);
          } catch (error) {
            if (!isForgeError(error, 'REJECTED') || !/draft pull requests are not supported/i.test(error.message))
              throw error;
            warnings.push('This repository has no drafts, so the pull request is open.');
            return await post(path, request, false);
          }
        },
        extend: (pullRequest) => extend(path, pullRequest, request),
      }),
    async update(path, number, { title, body, isDraft, isClosed }) {
      const state = isClosed === undefined ? undefined : isClosed ? 'closed' : 'open';
      const call = { path: `${repo(path)}/pulls/${number}`, action: 'update the pull request' };
      const { data } = await send(pullRequestShape, { ...call, method: 'PATCH', body: { title, body, state } });
      if (isDraft === undefined || isDraft === (data.draft ?? false)) return toPullRequest(data, urlOf(path, number));
      await setDraft(data.node_id, isDraft);
      return toPullRequest({ ...data, draft: isDraft }, urlOf(path, number));
    },
    async read(path, number, validator) {
      const action = 'read the pull request';
      const { data } = await client.call(pullRequestShape, {
        path: `${repo(path)}/pulls/${number}`,
        action,
        permission: 'pull_requests: read',
      });
      const commit = `${repo(path)}/commits/${data.head.sha}`;
      const [runs, statuses, reviews] = await Promise.all([
        client.list(checkRun, {
          path: `${commit}/check-runs`,
          property: 'check_runs',
          action: 'read the checks',
          permission: 'checks: read',
          size: 100,
          max: maxEach,
        }),
        client.list(commitStatus, {
          path: `${commit}/status`,
          property: 'statuses',
          action: 'read the commit statuses',
          permission: 'statuses: read',
          size: 100,
          max: maxEach,
        }),
        client.list(review, {
          path: `${repo(path)}/pulls/${number}/reviews`,
          action: 'read the reviews',
          size: 100,
          max: maxEach,
        }),
      ]);
      const status = {
        ...toPullRequest(data, urlOf(path, number)),
        mergeable: mergeabilityOf(data),
        checks: [...runs.items.map(({ commit: _, ...check }) => check), ...statuses.items],
        reviews: reviews.items,
        isTruncated: runs.isTruncated || statuses.isTruncated || reviews.isTruncated,
      };
      return withValidator(status, validator);
    },
    async diff(path, number) {
      const { items } = await client.list(changedFile, {
        path: `${repo(path)}/pulls/${number}/files`,
        action: 'read the changed files',
        permission: 'pull_requests: read',
        size: 50,
        max: maxFiles,
      });
      return readDiff(items);
    },
    async comments(path, number, since) {
      const query = { since: since?.toISOString() };
      const action = 'read the comments';
      const options = { query, action, size: 100, max: maxComments };
      const [conversation, lines] = await Promise.all([
        client.list(issueComment, { ...options, path: `${repo(path)}/issues/${number}/comments` }),
        client.list(reviewComment, { ...options, path: `${repo(path)}/pulls/${number}/comments` }),
      ]);
      const comments = [...conversation.items, ...lines.items];
      comments.sort((one, other) => (one.createdAt?.getTime() ?? 0) - (other.createdAt?.getTime() ?? 0));
      return { comments, isTruncated: conversation.isTruncated || lines.isTruncated };
    },
    async template(path, ref) {
      for (const folder of templateFolders) {
        const file = await findTemplate(client, `${repo(path)}/contents/${folder}`, ref);
        if (file === null) continue;
        const headers = { accept: 'application/vnd.github.raw+json' };
        const call = {
          path: `${repo(path)}/contents/${encodePath(file)}`,
          query: { ref },
          headers,
          action: 'read the template',
        };
        return plainText(await client.text(call, maxTemplateBytes));
      }
      return null;
    },
    async checkLogTail(path, checkId, lines = 200) {
      const [, job] = /^run:(\d{1,20})$/.exec(checkId) ?? [];
      if (job === undefined) return null;
      try {
        const call = {
          path: `${repo(path)}/actions/jobs/${job}/logs`,
          action: 'read the log of the check',
          permission: 'actions: read',
        };
        return tailOf(await client.tail(call, logTailBytes), lines);
      } catch (error) {
        if (isForgeError(error, 'NOT_FOUND')) return null;
        throw error;
      }
    },
    async comment(path, number, body) {
      const call = { path: `${repo(path)}/issues/${number}/comments`, action: 'comment on the pull request' };
      return (await send(issueComment, { ...call, method: 'POST', body: { body } })).data;
    },
    async commentOnIssue(path, number, body) {
      const call = { path: `${repo(path)}/issues/${number}/comments`, action: 'comment on the issue' };
      await send(issueComment, { ...call, method: 'POST', body: { body } });
    },
    async reply(path, number, threadId, body) {
      if (!/^\d{1,20}$/.test(threadId)) throw new ForgeError('NOT_FOUND', `${host} has no thread with this id.`);
      const call = {
        path: `${repo(path)}/pulls/${number}/comments/${threadId}/replies`,
        action: 'reply to the comment',
      };
      return (await send(reviewComment, { ...call, method: 'POST', body: { body } })).data;
    },
    async resolveThread(path, number, threadId) {
      await resolveGithubThread({ client, graphqlPath, path: pathOf(path), number, threadId });
    },
    async submitReview(path, number, { body, state, commit, comments = [] }) {
      const event = { approved: 'APPROVE', 'changes_requested': 'REQUEST_CHANGES', commented: 'COMMENT' }[state];
      const lines = comments.map(({ path: file, line, side, body: text }) => {
        return { path: file, line, side: side === 'old' ? 'LEFT' : 'RIGHT', body: text };
      });
      const { data } = await send(review, {
        method: 'POST',
        path: `${repo(path)}/pulls/${number}/reviews`,
        body: { body, event, 'commit_id': requireCommit(commit), comments: lines },
        action: 'submit the review',
      });
      return data;
    },
  };
}

const folderShape = z
  .array(z.object({ path: z.string().max(4_096), name: z.string().max(1_000), type: z.string().max(20) }))
  .max(1_000);
const maxTemplateBytes = 256 * 1024;

/** Finds the template in a folder; null if there is none. Its name may be in upper or lower case. */
async function findTemplate(client: ApiClient, path: string, ref: string): Promise<string | null> {
  try {
    const { data } = await client.call(folderShape, { path, query: { ref }, action: 'read the template' });
    const isTemplate = ({ name, type }: (typeof data)[number]) =>
      type === 'file' && /^pull_request_template(?:\.md|\.txt)?$/i.test(name);
    return data.find(isTemplate)?.path ?? null;
  } catch (error) {
    if (isForgeError(error, 'NOT_FOUND')) return null;
    throw error;
  }
}

const encodePath = (path: string) => path.split('/').map(encodeURIComponent).join('/');

function mergeabilityOf(pull: z.output<typeof pullRequestShape>): Mergeability {
  const state = pull.mergeable_state ?? 'unknown';
  if (pull.mergeable === false || state === 'dirty') return 'conflicting';
  if (pull.mergeable !== true || state === 'unknown') return 'unknown';
  return ['blocked', 'behind', 'draft'].includes(state) ? 'blocked' : 'mergeable';
}
