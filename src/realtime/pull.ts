import type { Batch, LogSource, TailedLog } from './log-source.ts';
import type { Tail, TailReader } from './tail.ts';
import type { Tailer } from './tailer.ts';

/** A log to read as an async iterator. */
export interface PullRequest<L extends TailedLog, C, B extends Batch<C>, T>
  extends Pick<TailReader<L, B>, 'currentLog' | 'mayTake'> {
  readonly source: LogSource<L, C, B>;
  readonly log: L;
  readonly cursor: C;
  /** Returns the iterator's items of a batch. `isLast`: it ends after that. */
  readonly select: (batch: B) => { readonly items: readonly T[]; readonly isLast?: boolean };
}

/**
 * Returns the items of a log after a cursor, and new items as they are written. Reads one batch after the previous one
 * has been taken, so that a slow consumer holds no more than that. Ends on `return()`, and when the reader must stop.
 */
export function pull<L extends TailedLog, C, B extends Batch<C>, T>(
  tailer: Tailer,
  { source, log, cursor, currentLog, mayTake, select }: PullRequest<L, C, B, T>,
): AsyncIterableIterator<T> {
  let tail: Tail<C> | null = null;
  let buffer: T[] = [];
  /** The position after the buffer. */
  let position = cursor;
  let isLast = false;
  let isOver = false;
  let failure: { readonly reason: unknown } | null = null;
  let wake: () => void = () => undefined;

  const reader: TailReader<L, B> = {
    ...(currentLog && { currentLog }),
    mayTake,
    take(batch) {
      const selected = select(batch);
      isLast = selected.isLast ?? false;
      position = batch.cursor;
      if (selected.items.length === 0 && !isLast) return tail?.advance(position);
      buffer = [...selected.items];
      wake();
    },
    end() {
      isLast = true;
      wake();
    },
    fail(reason) {
      failure = { reason };
      wake();
    },
  };
  const end = (): IteratorResult<T> => {
    isOver = true;
    buffer = [];
    tail?.stop();
    wake();
    return { done: true, value: undefined };
  };
  const next = async (): Promise<IteratorResult<T>> => {
    for (;;) {
      if (isOver) return end();
      const item = buffer.shift();
      if (item !== undefined) return { done: false, value: item };
      if (failure !== null) {
        end();
        throw failure.reason;
      }
      if (isLast) return end();
      const taken = new Promise<void>((resolve) => {
        wake = resolve;
      });
      // From the first next() on: a client that leaves before it may never call return().
      if (tail === null) tail = tailer.tail(source, { log, cursor }, reader);
      else tail.advance(position);
      await taken;
    }
  };
  // Calls are queued: next() may be called again before the previous call has resolved.
  let queue: Promise<unknown> = Promise.resolve();
  return {
    next: () => {
      const result = queue.then(next);
      queue = result.catch(() => undefined);
      return result;
    },
    return: () => Promise.resolve(end()),
    throw: (error: unknown) => {
      end();
      return Promise.reject(error);
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
