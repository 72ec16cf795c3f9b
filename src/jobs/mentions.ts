import type { Services } from '../domain/context.ts';
import { type ClaimedMention, claimMentions, nextMentionAt } from '../domain/mentions/claim-mentions.ts';
import { processMention } from '../domain/mentions/process-mention.ts';
import { createClaimedWork } from './claimed-work.ts';
import type { Scheduled } from './retention.ts';

/** Maximum number of concurrent mentions of one process. */
const maxInFlight = 4;

/** Sends the mentions of the service at forges to sessions. Any number of processes may do it at once. */
export function createMentions(services: Services): Scheduled {
  const { notifier, log, now } = services;
  let isOver = false;
  const mentions = createClaimedWork<ClaimedMention>({
    maxInFlight,
    now,
    isStopped: () => isOver,
    claim: (room) => claimMentions(services, room),
    nextDueAt: () => nextMentionAt(services),
    onClaimFailed: (err) => log.warn({ err }, 'Mentions could not be processed.'),
    async run(claimed) {
      try {
        await processMention(services, claimed);
      } catch (error) {
        log.warn({ err: error, mentionId: claimed.id }, 'A mention of the service could not be processed.');
      }
    },
  });
  let unsubscribe: () => void = () => undefined;
  return {
    start() {
      unsubscribe = notifier.subscribe('forge-events', mentions.poll);
      mentions.poll();
    },
    async stop() {
      isOver = true;
      unsubscribe();
      await mentions.stop(() => services.forges.close());
    },
  };
}
