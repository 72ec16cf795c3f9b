import { fireDueAutomations, nextDueAt } from '../domain/automations/claim-due.ts';
import { type Pauses, startQueuedRuns } from '../domain/automations/queued-runs.ts';
import type { Services } from '../domain/context.ts';
import type { Scheduled } from './retention.ts';

/** A ring may be lost, and a clock may be set forward: so long after the last look there is another. */
const mostWaitMs = 30_000;
/** What is due and was not claimed is in another process's hands, which may die. */
const leastWaitMs = 250;
/** How often runs that wait are looked at without a ring, and after an error. */
const queueWaitMs = 5_000;
/** Transactions at once: the embedded database has one connection. */
const lanes = { pglite: 1, postgres: 3 } as const;
/** Of so many organizations the ends of sessions are listened to; the others' waiting runs are looked at now and then. */
const mostListened = 1_000;

type Topic = Parameters<Services['bell']['on']>[0];

/** Fires automations when they are due, and starts runs that wait when others end. */
export function createDueAutomations(services: Services): Scheduled {
  const { bell, log, store } = services;
  const due = createLooker(async (isStopped) => {
    try {
      const each = Array.from({ length: lanes[store.dialect] }, () => fireDueAutomations(services, isStopped));
      // All of them must have come to an end, or they would go on after a stop.
      for (const lane of await Promise.allSettled(each)) if (lane.status === 'rejected') throw lane.reason;
      const next = await nextDueAt(services);
      if (next === null) return mostWaitMs;
      return Math.max(leastWaitMs, Math.min(mostWaitMs, next.getTime() - services.now().getTime()));
    } catch (error) {
      log.warn({ err: error }, 'The automations that are due could not be fired.');
      return queueWaitMs;
    }
  });
  const listened = new Map<Topic, () => void>();
  const pauses: Pauses = new Map();
  const queue = createLooker(async (isStopped) => {
    try {
      const waiting = await startQueuedRuns(services, pauses, isStopped);
      const isNew = listenTo([...waiting].slice(0, mostListened).map((id) => `organization:${id}` as const));
      // A session may have ended before it was listened to.
      if (isNew) return 0;
      return waiting.size === 0 ? mostWaitMs : queueWaitMs;
    } catch (error) {
      log.warn({ err: error }, 'The runs of automations that wait could not be started.');
      return queueWaitMs;
    }
  });

  const listenTo = (topics: readonly Topic[]): boolean => {
    const wanted = new Set(topics);
    for (const [topic, silence] of listened) {
      if (wanted.has(topic)) continue;
      silence();
      listened.delete(topic);
    }
    const added = topics.filter((topic) => !listened.has(topic));
    for (const topic of added) listened.set(topic, bell.on(topic, queue.look));
    return added.length > 0;
  };

  let silence: () => void = () => undefined;
  return {
    start() {
      silence = bell.on('automations', () => {
        due.look();
        queue.look();
      });
      due.look();
      queue.look();
    },
    async stop() {
      silence();
      await Promise.all([due.stop(), queue.stop()]);
      listenTo([]);
    },
  };
}

interface Looker {
  /** Looks now, or once more after the look that is going on. */
  look(): void;
  stop(): Promise<void>;
}

/** Looks when it is told to, one look at a time, and again after as many ms as the last look said. `run` never rejects. */
function createLooker(run: (isStopped: () => boolean) => Promise<number>): Looker {
  let timer: NodeJS.Timeout | null = null;
  let running: Promise<void> | null = null;
  let isAgain = false;
  let isStopped = false;
  const lookOn = async () => {
    let waitMs = 0;
    do {
      isAgain = false;
      waitMs = await run(() => isStopped);
    } while (isAgain && !isStopped);
    if (!isStopped) timer = setTimeout(look, waitMs).unref();
  };
  const look = () => {
    isAgain = true;
    if (isStopped || running !== null) return;
    if (timer) clearTimeout(timer);
    running = lookOn().finally(() => {
      running = null;
      if (isAgain) look();
    });
  };
  return {
    look,
    async stop() {
      isStopped = true;
      if (timer) clearTimeout(timer);
      await running;
    },
  };
}
