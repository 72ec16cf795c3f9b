import type { Batch, TailedLog } from './log-source.ts';
import { Follower, OpenLog, type SharedRequest } from './open-log.ts';
import type { AnySource, TailerServices, TailReader } from './tail.ts';

/** Time in ms between a read that failed in an outage and its repetition. */
const retryMs = 500;

/** The open logs of one source, their readers, and the reads under way. */
export class ReadQueue {
  readonly source: AnySource;
  readers = 0;
  readonly #services: TailerServices;
  readonly #logs = new Map<string, OpenLog>();
  /** Logs that may have a reader that wants a read. */
  readonly #awake = new Set<OpenLog>();
  /** Reads that have not ended. */
  readonly #pending = new Set<Promise<void>>();
  /** Reads that count for `maxReads`. */
  #reads = 0;
  #isPlanned = false;

  constructor(services: TailerServices, source: AnySource) {
    this.#services = services;
    this.source = source;
  }

  follow(log: TailedLog, cursor: unknown, isIdle: boolean, reader: TailReader<TailedLog, unknown>): Follower {
    const opened = this.#open(log);
    const follower = new Follower(this, opened, cursor, reader);
    if (isIdle) follower.seen = opened.notificationCount;
    opened.followers.add(follower);
    this.readers += 1;
    this.wake(opened);
    return follower;
  }

  find = (key: string): TailedLog | null => this.#logs.get(key)?.log ?? null;

  logs = (): TailedLog[] => [...this.#logs.values()].map(({ log }) => log);

  /** Treats a log as changed, if it is one of this source. */
  notify(log: TailedLog): void {
    const opened = this.#logs.get(log.key);
    if (opened?.log === log) opened.notify();
  }

  wake(log: OpenLog): void {
    this.#awake.add(log);
    this.#plan();
  }

  leave(follower: Follower): void {
    if (!follower.log.followers.has(follower)) return;
    this.readers -= 1;
    this.#detach(follower);
  }

  async idle(): Promise<void> {
    while (this.#pending.size > 0) await Promise.all(this.#pending);
  }

  #open(log: TailedLog): OpenLog {
    const known = this.#logs.get(log.key);
    if (known) return known;
    const opened = new OpenLog(log, {
      notifier: this.#services.notifier,
      gapMs: () => this.source.gapMs(log),
      onNotified: () => this.wake(opened),
    });
    this.#logs.set(log.key, opened);
    return opened;
  }

  #detach(follower: Follower): void {
    const { log } = follower;
    log.followers.delete(follower);
    if (log.followers.size > 0) return;
    log.close();
    this.#logs.delete(log.log.key);
    this.#awake.delete(log);
  }

  #plan(): void {
    if (this.#isPlanned || this.#reads >= this.source.maxReads || this.#awake.size === 0) return;
    this.#isPlanned = true;
    // Later: notifications come in bursts, and one read serves them all.
    setImmediate(() => {
      this.#isPlanned = false;
      for (const requests of this.#takeRequests()) this.#read(requests);
      this.#plan();
    });
  }

  /** Returns the requests of as many reads as may begin. What does not fit stays awake. */
  #takeRequests(): Iterable<SharedRequest[]> {
    const { source } = this;
    const groups = new Map<string, SharedRequest[]>();
    for (const log of this.#awake) {
      const key = source.groupKey(log.log);
      let group = groups.get(key);
      if (group === undefined) {
        if (groups.size >= source.maxReads - this.#reads) continue;
        group = [];
        groups.set(key, group);
      }
      if (group.length >= source.maxRequests) continue;
      if (log.takeRequests(source, group)) this.#awake.delete(log);
    }
    return groups.values();
  }

  #read(requests: readonly SharedRequest[]): void {
    if (requests.length === 0) return;
    const { stuckMs } = this.source;
    this.#reads += 1;
    let isCounted = true;
    const release = () => {
      if (timer) clearTimeout(timer);
      if (!isCounted) return;
      isCounted = false;
      this.#reads -= 1;
      this.#plan();
    };
    // A read that is stuck must not delay those after it.
    const timer = stuckMs === null ? null : setTimeout(release, stuckMs).unref();
    const read = this.source
      .read(requests)
      .then(async (found) => {
        // After the read: a permission that was lost before an item was written must stop that item.
        await this.#services.settled();
        for (const [n, each] of requests.entries()) this.#deliver(each, found[n] ?? null);
      })
      .catch((error: unknown) => {
        for (const { followers } of requests) for (const follower of followers) this.#fail(follower, error);
      })
      .finally(() => {
        this.#pending.delete(read);
        release();
      });
    this.#pending.add(read);
  }

  #deliver({ followers, limit }: SharedRequest, batch: Batch<unknown> | null): void {
    const { first, max } = this.source.limits;
    const { items, hasMore } = batch ?? { items: [], hasMore: false };
    // There are fewer than requested, because they are long, although more exist.
    const grown = items.length < limit ? Math.max(1, items.length) : limit * 2;
    const nextLimit = hasMore ? Math.min(grown, max) : first;
    for (const follower of followers) {
      const { log, reader } = follower;
      if (!log.followers.has(follower)) continue;
      try {
        const current = reader.currentLog?.() ?? log.log;
        if (current.key !== log.log.key) {
          this.#move(follower, current);
        } else if (batch === null || !reader.mayTake(batch)) {
          this.leave(follower);
          reader.end();
        } else {
          follower.hasMore = hasMore;
          follower.limit = nextLimit;
          reader.take(batch);
        }
      } catch (error) {
        this.#fail(follower, error);
      }
    }
  }

  /** Continues with another log, from the same cursor. */
  #move(follower: Follower, log: TailedLog): void {
    const opened = this.#open(log);
    this.#detach(follower);
    follower.log = opened;
    opened.followers.add(follower);
    follower.seen = -1;
    follower.advance(follower.cursor);
  }

  #fail(follower: Follower, error: unknown): void {
    if (!follower.log.followers.has(follower)) return;
    if (this.#services.isOutage(error)) {
      setTimeout(() => {
        follower.seen = -1;
        follower.advance(follower.cursor);
      }, retryMs).unref();
      return;
    }
    this.leave(follower);
    follower.reader.fail(error);
  }
}
