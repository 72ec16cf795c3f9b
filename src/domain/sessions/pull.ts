import { isOutage } from '../unavailable.ts';

/** How long after a read that failed in an outage the next one begins. */
const retryMs = 500;

/** What one read gave. */
export interface Batch<T> {
  readonly items: readonly T[];
  /** There may be more without waiting. */
  readonly more: boolean;
}

/**
 * What is read after each ring, item by item, for ever. `listen` has a function called on each ring, and gives the one that
 * stops it. Ends on `return()`, or when a read gives null. While the database does not answer it waits: what it has missed is
 * read when the database is back.
 *
 * Not an async generator: its return() would wait for the pending next(), and so leak the listener of a client that has
 * gone until the next ring. Here return() ends the wait.
 */
export function pull<T>(
  listen: (listener: () => void) => () => void,
  read: () => Promise<Batch<T> | null>,
): AsyncIterableIterator<T> {
  let isNotified = true;
  let wake: (() => void) | null = null;
  let isOver = false;
  let buffer: T[] = [];
  let stop: () => void = () => undefined;
  let isListening = false;
  // From the first next() on: who has gone before it may never call return().
  const begin = () => {
    isListening = true;
    stop = listen(() => {
      isNotified = true;
      wake?.();
    });
  };
  const end = (): IteratorResult<T> => {
    isOver = true;
    stop();
    wake?.();
    return { done: true, value: undefined };
  };
  const readOrNot = async () => {
    try {
      return await read();
    } catch (error) {
      if (!isOutage(error)) throw error;
      isNotified = true;
      await new Promise<void>((resolve) => {
        wake = resolve;
        setTimeout(resolve, retryMs).unref();
      });
      return 'unavailable';
    }
  };
  const next = async (): Promise<IteratorResult<T>> => {
    if (!isListening && !isOver) begin();
    for (;;) {
      if (isOver) return end();
      const item = buffer.shift();
      if (item !== undefined) return { done: false, value: item };
      if (!isNotified) await new Promise<void>((resolve) => (wake = resolve));
      wake = null;
      if (isOver) return end();
      // Cleared before the read: a ring during it must cause another.
      isNotified = false;
      const batch = await readOrNot();
      if (batch === 'unavailable') continue;
      if (batch === null) return end();
      buffer = [...batch.items];
      if (batch.more) isNotified = true;
    }
  };
  // Calls are queued: an iterator may be asked again before it has answered.
  let queue: Promise<unknown> = Promise.resolve();
  return {
    next: () => {
      const result = queue.then(next).catch((error: unknown) => {
        end();
        throw error;
      });
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
