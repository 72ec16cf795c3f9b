import { DomainError } from '../../common/errors.ts';
import type { Transaction } from '../../store/store.ts';
import type { Services } from '../context.ts';
import type { ReviewRequest, SessionReview } from './reviews.ts';

/** Duration of a claim: longer than the requests to the forge take. */
const leaseMs = 10 * 60_000;
/** Time until the next attempt after a failure. */
const retryMs = 60_000;
/** Number of attempts after which a review is given up. */
const maxAttempts = 5;

/** A review that this process posts. */
export interface ClaimedReview {
  readonly review: Pick<SessionReview, 'sessionId' | 'repositoryId' | 'number' | 'url'>;
  readonly request: ReviewRequest;
  /** From 1. An earlier attempt may have reached the forge. */
  readonly attemptCount: number;
}

/** A review that another process left, with its tenant. Ids are unprefixed. */
export interface LeftReview extends ClaimedReview {
  readonly organizationId: string;
  readonly enterpriseId: string;
}

/** Writes a review down before the forge is asked. Throws INVALID_STATE if it is posted, or is being posted. */
export async function claimReview(
  { now }: Pick<Services, 'now'>,
  tx: Transaction,
  review: SessionReview,
  request: ReviewRequest,
): Promise<ClaimedReview> {
  const rows = await tx.query(
    `update session_review v set request = $2::jsonb, claimed_until_at = $3::timestamptz, attempt_count = 1
      where v.session_id = $1 and v.submitted_at is null and v.claimed_until_at is null returning 1 as claimed`,
    [review.sessionId, JSON.stringify(request), new Date(now().getTime() + leaseMs)],
  );
  if (rows.length > 0) return { review, request, attemptCount: 1 };
  const message = 'The review was submitted before, and the service is posting it.';
  throw new DomainError('INVALID_STATE', message);
}

/** Claims reviews whose process ended, or whose forge failed. */
export async function claimLeftReviews({ store, now }: Services, limit: number): Promise<LeftReview[]> {
  const at = now();
  const rows = await store.execute<LeftReview['review'] & Omit<LeftReview, 'review'>>(
    `update session_review v set claimed_until_at = $2::timestamptz, attempt_count = v.attempt_count + 1
       from organization o
      where v.session_id in (select d.session_id from session_review d where d.claimed_until_at <= $1::timestamptz
                              order by d.claimed_until_at limit $3::int for update skip locked)
        and o.id = v.organization_id
     returning v.session_id as "sessionId", v.repository_id as "repositoryId", v.number, v.url, v.request,
               v.attempt_count as "attemptCount", o.id as "organizationId", o.enterprise_id as "enterpriseId"`,
    [at, new Date(at.getTime() + leaseMs), limit],
  );
  return rows.map(({ sessionId, repositoryId, number, url, ...rest }) => {
    return { review: { sessionId, repositoryId, number, url }, ...rest };
  });
}

/** Tells if a review has had its last attempt. */
export const isLastAttempt = ({ attemptCount }: ClaimedReview): boolean => attemptCount >= maxAttempts;

/** Leaves a review for a later attempt of any process. */
export async function postponeReview(
  { store, now }: Pick<Services, 'store' | 'now'>,
  sessionId: string,
): Promise<void> {
  await store.execute(
    `update session_review set claimed_until_at = $2::timestamptz
      where session_id = $1 and submitted_at is null returning session_id`,
    [sessionId, new Date(now().getTime() + retryMs)],
  );
}

/** Ends a claim. `posted`: the forge has the review; null: it refused it, and the agent may submit another one. */
export async function endReview(
  tx: Transaction,
  sessionId: string,
  posted: { readonly url: string | null; readonly at: Date } | null,
): Promise<void> {
  await tx.query(
    `update session_review set claimed_until_at = null, submitted_at = $2::timestamptz, review_url = $3,
            request = case when $2::timestamptz is null then null else request end
      where session_id = $1 and submitted_at is null`,
    [sessionId, posted?.at ?? null, posted?.url ?? null],
  );
}
