import type { Services } from '../domain/context.ts';
import { type FeedPlace, type FeedReader, listFeeds } from '../domain/feeds/feeds.ts';
import { repeated, type Scheduled } from './retention.ts';

/** How often what a lost ring was for is looked for. */
const catchUpMs = 5_000;

/** Who reads, and what for. */
export interface Reading {
  readonly reader: FeedReader;
  /** Rung when other organizations, or others of them, want to hear. */
  readonly topic: 'webhooks' | 'automations';
  /** For the log: "… could not be looked through for webhooks". */
  readonly purpose: string;
  /** Reads some of an organization's changes from a place; gives where to go on at once. */
  readonly read: (organizationId: string, from: FeedPlace | null) => Promise<FeedPlace | null>;
}

/** Reads the logs of the organizations in which somebody wants to hear, as the bell says. Any number of processes may do it. */
export function createFeedReading(services: Services, { reader, topic, purpose, read }: Reading): Scheduled {
  const followed = new Map<string, () => void>();
  const rung = new Set<string>();
  let isOver = false;
  let running: Promise<void> | null = null;
  let silence: () => void = () => undefined;

  const warn = (error: unknown) =>
    services.log.warn({ err: error }, `The changes of sessions could not be looked through for ${purpose}.`);
  const readAll = async () => {
    for (;;) {
      const [organizationId] = rung;
      if (organizationId === undefined || isOver) return;
      // Before it is read: a ring during the reading must cause another.
      rung.delete(organizationId);
      let next: FeedPlace | null = null;
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
        if (rung.size > 0) start();
      });
  };
  const ring = (organizationId: string) => {
    rung.add(organizationId);
    start();
  };
  // Follows every organization that wants to hear, and no other; reads those that have changed.
  const lookAtAll = async () => {
    if (isOver) return;
    const feeds = await listFeeds(services, reader);
    if (isOver) return;
    const wanted = new Set(feeds.map(({ organizationId }) => organizationId));
    for (const [id, ignore] of followed) {
      if (wanted.has(id)) continue;
      ignore();
      followed.delete(id);
    }
    for (const { organizationId: id, isBehind } of feeds) {
      if (!followed.has(id)) {
        followed.set(
          id,
          services.bell.on(`organization:${id}`, () => ring(id)),
        );
      }
      if (isBehind) ring(id);
    }
  };
  const look = repeated(catchUpMs, () => lookAtAll().catch(warn));

  return {
    start() {
      silence = services.bell.on(topic, () => void lookAtAll().catch(warn));
      look.start();
    },
    async stop() {
      isOver = true;
      silence();
      await look.stop();
      for (const ignore of followed.values()) ignore();
      followed.clear();
      await running;
    },
  };
}
