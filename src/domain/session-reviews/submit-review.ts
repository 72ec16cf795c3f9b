import { DomainError } from '../../common/errors.ts';
import { isForgeError } from '../../forges/interface/errors.ts';
import type { PullRequests } from '../../forges/interface/pull-requests.ts';
import { audit } from '../audit/record-audit.ts';
import type { Context } from '../context.ts';
import { forgeFailure, isTemporary } from '../open-pull-requests/failures.ts';
import { inertTexts } from '../open-pull-requests/inert-texts.ts';
import {
  findTarget,
  type PullRequestSession,
  refuseReadOnlyOrganization,
  type Target,
} from '../open-pull-requests/target.ts';
import { requesterOf } from '../open-pull-requests/texts.ts';
import { claimReview, endReview, postponeReview } from './claims.ts';
import { postReview } from './post-review.ts';
import { composeReview, type SubmittedReview } from './review-texts.ts';
import { type ReviewRequest, readReview } from './reviews.ts';
import { parseSubmission, type ReviewSubmission, type Submission } from './submission.ts';

/** A review that was posted, now or by an earlier call. */
export interface PostedReview {
  /** The page of the review, or else of the pull request. */
  readonly url: string;
  readonly isNew: boolean;
  /** The number of comments that are in the body, because the diff does not show their lines. */
  readonly movedCount: number;
}

/**
 * Posts the review of a session as a comment, once. The caller may write to the session. Throws INVALID_INPUT, and INVALID_STATE if the
 * session makes no review, or with the forge's reason.
 */
export async function submitForSession(
  context: Context,
  session: PullRequestSession,
  input: ReviewSubmission,
): Promise<PostedReview> {
  const submission = parseSubmission(input);
  const review = await readReview(context.store, session.id);
  if (!review) throw new DomainError('INVALID_STATE', 'This session is not a review of a pull request.');
  if (review.submittedAt !== null) return { url: review.reviewUrl ?? review.url, isNew: false, movedCount: 0 };
  let target: Target;
  let request: ReviewRequest;
  try {
    target = await findTarget(context, session, review.repositoryId);
    refuseReadOnlyOrganization(target);
    const { headCommit } = await target.pullRequests.get(target.path, review.number);
    const diff = await diffOf(target.pullRequests, target.path, review.number);
    const { commit } = review;
    const requester = requesterOf(context, session);
    const harmless = await withInertTexts(submission, session);
    request = composeReview(harmless, { requester, commit, isOutdated: headCommit !== commit, diff });
  } catch (error) {
    throw isForgeError(error) ? forgeFailure(error) : error;
  }
  const { id: sessionId, organizationId } = session;
  const claimed = await context.store.transact(async (tx) => {
    const data = { repository: target.path, number: review.number, comments: submission.comments.length };
    await audit(context, tx, 'submit_review', { organizationId, sessionId, targetId: sessionId, data });
    return await claimReview(context, tx, review, request);
  });
  try {
    const posted = await postReview(context, claimed, target);
    return { ...posted, isNew: true, movedCount: submission.comments.length - posted.commentCount };
  } catch (error) {
    if (!isForgeError(error)) throw error;
    if (isTemporary(error)) {
      await postponeReview(context, sessionId);
      throw forgeFailure(error, 'The forge gave no clear answer. The service tries again automatically.');
    }
    await context.store.transact((tx) => endReview(tx, sessionId, null));
    throw forgeFailure(error);
  }
}

async function withInertTexts(
  { body, comments }: Submission,
  { organizationId }: PullRequestSession,
): Promise<SubmittedReview> {
  const [head = '', ...rest] = await inertTexts([body, ...comments.map((each) => each.body)], { organizationId });
  return { body: head, comments: comments.map((each, n) => ({ ...each, body: rest[n] ?? '' })) };
}

// Without the diff, the forge says which lines it refuses.
async function diffOf(pullRequests: PullRequests, path: string, number: number) {
  return await pullRequests.diff(path, number).catch((error: unknown) => {
    if (isForgeError(error, 'CREDENTIAL_REFUSED', 'RATE_LIMITED', 'UNREACHABLE')) throw error;
    if (isForgeError(error)) return null;
    throw error;
  });
}
