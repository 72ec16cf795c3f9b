import { permissionFor } from '../../auth/permissions.ts';
import { holds, type Viewer } from '../../auth/viewer.ts';
import type { Services } from '../context.ts';
import { isOutage } from '../unavailable.ts';
import type { LogEntry } from './log.ts';
import { batchSizes, upTo } from './log-batches.ts';
import { type LogPlace, type PlaceRead, readLogsAt } from './read-logs-at.ts';
import type { WatchStart } from './start-watch.ts';

/** What one read brought to all who waited at the same place. */
export interface LogBatch {
  readonly entries: readonly LogEntry[];
  /** For whoever takes it: what was made of it for one of them, and may serve the others. */
  readonly made: Map<object, unknown>;
}

/** Who follows a log. Nothing is thrown into it and nothing awaited of it: it says by itself when it wants more. */
export interface LogReader {
  /** Who reads, asked anew for each batch. */
  viewer(): Viewer;
  /** Takes the entries after the last ones; {@link LogFollowing.next} is to be called when that is done. Never throws. */
  take(batch: LogBatch): void;
  /** The viewer may no longer see the session, or it is gone. */
  end(): void;
  /** The log could not be read. */
  fail(error: unknown): void;
}

/** A reader's place in a log. */
export interface LogFollowing {
  /** Goes on after this number. */
  next(seq: number): void;
  /** Nothing more is to come. Safe to call twice. */
  stop(): void;
}

/**
 * The logs that are followed in this process, read for all who follow them: one statement for all sessions that were rung
 * for in the meantime, and in it, again each time, where each session belongs, from which is told who may see it.
 */
export interface LogFeeds {
  /** From the start on: each entry once and in order, for ever. */
  follow(start: WatchStart, reader: LogReader): LogFollowing;
  /** How many follow a log, and how many logs they follow. */
  count(): { readonly readers: number; readonly logs: number };
}

/** What {@link createLogFeeds} needs. `listen`: calls back on each ring of a session. `settled`: see `LiveViewers`. */
export interface LogFeedServices extends Pick<Services, 'store'> {
  readonly settled: () => Promise<void> | null;
  readonly listen: (sessionId: string, listener: () => void) => () => void;
}

/** How long after a read that failed in an outage the next one begins. */
const retryMs = 500;
/** Places read in one statement. */
const mostPlaces = 100;
/** Statements at once: the next one takes in whatever is rung for while they run. */
const mostReads = 2;

interface Feed {
  readonly sessionId: string;
  readonly followers: Set<Follower>;
  rings: number;
  stopListening: () => void;
}

/** Followers who stand at the same place and ask for the same. */
interface Waiting {
  readonly place: LogPlace;
  readonly followers: Follower[];
}

class Follower implements LogFollowing {
  readonly feed: Feed;
  readonly start: WatchStart;
  readonly reader: LogReader;
  readonly owner: Pick<FeedQueue, 'wake' | 'leave'>;
  after: number;
  limit: number = batchSizes.first;
  /** The rings that its last read has seen. */
  seen = -1;
  isBusy = false;
  hasMore = false;

  constructor(owner: Pick<FeedQueue, 'wake' | 'leave'>, feed: Feed, start: WatchStart, reader: LogReader) {
    this.owner = owner;
    this.feed = feed;
    this.start = start;
    this.reader = reader;
    this.after = start.after;
  }

  wants(): boolean {
    return !this.isBusy && (this.hasMore || this.seen !== this.feed.rings);
  }

  next(seq: number): void {
    if (!this.feed.followers.has(this)) return;
    this.after = seq;
    this.isBusy = false;
    if (this.wants()) this.owner.wake(this.feed);
  }

  stop(): void {
    this.owner.leave(this);
  }
}

interface FeedQueue {
  wake(feed: Feed): void;
  leave(follower: Follower): void;
}

