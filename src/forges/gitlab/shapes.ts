import { z } from 'zod';
import type { ForgeAccount } from '../interface/account.ts';
import type { ForgeRepository, RepositoryAccess } from '../interface/forge.ts';
import type { Check, CheckState, PullRequest, PullRequestComment } from '../interface/pull-requests.ts';
import { lookUp } from '../support/lookup.ts';
import { repositoryPath } from '../support/paths.ts';
import type { DiffText } from '../support/read-diff.ts';
import {
  bodyText,
  branchName,
  idText,
  nameText,
  optionalBranch,
  optionalCommit,
  sameUrl,
  timestamp,
  webUrl,
} from '../support/text.ts';

// Shapes of GitLab's REST API, version 4: the properties that are used.

/** A user; null for a deleted one. Project and group tokens have users of their own, whose names say so. */
export const account = z
  .object({ id: z.number().int(), username: nameText(100), bot: z.boolean().nullish() })
  .nullish()
  .transform((user): ForgeAccount | null =>
    user
      ? {
          id: String(user.id),
          login: user.username,
          isBot: user.bot ?? /^(?:project|group)_\d+_bot(?:_|$)|^service_account_/.test(user.username),
        }
      : null,
  );

const accessLevel = z.object({ 'access_level': z.number().nullish() }).nullish();
/** The access level "Developer", which may push to unprotected branches. */
const developer = 30;

/** The access level "Maintainer", which may change the settings of a project. */
const maintainer = 40;

/** A member of a project, as its rights. A membership that waits for an approval gives none. */
export const member = z
  .object({ 'access_level': z.number(), 'state': z.string().max(40).nullish() })
  .transform(({ 'access_level': level, state }): RepositoryAccess => {
    if ((state ?? 'active') !== 'active' || level <= 0) return 'none';
    return level >= maintainer ? 'admin' : level >= developer ? 'write' : 'read';
  });

/** A project. */
export const project = z
  .object({
    'id': idText,
    'path_with_namespace': repositoryPath(null),
    'name': nameText(255),
    'description': nameText(1_000),
    'default_branch': optionalBranch,
    'visibility': z.string().max(20).nullish(),
    'archived': z.boolean().nullish(),
    'web_url': webUrl,
    'last_activity_at': timestamp,
    'permissions': z.object({ 'project_access': accessLevel, 'group_access': accessLevel }).nullish(),
  })
  .transform(
    (each): Omit<ForgeRepository, 'cloneUrl'> => ({
      path: each.path_with_namespace,
      providerId: each.id,
      name: each.name,
      description: each.description || null,
      language: null,
      defaultBranch: each.default_branch,
      isPrivate: each.visibility !== 'public',
      isArchived: each.archived ?? false,
      canPush: each.permissions
        ? Math.max(
            each.permissions.project_access?.access_level ?? 0,
            each.permissions.group_access?.access_level ?? 0,
          ) >= developer
        : null,
      webUrl: each.web_url,
      updatedAt: each.last_activity_at,
    }),
  );

/** A merge request. */
export const mergeRequest = z.object({
  'iid': z.number().int().positive(),
  'web_url': webUrl,
  'title': nameText(500),
  'description': bodyText(),
  'state': z.enum(['opened', 'closed', 'locked', 'merged']),
  'draft': z.boolean().nullish(),
  'author': account,
  'source_branch': branchName,
  'target_branch': branchName,
  'source_project_id': z.number().int().nullish(),
  'target_project_id': z.number().int().nullish(),
  'sha': optionalCommit,
  'labels': nameText(255).array().max(1_000).nullish(),
  'reviewers': z
    .object({ id: z.number().int(), username: nameText(255) })
    .array()
    .max(1_000)
    .nullish(),
  'created_at': timestamp,
  'updated_at': timestamp,
  'merged_at': timestamp,
  'closed_at': timestamp,
  'merge_commit_sha': optionalCommit,
  'squash_commit_sha': optionalCommit,
  'detailed_merge_status': z.string().max(60).nullish(),
  'has_conflicts': z.boolean().nullish(),
  'head_pipeline': z.object({ sha: optionalCommit }).nullish(),
  'diff_refs': z
    .object({ 'base_sha': optionalCommit, 'start_sha': optionalCommit, 'head_sha': optionalCommit })
    .nullish(),
});
/** See {@link mergeRequest}. */
export type MergeRequest = z.output<typeof mergeRequest>;

/** The beginning of a title that makes a merge request a draft. */
export const draftPrefix = /^\s*(?:draft:|\[draft\]|\(draft\))\s*/i;

