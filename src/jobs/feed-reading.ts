import type { Services } from '../domain/context.ts';
import { type FeedConsumer, type FeedCursor, listFeeds } from '../domain/feeds/feeds.ts';
import { repeated, type Scheduled } from './retention.ts';

/** Interval of the reads that make up for missed notifications. */
const catchUpMs = 5_000;

/** A consumer of the change feed and its purpose. */
export interface FeedReading {
  readonly consumer: FeedConsumer;
  /** Notified when the set of organizations to follow changes. */
  readonly topic: 'webhooks' | 'automations';
  /** For the log: "… could not be looked through for webhooks". */
  readonly purpose: string;
  /** Reads some of an organization's changes after a cursor. Returns the cursor from which to continue at once. */
  readonly read: (organizationId: string, from: FeedCursor | null) => Promise<FeedCursor | null>;
}

/** Reads the logs of the organizations with consumers, after each notification. Any number of processes may do this. */
export function createFeedReading(services: Services, { consumer, topic, purpose, read }: FeedReading): Scheduled {
  const subscriptions = new Map<string, () => void>();
  const pending = new Set<string>();
  let isOver = false;
  let running: Promise<void> | null = null;
  let unsubscribe: () => void = () => undefined;

  const warn = (error: unknown) =>
    services.log.warn({ err: error }, `The changes of sessions could not be looked through for ${purpose}.`);
  const readAll = async () => {
    for (;;) {
      const [organizationId] = pending;
      if (organizationId === undefined || isOver) return;
      // Delete before the read: a notification during the read must cause another read.
      pending.delete(organizationId);
      let next: FeedCursor | null = null;
      do {
        next = await read(organizationId, next);
      } while (next !== null && !isOver);
    }
  };
  const start = () => {
    if (isOver) return;
    running ??= readAll()
      .catch(warn)
      .finally(() => {
        running = null;
        if (pending.size > 0) start();
      });
  };
  const enqueue = (organizationId: string) => {
    pending.add(organizationId);
    start();
  };
  // Follows exactly the organizations with consumers. Reads those that have changed.
  const followAll = async () => {
    if (isOver) return;
    const feeds = await listFeeds(services, consumer);
    if (isOver) return;
    const wanted = new Set(feeds.map(({ organizationId }) => organizationId));
    for (const [id, unfollow] of subscriptions) {
      if (wanted.has(id)) continue;
      unfollow();
      subscriptions.delete(id);
    }
    for (const { organizationId: id, isBehind } of feeds) {
      if (!subscriptions.has(id)) {
        subscriptions.set(
          id,
          services.notifier.subscribe(`organization:${id}`, () => enqueue(id)),
        );
      }
      if (isBehind) enqueue(id);
    }
  };
  const catchUp = repeated(catchUpMs, () => followAll().catch(warn));

  return {
    start() {
      unsubscribe = services.notifier.subscribe(topic, () => void followAll().catch(warn));
      catchUp.start();
    },
    async stop() {
      isOver = true;
      unsubscribe();
      await catchUp.stop();
      for (const unfollow of subscriptions.values()) unfollow();
      subscriptions.clear();
      await running;
    },
  };
}
