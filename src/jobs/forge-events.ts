import { nextForgeEventAt, processForgeEvents } from '../domain/automations/triggers/process-forge-events.ts';
import type { Services } from '../domain/context.ts';
import { createPoller } from './poller.ts';
import type { Scheduled } from './retention.ts';

/** Maximum time between two polls, because a notification may be missed. */
const maxWaitMs = 5_000;
/** Minimum time between two polls: another process may have an event that is due, and may crash. */
const minWaitMs = 250;

/** Starts the runs of automations on events of forges. Any number of processes may do it at once. */
export function createForgeEvents(services: Services): Scheduled {
  const { notifier, log, now } = services;
  const events = createPoller(async (isStopped) => {
    try {
      await processForgeEvents(services, isStopped);
      const next = await nextForgeEventAt(services);
      return next === null ? maxWaitMs : Math.max(minWaitMs, Math.min(maxWaitMs, next.getTime() - now().getTime()));
    } catch (error) {
      log.warn({ err: error }, 'The events of forges for automations could not be processed.');
      return maxWaitMs;
    }
  });
  let unsubscribe: () => void = () => undefined;
  return {
    start() {
      unsubscribe = notifier.subscribe('forge-events', events.poll);
      events.poll();
    },
    async stop() {
      unsubscribe();
      await events.stop();
    },
  };
}