/** Presents a merge request of the project `path`. `pageUrl`: the address of its page, which counts if the forge names another. */
export function toPullRequest(each: MergeRequest, path: string, pageUrl: string): PullRequest {
  const openState = (each.draft ?? draftPrefix.test(each.title)) ? 'draft' : 'open';
  return {
    number: each.iid,
    url: sameUrl(each.web_url, pageUrl),
    title: each.title,
    body: each.description,
    // "locked": while it is merged.
    state: each.state === 'merged' || each.state === 'closed' ? each.state : openState,
    author: each.author,
    headBranch: each.source_branch,
    headCommit: each.sha,
    headRepository: each.source_project_id != null && each.source_project_id === each.target_project_id ? path : null,
    baseBranch: each.target_branch,
    labels: each.labels ?? [],
    reviewers: (each.reviewers ?? []).map(({ username }) => username),
    createdAt: each.created_at,
    updatedAt: each.updated_at,
    mergedAt: each.merged_at,
    closedAt: each.closed_at,
    mergeCommit: each.state === 'merged' ? (each.merge_commit_sha ?? each.squash_commit_sha) : null,
  };
}

const checkStates: Readonly<Record<string, CheckState>> = {
  created: 'queued',
  'waiting_for_resource': 'queued',
  preparing: 'queued',
  'waiting_for_callback': 'running',
  pending: 'queued',
  scheduled: 'queued',
  running: 'running',
  canceling: 'running',
  success: 'passed',
  failed: 'failed',
  canceled: 'cancelled',
  skipped: 'skipped',
  manual: 'action_required',
};

/** The state of a job or a pipeline. A failure that is allowed does not fail the pipeline. */
export function checkStateOf(status: string, isFailureAllowed = false): CheckState {
  if (isFailureAllowed && (status === 'failed' || status === 'manual')) return 'neutral';
  return lookUp(checkStates, status) ?? 'neutral';
}

/** A status of a commit: a job of a pipeline, or one that another service reported. */
export const commitStatus = z
  .object({
    'id': idText,
    'name': nameText(),
    'status': z.string().max(40),
    'description': nameText(1_000),
    'target_url': webUrl,
    'finished_at': timestamp,
    'allow_failure': z.boolean().nullish(),
  })
  .transform((each): Check => {
    const isJob = each.target_url?.endsWith(`/-/jobs/${each.id}`) ?? false;
    return {
      id: `${isJob ? 'job' : 'status'}:${each.id}`,
      name: each.name,
      state: checkStateOf(each.status, each.allow_failure ?? false),
      summary: each.description || null,
      url: each.target_url,
      hasLog: isJob,
      completedAt: each.finished_at,
    };
  });

const position = z
  .object({
    'new_path': nameText(4_096),
    'old_path': nameText(4_096),
    'new_line': z.number().int().nullish(),
    'old_line': z.number().int().nullish(),
    'head_sha': optionalCommit,
  })
  .nullish()
  .transform((each) => {
    if (!each || (each.new_path === '' && each.old_path === '')) return null;
    const isOld = each.new_line == null && each.old_line != null;
    return {
      path: isOld ? each.old_path : each.new_path,
      line: each.new_line ?? each.old_line ?? null,
      side: isOld ? ('old' as const) : ('new' as const),
      commit: each.head_sha,
      diffHunk: null,
    };
  });

/** A note. `system`: GitLab wrote it, about a change. */
export const note = z.object({
  'id': idText,
  'author': account,
  'body': bodyText(),
  'system': z.boolean().nullish(),
  'created_at': timestamp,
  'updated_at': timestamp,
  'position': position,
});

/** Presents a note of a discussion. */
export function toComment(
  each: z.output<typeof note>,
  threadId: string | null,
  requestUrl: string,
): PullRequestComment {
  return {
    id: each.id,
    threadId,
    reviewId: null,
    author: each.author,
    body: each.body,
    url: `${requestUrl}#note_${each.id}`,
    createdAt: each.created_at,
    updatedAt: each.updated_at,
    location: each.position,
  };
}

/** A thread of notes. */
export const discussion = z.object({
  'id': z.string().regex(/^[0-9a-f]{8,64}$/),
  'individual_note': z.boolean().nullish(),
  'notes': note.array().max(1_000),
});

/** The location of a note in a webhook. */
export const notePosition = position;

/** A changed file of a merge request. Names are compared with those of git, so they are not cleaned. */
export const changedFile = z
  .object({ 'new_path': z.string().max(4_096), 'old_path': z.string().max(4_096), 'diff': z.string().nullish() })
  .transform((each): DiffText => ({ path: each.new_path, oldPath: each.old_path, patch: each.diff ?? null }));
