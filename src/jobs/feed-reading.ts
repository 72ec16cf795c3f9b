import type { Services } from '../domain/context.ts';
import { type FeedConsumer, type FeedCursor, listFeeds } from '../domain/feeds/feeds.ts';
import { repeated, type Scheduled } from './retention.ts';

/** How often what a lost ring was for is looked for. */
const catchUpMs = 5_000;

/** Who reads, and what for. */
export interface FeedReading {
  readonly consumer: FeedConsumer;
  /** Rung when other organizations, or others of them, want to hear. */
  readonly topic: 'webhooks' | 'automations';
  /** For the log: "… could not be looked through for webhooks". */
  readonly purpose: string;
  /** Reads some of an organization's changes from a place; gives where to go on at once. */
  readonly read: (organizationId: string, from: FeedCursor | null) => Promise<FeedCursor | null>;
}

/** Reads the logs of the organizations in which somebody wants to hear, as the bell says. Any number of processes may do it. */
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
      // Before it is read: a ring during the reading must cause another.
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
  // Follows every organization that wants to hear, and no other; reads those that have changed.
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
