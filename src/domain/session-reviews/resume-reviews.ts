import { DomainError } from '../../common/errors.ts';
import { plainLine } from '../../common/plain-text.ts';
import { isForgeError } from '../../forges/interface/errors.ts';
import type { Services } from '../context.ts';
import { isTemporary } from '../open-pull-requests/failures.ts';
import { noticeSession } from '../open-pull-requests/notices.ts';
import { findTarget, refuseReadOnlyOrganization } from '../open-pull-requests/target.ts';
import { asSystem } from '../sessions/as-system.ts';
import { lockSession } from '../sessions/change-session.ts';
import { claimLeftReviews, endReview, isLastAttempt, type LeftReview, postponeReview } from './claims.ts';
import { postReview } from './post-review.ts';

/** Maximum number of reviews of one round. */
const batchSize = 10;

/** Posts or clears the reviews that a process left behind. Any number of processes may do it at once. */
export async function resumeReviews(services: Services, isStopped: () => boolean = () => false): Promise<void> {
  for (const left of await claimLeftReviews(services, batchSize)) {
    if (isStopped()) return;
    await resume(services, left);
  }
}

async function resume(services: Services, left: LeftReview): Promise<void> {
  const { review, organizationId } = left;
  const { sessionId, repositoryId, url } = review;
  const context = asSystem(services, left.enterpriseId);
  try {
    const target = await findTarget(services, { id: sessionId, organizationId }, repositoryId);
    refuseReadOnlyOrganization(target);
    await postReview(context, left, target);
  } catch (error) {
    if (isForgeError(error) && isTemporary(error) && !isLastAttempt(left))
      return await postponeReview(services, sessionId);
    if (!isForgeError(error) && !(error instanceof DomainError)) throw error;
    await services.store.transact(async (tx) => {
      const session = await lockSession(tx, sessionId, null);
      await endReview(tx, sessionId, null);
      const sentence = `The review of ${url} could not be posted: ${plainLine(error.message, 1_000)}`;
      await noticeSession(context, tx, session, sentence);
    });
  }
}
