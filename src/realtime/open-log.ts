import type { ReadRequest, TailedLog } from './log-source.ts';
import type { Notifier } from './notifier.ts';
import type { AnySource, Tail, TailReader } from './tail.ts';

/** A read request, and the readers that wait for its result. */
export interface SharedRequest extends ReadRequest<TailedLog, unknown> {
  readonly followers: Follower[];
}

/** The queue of a follower's source. */
interface FollowerQueue {
  readonly source: AnySource;
  /** Has the log looked through for readers that want a read. */
  wake(log: OpenLog): void;
  leave(follower: Follower): void;
}

/** A reader of an open log. */
export class Follower implements Tail<unknown> {
  readonly queue: FollowerQueue;
  readonly reader: TailReader<TailedLog, unknown>;
  log: OpenLog;
  cursor: unknown;
  limit: number;
  /** Notifications of the log before its last read; -1: it is to be read. */
  seen = -1;
  isBusy = false;
  hasMore = false;

  constructor(queue: FollowerQueue, log: OpenLog, cursor: unknown, reader: TailReader<TailedLog, unknown>) {
    this.queue = queue;
    this.log = log;
    this.cursor = cursor;
    this.reader = reader;
    this.limit = queue.source.limits.first;
  }

  wantsRead(): boolean {
    return !this.isBusy && (this.hasMore || this.seen !== this.log.notificationCount);
  }

  advance(cursor: unknown): void {
    if (!this.log.followers.has(this)) return;
    this.cursor = cursor;
    this.isBusy = false;
    if (this.wantsRead()) this.queue.wake(this.log);
  }

  wake(): void {
    this.seen = -1;
    if (!this.isBusy) this.queue.wake(this.log);
  }

  stop(): void {
    this.queue.leave(this);
  }
}

/** Services of an open log. `gapMs`: the minimum time between two notifications that are passed on. */
interface OpenLogOptions {
  readonly notifier: Pick<Notifier, 'subscribe'>;
  readonly gapMs: () => number;
  readonly onNotified: () => void;
}

/** A log that has readers in this process: it is subscribed to the topics of the log once for all of them. */
export class OpenLog {
  readonly log: TailedLog;
  readonly followers = new Set<Follower>();
  notificationCount = 0;
  readonly #options: OpenLogOptions;
  readonly #unsubscribes: readonly (() => void)[];
  #passedAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | null = null;

  constructor(log: TailedLog, options: OpenLogOptions) {
    this.log = log;
    this.#options = options;
    this.#unsubscribes = log.topics.map((topic) => options.notifier.subscribe(topic, () => this.notify()));
  }

  /** Passes a notification on: at once, or after the gap; those in between are one. */
  notify(): void {
    if (this.#timer !== null) return;
    const gapMs = this.#options.gapMs();
    const waitMs = gapMs === 0 ? 0 : this.#passedAt + gapMs - performance.now();
    if (waitMs > 0) this.#timer = setTimeout(() => this.#pass(), waitMs).unref();
    else this.#pass();
  }

  /**
   * Adds the requests of the readers that want a read; these are busy from here on. Returns false if there was no room for all
   * of them.
   */
  takeRequests(source: AnySource, requests: SharedRequest[]): boolean {
    const own = new Map<string, SharedRequest>();
    let last: SharedRequest | null = null;
    for (const follower of this.followers) {
      if (!follower.wantsRead()) continue;
      const { cursor, limit } = follower;
      if (last === null || last.cursor !== cursor || last.limit !== limit) {
        const key = `${limit} ${source.cursorKey(cursor)}`;
        const known = own.get(key);
        if (known === undefined && requests.length >= source.maxRequests) return false;
        last = known ?? { log: this.log, cursor, limit, followers: [] };
        if (known === undefined) {
          own.set(key, last);
          requests.push(last);
        }
      }
      last.followers.push(follower);
      follower.isBusy = true;
      // Before the read: a notification during it must cause another.
      follower.seen = this.notificationCount;
    }
    return true;
  }

  close(): void {
    for (const unsubscribe of this.#unsubscribes) unsubscribe();
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #pass(): void {
    this.#timer = null;
    this.#passedAt = performance.now();
    this.notificationCount += 1;
    this.#options.onNotified();
  }
}
