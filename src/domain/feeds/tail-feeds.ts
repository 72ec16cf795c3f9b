import type { Batch, LogSource, TailedLog } from '../../realtime/log-source.ts';
import type { Tail } from '../../realtime/tail.ts';
import { createTailer } from '../../realtime/tailer.ts';
import type { TransactionCursor } from '../../realtime/transaction-cursor.ts';
import type { Services } from '../context.ts';
import { isOutage } from '../unavailable.ts';
import { type FeedConsumer, listFeeds } from './feeds.ts';

/** A consumer, and how it reads. */
export interface FeedReading {
  readonly consumer: FeedConsumer;
  /** Reads some of an organization's changes after a cursor; null: the stored one. Returns where to continue at once, or null. */
  readonly read: (organizationId: string, from: TransactionCursor | null) => Promise<TransactionCursor | null>;
  /** Called with the error of a read that is not repeated before the next notification. */
  readonly onError: (error: unknown) => void;
}

/** The feeds of one consumer that this process tails. */
export interface FeedTails {
  /** Tails the feed of every organization in which the consumer has work, and no other; reads those that are behind. */
  refresh(): Promise<void>;
  /** Resolves when no read is under way. */
  stop(): Promise<void>;
}

/** The changes of an organization's sessions. The cursor is stored by the read; it is null except between reads. */
interface Feed extends TailedLog {
  readonly organizationId: string;
}

/** Tails the feeds of a consumer, one read at a time. Any number of processes may do it: the lock of a feed decides. */
export function tailFeeds(services: Services, { consumer, read, onError }: FeedReading): FeedTails {
  const { notifier, log } = services;
  const tailer = createTailer({ notifier, log, isOutage, settled: () => null });
  const tails = new Map<string, Tail<TransactionCursor | null>>();
  let isOver = false;
  const source: LogSource<Feed, TransactionCursor | null, Batch<TransactionCursor | null>> = {
    limits: { first: 1, max: 1 },
    maxRequests: 1,
    maxReads: 1,
    stuckMs: null,
    // `refresh` finds the organizations that are behind, and those that are new.
    check: null,
    cursorKey: (cursor) => (cursor === null ? '' : `${cursor.xid}|${cursor.id}`),
    groupKey: ({ key }) => key,
    gapMs: () => 0,
    async read(requests) {
      const batches = [];
      for (const { log: feed, cursor } of requests) {
        const next = isOver ? null : await read(feed.organizationId, cursor);
        batches.push({ items: [], cursor: next, hasMore: next !== null });
      }
      return batches;
    },
  };
  const open = (organizationId: string) => {
    const feed: Feed = { key: organizationId, topics: [`organization:${organizationId}`], organizationId };
    const tail = tailer.tail(
      source,
      { log: feed, cursor: null, isIdle: true },
      {
        mayTake: () => !isOver,
        take: ({ cursor }) => tail.advance(cursor),
        end: () => tails.delete(organizationId),
        fail(error) {
          onError(error);
          if (!isOver && tails.get(organizationId) === tail) open(organizationId);
        },
      },
    );
    tails.set(organizationId, tail);
    return tail;
  };
  return {
    async refresh() {
      if (isOver) return;
      const feeds = await listFeeds(services, consumer);
      if (isOver) return;
      const wanted = new Set(feeds.map(({ organizationId }) => organizationId));
      for (const [id, tail] of tails) {
        if (wanted.has(id)) continue;
        tail.stop();
        tails.delete(id);
      }
      for (const { organizationId, isBehind } of feeds) {
        const tail = tails.get(organizationId) ?? open(organizationId);
        if (isBehind) tail.wake();
      }
    },
    async stop() {
      isOver = true;
      for (const tail of tails.values()) tail.stop();
      tails.clear();
      await tailer.stop();
    },
  };
}
