/** Limits of a {@link FairQueue}: the number of waiting items of all keys together, and of one key. */
export interface QueueLimits {
  readonly maxItems: number;
  readonly maxItemsPerKey: number;
}

/** A queue that serves its keys in turn, and the items of one key in order of arrival. */
export interface FairQueue<T> {
  /** Adds an item; false when the queue, or the key's part of it, is full. */
  add(key: string, item: T): boolean;
  /** Removes and returns the next item. */
  take(): T | undefined;
}

/** Creates an empty {@link FairQueue}. */
export function createFairQueue<T>({ maxItems, maxItemsPerKey }: QueueLimits): FairQueue<T> {
  // A Map iterates in insertion order: the first key is the one that was served longest ago.
  const waiting = new Map<string, T[]>();
  let count = 0;
  return {
    add(key, item) {
      const items = waiting.get(key) ?? [];
      if (count >= maxItems || items.length >= maxItemsPerKey) return false;
      items.push(item);
      waiting.set(key, items);
      count++;
      return true;
    },
    take() {
      const [first] = waiting;
      if (first === undefined) return undefined;
      const [key, items] = first;
      const item = items.shift();
      count--;
      waiting.delete(key);
      if (items.length > 0) waiting.set(key, items);
      return item;
    },
  };
}
