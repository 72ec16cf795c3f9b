/** The most of one batch. */
const maxBatchSize = 32;

/** How many batches are under way at a time. */
const maxInFlight = 2;

/** How many must wait to go beside a batch that is under way: fewer go when that is done, which costs less for each. */
const minParallelBatch = 5;

/** Takes one at a time, and does several together. */
export interface Batcher<T, R> {
  /** What came of it. Rejects with what all of its batch are rejected with. */
  take(item: T): Promise<R>;
}

interface PendingItem<T, R> {
  readonly item: T;
  readonly resolve: (result: R) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Gathers what comes in the same turn of the loop, or while as much as may be is under way, and does it together. No two
 * batches under way have items of one key: those of a later one could not be done before the others are, and are left for
 * when they are. `doAll` gives a result for each item, in their order.
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
    // Before anybody is told: what waits need not wait for what they do with it.
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
