import { createHash } from 'node:crypto';
import type { Check, PullRequestComment, PullRequestStatus, Review } from '../../forges/interface/pull-requests.ts';

/** A name of a comment that is unique on its pull request: comments on lines have numbers of their own. */
export const commentKey = ({ id, threadId }: Pick<PullRequestComment, 'id' | 'threadId'>): string =>
  `${threadId === null ? 'talk' : 'line'}:${id}`;

/** The failed checks of a head commit that has none left to wait for. */
export interface FailedChecks {
  readonly key: string;
  readonly checks: readonly Check[];
}

/** Returns the failed checks of a pull request; null while a check is queued or running, and if none failed. */
export function failedChecksOf({ headCommit, checks }: PullRequestStatus): FailedChecks | null {
  if (headCommit === null || checks.some(({ state }) => state === 'queued' || state === 'running')) return null;
  const failed = checks.filter(({ state }) => state === 'failed');
  if (failed.length === 0) return null;
  const ids = [...new Set(failed.map(({ id }) => id))].sort().join('\n');
  const hash = createHash('sha256').update(ids).digest('hex').slice(0, 16);
  return { key: `checks:${headCommit}:${hash}`, checks: failed };
}

/** Returns the key of a conflict of the head commit with the base; null: there is none. */
export const conflictKeyOf = ({ mergeable, headCommit }: PullRequestStatus): string | null =>
  mergeable === 'conflicting' && headCommit !== null ? `conflict:${headCommit}` : null;

/** Tells if a pull request has checks, and all of them have ended without a failure. */
export const haveChecksPassed = ({ checks }: PullRequestStatus): boolean =>
  checks.some(({ state }) => state === 'passed') &&
  checks.every(({ state }) => state === 'passed' || state === 'neutral' || state === 'skipped');

/** A review with its comments. */
export interface ReviewWithComments {
  readonly key: string;
  readonly review: Review;
  readonly comments: readonly PullRequestComment[];
}

/** The reviews, and the comments that belong to none of them. */
export interface Discussion {
  readonly reviews: readonly ReviewWithComments[];
  readonly loose: readonly PullRequestComment[];
}

/**
 * Divides reviews and comments into reviews that ask for something, each with its comments, and loose comments. A review
 * of one comment without a text or a decision is how GitHub stores a single comment or a reply: its comment is loose. A
 * comment of a review that `reviews` lacks is left for a later read, which has both.
 */
export function discussionOf(reviews: readonly Review[], comments: readonly PullRequestComment[]): Discussion {
  const byReview = new Map<string, PullRequestComment[]>();
  for (const comment of comments) {
    if (comment.reviewId !== null) byReview.set(comment.reviewId, [...(byReview.get(comment.reviewId) ?? []), comment]);
  }
  const known = new Set(reviews.map(({ id }) => id));
  const asking = reviews
    .map((review) => ({ key: `review:${review.id}`, review, comments: byReview.get(review.id) ?? [] }))
    .filter(isAsking);
  const taken = new Set(asking.map(({ review }) => review.id));
  return {
    reviews: asking,
    loose: comments.filter(({ reviewId }) => reviewId === null || (known.has(reviewId) && !taken.has(reviewId))),
  };
}

function isAsking({ review, comments }: ReviewWithComments): boolean {
  if (review.state === 'pending' || review.state === 'dismissed') return false;
  const hasText = review.body.trim() !== '';
  if (review.state === 'approved' || review.state === 'changes_requested') return hasText || comments.length > 0;
  return hasText || comments.length > 1;
}
