import { z } from 'zod';
import type { ForgeAccount } from '../interface/account.ts';
import type { ForgeRepository, RepositoryAccess } from '../interface/forge.ts';
import type {
  Check,
  CheckState,
  PullRequest,
  PullRequestComment,
  Review,
  ReviewState,
} from '../interface/pull-requests.ts';
import { lookUp } from '../support/lookup.ts';
import { repositoryPath } from '../support/paths.ts';
import type { DiffText } from '../support/read-diff.ts';
import {
  bodyText,
  branchName,
  commitId,
  idText,
  nameText,
  optionalBranch,
  optionalCommit,
  sameUrl,
  timestamp,
  webUrl,
} from '../support/text.ts';

// Shapes of GitHub's REST API (2022-11-28): the properties that are used. Webhooks have the same objects.

/** A user, an organization or a bot; null for a deleted account. */
export const account = z
  .object({ id: z.number().int(), login: nameText(100), type: z.string().max(40).optional() })
  .nullish()
  .transform((user): ForgeAccount | null =>
    user
      ? { id: String(user.id), login: user.login, isBot: user.type === 'Bot' || user.login.endsWith('[bot]') }
      : null,
  );

/** A repository. */
export const repository = z
  .object({
    'id': idText,
    'full_name': repositoryPath(),
    'name': nameText(100),
    'description': nameText(1_000),
    'language': nameText(100),
    'default_branch': optionalBranch,
    'private': z.boolean(),
    'archived': z.boolean().nullish(),
    'html_url': webUrl,
    'pushed_at': timestamp,
    'updated_at': timestamp,
    'permissions': z.object({ push: z.boolean().optional() }).nullish(),
  })
  .transform(
    (each): Omit<ForgeRepository, 'cloneUrl'> => ({
      path: each.full_name,
      providerId: each.id,
      name: each.name,
      description: each.description || null,
      language: each.language || null,
      defaultBranch: each.default_branch,
      isPrivate: each.private,
      isArchived: each.archived ?? false,
      canPush: each.permissions?.push ?? null,
      webUrl: each.html_url,
      updatedAt: each.pushed_at ?? each.updated_at,
    }),
  );

const accesses: Readonly<Record<string, RepositoryAccess>> = {
  read: 'read',
  triage: 'read',
  pull: 'read',
  write: 'write',
  push: 'write',
  maintain: 'write',
  admin: 'admin',
  owner: 'admin',
};

/** The rights of an account in a repository. Gitea has the same object, with "owner". */
export const collaborator = z
  .object({ permission: z.string().max(40) })
  .transform(({ permission }): RepositoryAccess => lookUp(accesses, permission) ?? 'none');

const label = z.object({ name: nameText(100) }).transform((each) => each.name);

/** A pull request. `mergeable` and `merged` are only in single ones. */
export const pullRequestShape = z.object({
  'number': z.number().int().positive(),
  'node_id': z.string().max(200).optional(),
  'html_url': webUrl,
  'title': nameText(500),
  'body': bodyText(),
  'state': z.enum(['open', 'closed']),
  'draft': z.boolean().nullish(),
  'user': account,
  'head': z.object({
    ref: branchName,
    sha: commitId,
    repo: z.object({ 'full_name': repositoryPath() }).nullish(),
  }),
  'base': z.object({ ref: branchName }),
  'labels': label.array().max(1_000).optional(),
  'requested_reviewers': z
    .object({ login: nameText(100) })
    .array()
    .max(1_000)
    .nullish(),
  'created_at': timestamp,
  'updated_at': timestamp,
  'merged_at': timestamp,
  'closed_at': timestamp,
  'merged': z.boolean().nullish(),
  'mergeable': z.boolean().nullish(),
  'mergeable_state': z.string().max(40).nullish(),
  'merge_commit_sha': optionalCommit,
});

/** Presents a pull request. `pageUrl`: the address of its page, which counts if the forge names another. */
export function toPullRequest(pull: z.output<typeof pullRequestShape>, pageUrl: string): PullRequest {
  const isMerged = pull.merged === true || pull.merged_at !== null;
  const openState = pull.draft ? 'draft' : 'open';
  return {
    number: pull.number,
    url: sameUrl(pull.html_url, pageUrl),
    title: pull.title,
    body: pull.body,
    state: isMerged ? 'merged' : pull.state === 'closed' ? 'closed' : openState,
    author: pull.user,
    headBranch: pull.head.ref,
    headCommit: pull.head.sha,
    headRepository: pull.head.repo?.full_name ?? null,
    baseBranch: pull.base.ref,
    labels: pull.labels ?? [],
    reviewers: (pull.requested_reviewers ?? []).map(({ login }) => login),
    createdAt: pull.created_at,
    updatedAt: pull.updated_at,
    mergedAt: pull.merged_at,
    closedAt: pull.closed_at,
    mergeCommit: isMerged ? pull.merge_commit_sha : null,
  };
}

