import type { Services } from '../domain/context.ts';
import { followRead } from '../domain/follow-ups/follow-read.ts';
import { nextFollowUpAt, settleDueFollowUps } from '../domain/follow-ups/settle-due.ts';
import { type ClaimedRead, claimReads, nextReadAt } from '../domain/followed-pull-requests/claim-reads.ts';
import { readFollowed } from '../domain/followed-pull-requests/read-pull-request.ts';
import { nextGitDeliveryAt, processGitDeliveries } from '../domain/git-deliveries/process-deliveries.ts';
import { resumeIntents } from '../domain/open-pull-requests/resume-intents.ts';
import { resumeReviews } from '../domain/session-reviews/resume-reviews.ts';
import { createClaimedWork, createCount } from './claimed-work.ts';
import { createPoller } from './poller.ts';
import type { Scheduled } from './retention.ts';

/** Maximum number of concurrent reads of one process. */
const maxInFlight = 16;
/** Maximum time between two looks for deliveries: a notification may be missed. */
const maxWaitMs = 5_000;
const minWaitMs = 100;

/**
 * Follows the pull requests of sessions: processes the webhooks of forges, and reads the pull requests that an event or the
 * time asks for. Any number of processes may do it at once.
 */
export function createPullRequests(services: Services): Scheduled {
  const { notifier, log, now } = services;
  let isOver = false;
  const busy = createCount();
  const reads = createClaimedWork<ClaimedRead>({
    maxInFlight,
    now,
    isStopped: () => isOver,
    claim: (room) => claimReads(services, busy.of, room),
    nextDueAt: () => nextReadAt(services, busy.of),
    onClaimFailed: (err) => log.warn({ err }, 'Pull requests could not be checked.'),
    async run(claimed) {
      busy.add(claimed.gitConnectionId, 1);
      try {
        await readFollowed(
          services,
          claimed,
          (read) => followRead(services, read),
          () => isOver,
        );
      } catch (error) {
        log.warn({ err: error, followedPullRequestId: claimed.id }, 'A pull request could not be read.');
      } finally {
        busy.add(claimed.gitConnectionId, -1);
      }
    },
  });
  const deliveries = createPoller(async (isStopped) => {
    try {
      if ((await processGitDeliveries(services, isStopped)) > 0) reads.poll();
      const next = await nextGitDeliveryAt(services);
      return next === null ? maxWaitMs : Math.max(minWaitMs, Math.min(maxWaitMs, next.getTime() - now().getTime()));
    } catch (error) {
      log.warn({ err: error }, 'The webhooks of forges could not be processed.');
      return maxWaitMs;
    }
  });
  const intents = createPoller(async (isStopped) => {
    try {
      await resumeIntents(services, isStopped);
    } catch (error) {
      log.warn({ err: error }, 'Pending pull requests could not be opened.');
    }
    try {
      await resumeReviews(services, isStopped);
    } catch (error) {
      log.warn({ err: error }, 'Pending reviews could not be posted.');
    }
    return maxWaitMs;
  });
  const followUps = createPoller(async (isStopped) => {
    try {
      while ((await settleDueFollowUps(services, isStopped)) && !isStopped());
      const next = await nextFollowUpAt(services);
      return next === null ? maxWaitMs : Math.max(minWaitMs, Math.min(maxWaitMs, next.getTime() - now().getTime()));
    } catch (error) {
      log.warn({ err: error }, 'The follow-ups of pull requests could not be sent.');
      return maxWaitMs;
    }
  });
  let unsubscribes: (() => void)[] = [];
  return {
    start() {
      unsubscribes = [
        notifier.subscribe('git-deliveries', deliveries.poll),
        notifier.subscribe('pull-requests', reads.poll),
        notifier.subscribe('follow-ups', followUps.poll),
      ];
      intents.poll();
      followUps.poll();
      deliveries.poll();
      reads.poll();
    },
    async stop() {
      isOver = true;
      for (const unsubscribe of unsubscribes) unsubscribe();
      await Promise.all([
        intents.stop(),
        followUps.stop(),
        deliveries.stop(),
        reads.stop(() => services.forges.close()),
      ]);
    },
  };
}
