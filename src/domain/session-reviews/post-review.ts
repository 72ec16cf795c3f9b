import { ForgeError, isForgeError } from '../../forges/interface/errors.ts';
import type { PullRequestComment, PullRequests } from '../../forges/interface/pull-requests.ts';
import type { Context } from '../context.ts';
import { followPullRequest } from '../followed-pull-requests/follow.ts';
import { noticeSession } from '../open-pull-requests/notices.ts';
import type { Target } from '../open-pull-requests/target.ts';
import { lockSession } from '../sessions/change-session.ts';
import { type ClaimedReview, endReview } from './claims.ts';
import type { ReviewLineComment, ReviewRequest } from './reviews.ts';

/** A review at the forge. */
interface PostedReview {
  /** Null: it has no page. */
  readonly url: string | null;
  /** The number of its comments on lines. */
  readonly commentCount: number;
}

/** Posts a claimed review, unless the forge has it, and writes the result. Safe to repeat. Throws ForgeError. */
export async function postReview(
  context: Context,
  { review, request, attemptCount }: ClaimedReview,
  { path, pullRequests, gitConnectionId }: Target,
): Promise<{ readonly url: string; readonly commentCount: number }> {
  const { number, sessionId, repositoryId } = review;
  const { url: pageUrl, commentCount } = await (attemptCount > 1
    ? postAgain(pullRequests, path, number, request)
    : submit(pullRequests, path, number, request));
  const url = pageUrl ?? review.url;
  await context.store.transact(async (tx) => {
    const session = await lockSession(tx, sessionId, null);
    await endReview(tx, sessionId, { url: pageUrl, at: context.now() });
    await noticeSession(context, tx, session, `The agent posted its review: ${url}`);
    await followPullRequest(context, tx, {
      ...{ sessionId, repositoryId, gitConnectionId, path, number, url: review.url },
    });
  });
  return { url, commentCount };
}

/** Submits a review. If the forge refuses it as it is, all comments are in the body, and the review is of the current head. */
async function submit(
  pullRequests: PullRequests,
  path: string,
  number: number,
  { body, comments, commit, wholeBody }: ReviewRequest,
): Promise<PostedReview> {
  const state = 'commented';
  try {
    const { url } = await pullRequests.submitReview(path, number, { body, state, commit, comments });
    return { url, commentCount: comments.length };
  } catch (error) {
    if (!isForgeError(error, 'REJECTED')) throw error;
    const { headCommit } = await pullRequests.get(path, number);
    if (headCommit === null || (comments.length === 0 && headCommit === commit)) throw error;
    const { url } = await pullRequests.submitReview(path, number, { body: wholeBody, state, commit: headCommit });
    return { url, commentCount: 0 };
  }
}

// GitLab has a review as comments of its own, of which a part may be there.
async function postAgain(
  pullRequests: PullRequests,
  path: string,
  number: number,
  request: ReviewRequest,
): Promise<PostedReview> {
  const [mark = ''] = request.body.split('\n', 1);
  const status = await pullRequests.read(path, number);
  const page = await pullRequests.comments(path, number);
  const isOwn = ({ body }: { readonly body: string }) => body.startsWith(mark);
  const found = status?.reviews.find(isOwn) ?? page.comments.find((each) => each.location === null && isOwn(each));
  if (found) return { url: found.url, commentCount: request.comments.length };
  if (page.isTruncated || status?.isTruncated) {
    const message = 'The pull request has too many reviews and comments to tell if the review was posted.';
    throw new ForgeError('REJECTED', message);
  }
  const missing = request.comments.filter((comment) => !page.comments.some((each) => isSame(each, comment)));
  return await submit(pullRequests, path, number, { ...request, comments: missing });
}

// Forges may escape characters and trim lines.
const bare = (text: string) => text.replaceAll(/[\s\\]+/g, '');

const isSame = ({ location, body }: PullRequestComment, comment: ReviewLineComment): boolean =>
  location?.path === comment.path &&
  location.line === comment.line &&
  location.side === comment.side &&
  bare(body) === bare(comment.body);