const conclusions: Readonly<Record<string, CheckState>> = {
  success: 'passed',
  failure: 'failed',
  'timed_out': 'failed',
  'startup_failure': 'failed',
  cancelled: 'cancelled',
  skipped: 'skipped',
  neutral: 'neutral',
  stale: 'neutral',
  'action_required': 'action_required',
};

/** A check run. The id of an Actions check run is also the id of its job, which has a log. */
export const checkRun = z
  .object({
    'id': idText,
    'name': nameText(),
    'head_sha': commitId.optional(),
    'status': z.string().max(40),
    'conclusion': z.string().max(40).nullish(),
    'details_url': webUrl,
    'html_url': webUrl,
    'completed_at': timestamp,
    'output': z.object({ title: nameText(500), summary: bodyText(4_000) }).nullish(),
    'app': z.object({ slug: z.string().max(200).nullish() }).nullish(),
  })
  .transform((run): Check & { readonly commit: string | null } => ({
    id: `run:${run.id}`,
    name: run.name,
    state:
      run.status === 'completed'
        ? (lookUp(conclusions, run.conclusion ?? '') ?? 'neutral')
        : run.status === 'in_progress'
          ? 'running'
          : 'queued',
    summary: run.output?.title || run.output?.summary || null,
    url: run.html_url ?? run.details_url,
    hasLog: run.app?.slug === 'github-actions',
    completedAt: run.completed_at,
    commit: run.head_sha ?? null,
  }));

const statusStates: Readonly<Record<string, CheckState>> = {
  success: 'passed',
  failure: 'failed',
  error: 'failed',
  pending: 'running',
};

/** A commit status, which services outside GitHub report. */
export const commitStatus = z
  .object({
    'id': idText.optional(),
    'context': nameText(),
    'state': z.string().max(40),
    'description': nameText(1_000),
    'target_url': webUrl,
    'updated_at': timestamp,
  })
  .transform((status): Check => {
    const state = lookUp(statusStates, status.state) ?? 'neutral';
    return {
      id: `status:${status.id ?? '0'}`,
      name: status.context,
      state,
      summary: status.description || null,
      url: status.target_url,
      hasLog: false,
      completedAt: state === 'running' ? null : status.updated_at,
    };
  });

const reviewStates: Readonly<Record<string, ReviewState>> = {
  approved: 'approved',
  'changes_requested': 'changes_requested',
  commented: 'commented',
  dismissed: 'dismissed',
  pending: 'pending',
};

/** A review. Webhooks write the state in lower case. */
export const review = z
  .object({
    'id': idText,
    'user': account,
    'state': z.string().max(40),
    'body': bodyText(),
    'commit_id': optionalCommit,
    'submitted_at': timestamp,
    'html_url': webUrl,
  })
  .transform(
    (each): Review => ({
      id: each.id,
      author: each.user,
      state: lookUp(reviewStates, each.state.toLowerCase()) ?? 'commented',
      body: each.body,
      commit: each.commit_id,
      submittedAt: each.submitted_at,
      url: each.html_url,
    }),
  );

/** A comment in the conversation of an issue or a pull request. */
export const issueComment = z
  .object({
    'id': idText,
    'user': account,
    'body': bodyText(),
    'html_url': webUrl,
    'created_at': timestamp,
    'updated_at': timestamp,
  })
  .transform(
    (each): PullRequestComment => ({
      id: each.id,
      threadId: null,
      reviewId: null,
      author: each.user,
      body: each.body,
      url: each.html_url,
      createdAt: each.created_at,
      updatedAt: each.updated_at,
      location: null,
    }),
  );

/** A comment on a line. The thread is the first comment of the line, which replies name. */
export const reviewComment = z
  .object({
    'id': idText,
    'user': account,
    'body': bodyText(),
    'html_url': webUrl,
    'created_at': timestamp,
    'updated_at': timestamp,
    'in_reply_to_id': idText.nullish(),
    'pull_request_review_id': idText.nullish(),
    'path': nameText(4_096),
    'line': z.number().int().nullish(),
    'side': z.string().max(10).nullish(),
    'commit_id': optionalCommit,
    'diff_hunk': bodyText(20_000),
  })
  .transform(
    (each): PullRequestComment => ({
      id: each.id,
      threadId: each.in_reply_to_id ?? each.id,
      reviewId: each.pull_request_review_id ?? null,
      author: each.user,
      body: each.body,
      url: each.html_url,
      createdAt: each.created_at,
      updatedAt: each.updated_at,
      location:
        each.path === ''
          ? null
          : {
              path: each.path,
              line: each.line ?? null,
              side: each.side === 'LEFT' ? 'old' : 'new',
              commit: each.commit_id,
              diffHunk: each.diff_hunk || null,
            },
    }),
  );

/** A changed file of a pull request. Names are compared with those of git, so they are not cleaned. */
export const changedFile = z
  .object({
    'filename': z.string().max(4_096),
    'previous_filename': z.string().max(4_096).nullish(),
    'patch': z.string().nullish(),
  })
  .transform((each): DiffText => {
    return { path: each.filename, oldPath: each.previous_filename ?? null, patch: each.patch ?? null };
  });