/** See {@link LogFeeds}. */
export function createLogFeeds({ store, settled, listen }: LogFeedServices): LogFeeds {
  const feeds = new Map<string, Feed>();
  /** The feeds that may have somebody who wants a read. */
  const awake = new Set<Feed>();
  let readers = 0;
  let reads = 0;
  let isPlanned = false;

  const plan = () => {
    if (isPlanned || reads >= mostReads || awake.size === 0) return;
    isPlanned = true;
    // Not at once: rings come in swarms, and one statement serves them all.
    setImmediate(readAwake);
  };

  const readAwake = () => {
    isPlanned = false;
    const waiting: Waiting[] = [];
    for (const feed of awake) {
      if (waiting.length >= mostPlaces) break;
      awake.delete(feed);
      waiting.push(...gather(feed));
    }
    for (const asked of byKind(waiting)) {
      reads += 1;
      readLogsAt(
        store,
        asked.map(({ place }) => place),
      )
        .then(async (found) => {
          // After the read: permission that was lost before an entry was written must stop that entry.
          await settled();
          return found;
        })
        .then(
          (found) => {
            for (const [n, each] of asked.entries()) deliver(each, found[n] ?? null);
          },
          (error: unknown) => {
            for (const { followers } of asked) for (const follower of followers) fail(follower, error);
          },
        )
        .finally(() => {
          reads -= 1;
          plan();
        });
    }
    plan();
  };

  const fail = (follower: Follower, error: unknown) => {
    if (!follower.feed.followers.has(follower)) return;
    if (isOutage(error)) {
      // It goes on from where it stands, as soon as the database is back.
      setTimeout(() => {
        follower.seen = -1;
        follower.next(follower.after);
      }, retryMs).unref();
      return;
    }
    queue.leave(follower);
    follower.reader.fail(error);
  };

  const queue: FeedQueue = {
    wake(feed) {
      awake.add(feed);
      plan();
    },
    leave(follower) {
      const { feed } = follower;
      if (!feed.followers.delete(follower)) return;
      readers -= 1;
      if (feed.followers.size > 0) return;
      feed.stopListening();
      feeds.delete(feed.sessionId);
      awake.delete(feed);
    },
  };

  const open = (sessionId: string): Feed => {
    const feed: Feed = { sessionId, followers: new Set(), rings: 0, stopListening: () => undefined };
    feed.stopListening = listen(sessionId, () => {
      feed.rings += 1;
      queue.wake(feed);
    });
    feeds.set(sessionId, feed);
    return feed;
  };

  return {
    follow(start, reader) {
      const feed = feeds.get(start.sessionId) ?? open(start.sessionId);
      const follower = new Follower(queue, feed, start, reader);
      feed.followers.add(follower);
      readers += 1;
      queue.wake(feed);
      return follower;
    },
    count: () => ({ readers, logs: feeds.size }),
  };
}

/** Those of a feed who want a read, by where they stand; all of them are busy from here on. */
function gather(feed: Feed): Waiting[] {
  const waiting: Waiting[] = [];
  for (const follower of feed.followers) {
    if (!follower.wants()) continue;
    follower.isBusy = true;
    // Before the read: a ring during it must cause another.
    follower.seen = feed.rings;
    const same = waiting.find(({ place }) => isAt(follower, place));
    if (same) same.followers.push(follower);
    else waiting.push({ place: placeOf(follower), followers: [follower] });
  }
  return waiting;
}

const isAt = ({ after, limit, start }: Follower, place: LogPlace) =>
  after === place.after && limit === place.limit && start.kindsKey === place.kindsKey;

function placeOf({ feed, after, limit, start }: Follower): LogPlace {
  const { messagesOnly, kinds, kindsKey } = start;
  return { sessionId: feed.sessionId, after, limit, messagesOnly, kinds, kindsKey };
}

/** What one statement can ask for. */
function byKind(waiting: readonly Waiting[]): Waiting[][] {
  const groups = new Map<string, Waiting[]>();
  for (const each of waiting) {
    const group = groups.get(each.place.kindsKey);
    if (group) group.push(each);
    else groups.set(each.place.kindsKey, [each]);
  }
  return [...groups.values()];
}

function deliver({ place, followers }: Waiting, found: PlaceRead | null): void {
  const entries = found ? upTo(found.entries) : [];
  const hasMore = found !== null && (found.entries.length === place.limit || entries.length < found.entries.length);
  const batch: LogBatch = { entries, made: new Map() };
  for (const follower of followers) {
    if (!follower.feed.followers.has(follower)) continue;
    if (found === null || !maySee(follower.reader.viewer(), found)) {
      follower.stop();
      follower.reader.end();
      continue;
    }
    follower.hasMore = hasMore;
    follower.limit = hasMore
      ? Math.min(entries.length < place.limit ? entries.length : place.limit * 2, batchSizes.most)
      : batchSizes.first;
    if (entries.length === 0) follower.next(follower.after);
    else follower.reader.take(batch);
  }
}

function maySee(viewer: Viewer, { enterpriseId, organizationId }: PlaceRead): boolean {
  return viewer.enterpriseId === enterpriseId && holds(viewer, permissionFor.viewSession, organizationId);
}
