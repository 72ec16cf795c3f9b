import type { LogBatch } from '../log-source.ts';
import { LogPush } from '../push-log.ts';
import type { WatchStart } from '../start-watch.ts';
import type { SessionWatches } from '../watch.ts';
import { DraftFeed } from './draft-feed.ts';
import type { DraftBatch } from './live-draft.ts';
import type { LiveSubscriber } from './live-session.ts';
import type { LiveSessions } from './live-sessions.ts';

/** The tailer, and the live sessions of this process. */
export interface LiveWatches extends SessionWatches {
  readonly live: LiveSessions;
  /** Waits until the revocations that are known in this process are applied to its viewers; null when none is pending. */
  readonly settled: () => Promise<void> | null;
}

/**
 * Sends the entries of a session's log. If the start is live, it also sends the open drafts, once it has sent all entries: at the
 * pace of the receiver, which gets fewer and larger parts if it is slow. The entry that replaces a draft follows its last part.
 */
export abstract class LivePush<R> extends LogPush<R> implements LiveSubscriber {
  #feed: DraftFeed | null = null;

  /** Returns the result for a chunk, as `resultOf` does for an entry. */
  protected abstract resultOfChunk(batch: DraftBatch): R | Promise<unknown>;
  protected abstract watches(): LiveWatches;

  protected override follow(watches: LiveWatches, start: WatchStart): void {
    // Before the log is read, so that no draft is missed.
    if (start.isLive) this.#feed = new DraftFeed(watches.live, start.log.sessionId, this);
    super.follow(watches, start);
  }

  protected override stop(): void {
    this.#feed?.leave();
    this.#feed = null;
    super.stop();
  }

  override take(batch: LogBatch): void {
    if (this.#feed !== null && (this.#feed.lastBatch !== null || !batch.hasMore)) this.#feed.lastBatch = batch;
    super.take(batch);
  }

  draftsChanged(): void {
    if (this.#feed?.isWaiting === false && !this.isBusy()) this.#sendDrafts(this.#feed);
  }

  protected override proceed(): void {
    super.proceed();
    if (this.#feed !== null && !this.isBusy()) this.#sendDrafts(this.#feed);
  }

  protected override sent(batch: LogBatch, n: number): void {
    this.#feed?.sent(batch, n);
  }

  #sendDrafts(feed: DraftFeed): void {
    const { lastBatch } = feed;
    if (lastBatch === null) return;
    const settled = this.watches().settled();
    if (settled !== null) {
      this.#proceedAfter(feed, settled);
      return;
    }
    for (let next = feed.next(); next !== null; next = feed.next()) {
      if (!this.mayTake(lastBatch)) {
        this.end();
        return;
      }
      const result = this.resultOfChunk(next.batch);
      if (result instanceof Promise) {
        this.#proceedAfter(feed, result);
        return;
      }
      feed.advance(next.draft);
      if (!this.offer(result)) return;
    }
  }

  #proceedAfter(feed: DraftFeed, pending: Promise<unknown>): void {
    if (feed.isWaiting) return;
    feed.isWaiting = true;
    const proceed = () => {
      feed.isWaiting = false;
      this.proceed();
    };
    pending.then(proceed, proceed);
  }
}
