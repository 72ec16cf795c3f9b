import { z } from 'zod';
import { account } from '../github/shapes.ts';
import type { Check, CheckState, PullRequestComment, Review, ReviewState } from '../interface/pull-requests.ts';
import { lookUp } from '../support/lookup.ts';
import { bodyText, idText, nameText, optionalCommit, timestamp, webUrl } from '../support/text.ts';

// Shapes of the REST API of Gitea and Forgejo, version 1, where they differ from GitHub's.

/** The user of the token. */
export const tokenUser = z.object({
  'id': z.number().int(),
  'login': z.string().regex(/^[\w.-]{1,100}$/),
  'full_name': nameText(),
  'email': z.string().max(320).nullish(),
});

const states: Readonly<Record<string, CheckState>> = {
  success: 'passed',
  failure: 'failed',
  error: 'failed',
  pending: 'running',
  warning: 'neutral',
  skipped: 'skipped',
};

/** A commit status: Gitea's own Actions report them too. */
export const commitStatus = z
  .object({
    'id': idText.optional(),
    'context': nameText(),
    // GitHub's name in webhooks, and Gitea's in lists.
    'status': z.string().max(40).nullish(),
    'state': z.string().max(40).nullish(),
    'description': nameText(1_000),
    'target_url': webUrl,
    'updated_at': timestamp,
  })
  .transform((each): Check => {
    const state = lookUp(states, each.status ?? each.state ?? '') ?? 'neutral';
    return {
      id: `status:${each.id ?? '0'}`,
      name: each.context,
      state,
      summary: each.description || null,
      url: each.target_url,
      hasLog: false,
      completedAt: state === 'running' ? null : each.updated_at,
    };
  });

const reviewStates: Readonly<Record<string, ReviewState>> = {
  'APPROVED': 'approved',
  'REQUEST_CHANGES': 'changes_requested',
  'COMMENT': 'commented',
  'PENDING': 'pending',
};

/** A review; `isRequest`: only the request of one. */
export const review = z
  .object({
    'id': idText,
    'user': account,
    'state': z.string().max(40),
    'body': bodyText(),
    'commit_id': optionalCommit,
    'submitted_at': timestamp,
    'html_url': webUrl,
    'dismissed': z.boolean().nullish(),
    'comments_count': z.number().int().nullish(),
  })
  .transform((each): Review & { readonly isRequest: boolean; readonly commentCount: number } => ({
    id: each.id,
    author: each.user,
    state: each.dismissed ? 'dismissed' : (lookUp(reviewStates, each.state) ?? 'commented'),
    body: each.body,
    commit: each.commit_id,
    submittedAt: each.submitted_at,
    url: each.html_url,
    isRequest: each.state === 'REQUEST_REVIEW',
    commentCount: each.comments_count ?? 0,
  }));

/** A comment on a line. Gitea has no ids of threads: comments on the same line are one thread. */
export const lineComment = z
  .object({
    'id': idText,
    'user': account,
    'body': bodyText(),
    'html_url': webUrl,
    'created_at': timestamp,
    'updated_at': timestamp,
    'pull_request_review_id': idText.nullish(),
    'path': nameText(4_096),
    'position': z.number().int().nullish(),
    'original_position': z.number().int().nullish(),
    'commit_id': optionalCommit,
    'diff_hunk': bodyText(20_000),
  })
  .transform((each): PullRequestComment => {
    const side = each.position ? 'new' : 'old';
    const line = each.position || each.original_position || null;
    return {
      id: each.id,
      threadId: line === null ? null : `${side}:${line}:${each.path}`,
      reviewId: each.pull_request_review_id ?? null,
      author: each.user,
      body: each.body,
      url: each.html_url,
      createdAt: each.created_at,
      updatedAt: each.updated_at,
      location: { path: each.path, line, side, commit: each.commit_id, diffHunk: each.diff_hunk || null },
    };
  });
