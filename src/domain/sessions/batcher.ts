/** Maximum number of items in a batch. */
const maxBatchSize = 32;

/** Maximum number of concurrent batches. */
const maxInFlight = 2;

/**
 * Minimum number of waiting items for a second concurrent batch. Fewer items wait for the current batch to end, which
 * costs less for each.
 */
const minParallelBatch = 5;

/** Accepts single items and processes them in batches. */
export interface Batcher<T, R> {
  /** Returns the item's result. Rejects with the error of its whole batch. */
  take(item: T): Promise<R>;
}

interface PendingItem<T, R> {
  readonly item: T;
  readonly resolve: (result: R) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Collects the items that arrive in the same turn of the event loop, or while the maximum number of batches is under
 * way, and processes them together. Concurrent batches never have items with the same key: such an item waits until the
 * earlier batch is done. `doAll` returns a result for each item, in order.
 */
export function createBatcher<T, R>(
  keyOf: (item: T) => string,
  doAll: (items: readonly T[]) => Promise<readonly R[]>,
): Batcher<T, R> {
  let waiting: PendingItem<T, R>[] = [];
  let inFlight = 0;
  let isAwaited = false;
  const busy = new Set<string>();

  const start = async (batch: readonly PendingItem<T, R>[]) => {
    const keys = batch.map(({ item }) => keyOf(item));
    inFlight += 1;
    for (const key of keys) busy.add(key);
    // Start the next batch before the callers get their results: the waiting items don't depend on them.
    const onBatchDone = () => {
      inFlight -= 1;
      for (const key of keys) busy.delete(key);
      startAll();
    };
    try {
      const results = await doAll(batch.map(({ item }) => item)).finally(onBatchDone);
      for (const [n, { resolve }] of batch.entries()) resolve(results[n] as R);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  };
  const startAll = () => {
    while (inFlight < maxInFlight) {
      const [batch, left]: [PendingItem<T, R>[], PendingItem<T, R>[]] = [[], []];
      for (const each of waiting) {
        const isTaken = batch.length < maxBatchSize && !busy.has(keyOf(each.item));
        (isTaken ? batch : left).push(each);
      }
      if (batch.length < (inFlight === 0 ? 1 : minParallelBatch)) return;
      waiting = left;
      void start(batch);
    }
  };
  return {
    take: (item) =>
      new Promise((resolve, reject) => {
        waiting.push({ item, resolve, reject });
        if (isAwaited) return;
        isAwaited = true;
        setImmediate(() => {
          isAwaited = false;
          startAll();
        });
      }),
  };
}
