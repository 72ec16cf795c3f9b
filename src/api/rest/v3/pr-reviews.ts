import { z } from '@hono/zod-openapi';
import { prefixedId } from '../../../domain/ids.ts';
import { findReviewOf } from '../../../domain/session-reviews/find-review.ts';
import { reviewStates, type SessionReview } from '../../../domain/session-reviews/reviews.ts';
import { reviewPullRequest } from '../../../domain/session-reviews/start-review.ts';
import { textParam } from '../query.ts';
import type { VersionApi } from '../version-api.ts';

const path = '/v3/organizations/{org_id}/pr-reviews';

const reviewRequest = z
  .object({ pr_url: z.string().openapi({ description: 'The URL of the pull request.' }) })
  .openapi('PrReviewCreateRequest');

const reviewResponse = z
  .object({
    // Times of reviews are ISO texts, unlike those of other resources.
    created_at: z.string().openapi({ format: 'date-time' }),
    commit_sha: z.string(),
    pr_number: z.int(),
    repo_path: z.string().openapi({ description: 'The host and the path of the repository.' }),
    status: z.enum(reviewStates),
    session_id: z.string().openapi({ description: 'The session that makes the review. A member of Switchyard.' }),
  })
  .openapi('PrReviewResponse');

const present = (review: SessionReview): z.input<typeof reviewResponse> => ({
  commit_sha: review.commit,
  created_at: review.createdAt.toISOString(),
  pr_number: review.number,
  repo_path: `${review.host}/${review.path}`,
  status: review.state,
  session_id: prefixedId('session', review.sessionId),
});

/** `…/pr-reviews`: reviews of pull requests, each of which a session makes. */
export function servePrReviews(api: VersionApi): void {
  api.serve(
    {
      method: 'post',
      paths: [path],
      name: 'createPrReview',
      summary: 'Start a session that reviews a pull request',
      body: reviewRequest,
      answer: reviewResponse,
      refusals: [400, 403, 404, 409, 413, 422],
      takesIdempotencyKey: true,
    },
    async ({ context, body, param, idempotencyKey }) => {
      const options = { organizationId: param('org_id'), origin: 'api', idempotencyKey } as const;
      const { review } = await reviewPullRequest(context, { pullRequestUrl: body.pr_url }, options);
      return present(review);
    },
  );

  api.serve(
    {
      method: 'get',
      paths: [path],
      name: 'getPrReviewStatus',
      summary: 'Get the newest review of a commit of a pull request',
      query: z.object({
        pr_url: textParam('pr_url', { description: 'The URL of the pull request. Required.' }),
        commit_sha: textParam('commit_sha', {
          description:
            'The reviewed commit, or its first 7 or more characters. The head of the pull request if omitted.',
        }),
      }),
      answer: reviewResponse,
      refusals: [400, 403, 404, 409, 422],
    },
    async ({ context, query, param }) =>
      present(
        await findReviewOf(context, {
          organizationId: param('org_id'),
          pullRequestUrl: query.pr_url ?? '',
          commitSha: query.commit_sha ?? null,
        }),
      ),
  );
}
