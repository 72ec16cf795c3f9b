import { nextDueAt, startDueRuns } from '../domain/automations/runs/start-due-runs.ts';
import { type Pauses, startQueuedRuns } from '../domain/automations/runs/start-queued-runs.ts';
import type { Services } from '../domain/context.ts';
import { createPoller } from './poller.ts';
import type { Scheduled } from './retention.ts';

/** Maximum time between two polls, because a notification may be missed and a clock may be set forward. */
const maxWaitMs = 30_000;
/** Minimum time between two polls. Another process may have claimed a due run, and may crash. */
const minWaitMs = 250;
/** Interval of the polls for queued runs without a notification, and after an error. */
const queueWaitMs = 5_000;
/** Number of concurrent transactions. The embedded database has one connection. */
const concurrency = { pglite: 1, postgres: 3 } as const;
/**
 * Maximum number of organizations whose ending sessions trigger a poll. The queued runs of other organizations wait for
 * the interval.
 */
const maxSubscriptions = 1_000;

type Topic = Parameters<Services['notifier']['subscribe']>[0];

/** Starts the runs of automations that are due, and starts queued runs when others end. */
export function createDueAutomations(services: Services): Scheduled {
  const { notifier, log, store } = services;
  const due = createPoller(async (isStopped) => {
    try {
      const each = Array.from({ length: concurrency[store.dialect] }, () => startDueRuns(services, isStopped));
      // Wait for all of them, so that none continues after a stop.
      for (const result of await Promise.allSettled(each)) if (result.status === 'rejected') throw result.reason;
      const next = await nextDueAt(services);
      if (next === null) return maxWaitMs;
      return Math.max(minWaitMs, Math.min(maxWaitMs, next.getTime() - services.now().getTime()));
    } catch (error) {
      log.warn({ err: error }, 'Due automations could not be started.');
      return queueWaitMs;
    }
  });
  const subscriptions = new Map<Topic, () => void>();
  const pauses: Pauses = new Map();
  const queue = createPoller(async (isStopped) => {
    try {
      const waiting = await startQueuedRuns(services, pauses, isStopped);
      const isNew = subscribeTo([...waiting].slice(0, maxSubscriptions).map((id) => `organization:${id}` as const));
      // A session may have ended before the subscription existed.
      if (isNew) return 0;
      return waiting.size === 0 ? maxWaitMs : queueWaitMs;
    } catch (error) {
      log.warn({ err: error }, 'Queued automation runs could not be started.');
      return queueWaitMs;
    }
  });

  const subscribeTo = (topics: readonly Topic[]): boolean => {
    const wanted = new Set(topics);
    for (const [topic, unsubscribe] of subscriptions) {
      if (wanted.has(topic)) continue;
      unsubscribe();
      subscriptions.delete(topic);
    }
    const added = topics.filter((topic) => !subscriptions.has(topic));
    for (const topic of added) subscriptions.set(topic, notifier.subscribe(topic, queue.poll));
    return added.length > 0;
  };

  let unsubscribe: () => void = () => undefined;
  return {
    start() {
      unsubscribe = notifier.subscribe('automations', () => {
        due.poll();
        queue.poll();
      });
      due.poll();
      queue.poll();
    },
    async stop() {
      unsubscribe();
      await Promise.all([due.stop(), queue.stop()]);
      subscribeTo([]);
    },
  };
}
