import type { Viewer } from '../../../auth/viewer.ts';
import type { Context } from '../../context.ts';
import type { LogEntry } from '../log.ts';
import type { LogBatch } from '../log-source.ts';
import type { WatchStart } from '../start-watch.ts';
import type { DraftBatch, DraftChunk } from './live-draft.ts';
import { LivePush, type LiveWatches } from './push-live.ts';

/** An item of a live subscription. */
export type LiveItem = LogEntry | DraftChunk;

/**
 * Returns the entries of a session's log after a position and its open drafts, as {@link LivePush} sends them: one item after the
 * previous one has been taken. Ends on `return()`, or when the viewer may no longer see the session.
 */
export function watchLiveFrom(
  context: Context,
  watches: LiveWatches,
  start: WatchStart,
): AsyncIterableIterator<LiveItem> {
  return new LivePull(context, watches, start);
}

type Step = IteratorResult<LiveItem>;

const done: Step = { done: true, value: undefined };

class LivePull extends LivePush<LiveItem> implements AsyncIterableIterator<LiveItem> {
  readonly #context: Context;
  readonly #watches: LiveWatches;
  #start: WatchStart | null;
  #item: LiveItem | null = null;
  #isOver = false;
  #failure: { readonly reason: unknown } | null = null;
  #wake: () => void = () => undefined;
  #queue: Promise<unknown> = Promise.resolve();

  constructor(context: Context, watches: LiveWatches, start: WatchStart) {
    super();
    this.#context = context;
    this.#watches = watches;
    this.#start = { ...start, isLive: true };
  }

  protected viewer(): Viewer {
    return this.#context.viewer;
  }

  protected watches(): LiveWatches {
    return this.#watches;
  }

  protected resultOf(batch: LogBatch, n: number): LiveItem {
    return batch.items[n] as LogEntry;
  }

  protected resultOfChunk({ items: [chunk] }: DraftBatch): LiveItem {
    return chunk;
  }

  protected send(item: LiveItem): boolean {
    this.#item = item;
    this.#wake();
    return false;
  }

  end(): void {
    this.#isOver = true;
    this.stop();
    this.#wake();
  }

  fail(reason: unknown): void {
    this.#failure = { reason };
    this.end();
  }

  next(): Promise<Step> {
    // Calls are queued: next() may be called again before the previous call has resolved.
    const step = this.#queue.then(() => this.#take());
    this.#queue = step.catch(() => undefined);
    return step;
  }

  return(): Promise<Step> {
    this.#item = null;
    this.end();
    return Promise.resolve(done);
  }

  throw(reason: unknown): Promise<Step> {
    this.#item = null;
    this.end();
    return Promise.reject(reason);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async #take(): Promise<Step> {
    // From the first next() on: a client that leaves before it may never call return().
    const start = this.#start;
    this.#start = null;
    if (start !== null && !this.#isOver) this.follow(this.#watches, start);
    else if (this.#item === null && !this.#isOver) this.resume();
    while (this.#item === null && !this.#isOver) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const item = this.#item;
    this.#item = null;
    if (item !== null) return { done: false, value: item };
    const failure = this.#failure;
    this.#failure = null;
    if (failure !== null) throw failure.reason;
    return done;
  }
}
