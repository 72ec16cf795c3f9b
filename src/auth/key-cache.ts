import { hash } from 'node:crypto';
import type { Store } from '../store/store.ts';

/** How long what was read of a key counts without a word from the database (pinned 5). */
const trustedMs = 500;
/** How long others wait for a read of the epoch that has begun already; after that they begin one of their own. */
const joinMs = 1_000;
/** How long a failed read answers for all: in an outage each request would otherwise wait twice. */
const failedMs = 200;
/** How many keys a process remembers: those used last. */
const maxKeys = 10_000;

/** What was read of a key, as of an epoch of the installation's keys. */
export interface CacheEntry {
  readonly epoch: number;
}

/**
 * Keys that a process has read, by their tokens: used again as long as no key of the installation has changed since. That
 * is heard by a ring, which `forget` is called at, and by the epoch, which is read when it was last read {@link trustedMs} ago.
 */
export interface KeyCache<K extends CacheEntry> {
  /** Null: nothing is known of it, and it is to be read. What is found may have expired meanwhile. At most one statement. */
  find(token: string): K | null | Promise<K | null>;
  set(token: string, key: K): void;
  /** Whatever is known counts only after the epoch has been read again. */
  invalidate(): void;
}

/** See {@link KeyCache}. */
export function createKeyCache<K extends CacheEntry>(store: Pick<Store, 'query'>): KeyCache<K> {
  // By a hash, so that tokens do not lie about in memory. What is asked for last stands last.
  const cache = new Map<string, K>();
  let epoch = -1;
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | null = null;
  let readingSince = 0;
  let failure: { readonly error: unknown; readonly at: number } | null = null;

  const observeEpoch = (observed: number) => {
    if (observed <= epoch) return;
    epoch = observed;
    cache.clear();
  };
  const readEpoch = (): Promise<void> => {
    const startedAt = performance.now();
    const thisRead = store.query<CacheEntry>('select key_epoch as epoch from installation', []).then(
      ([row]) => {
        observeEpoch(row?.epoch ?? 0);
        // A ring since then wants it to be read once more.
        if (reading === thisRead) readAt = startedAt;
        if (reading === thisRead) reading = null;
        failure = null;
      },
      (error: unknown) => {
        if (reading === thisRead) reading = null;
        failure = { error, at: performance.now() };
        throw error;
      },
    );
    reading = thisRead;
    readingSince = startedAt;
    return thisRead;
  };
  const take = (id: string): K | null => {
    const found = cache.get(id);
    if (!found) return null;
    cache.delete(id);
    if (found.epoch !== epoch) return null;
    cache.set(id, found);
    return found;
  };

  return {
    find(token) {
      const id = hash('sha256', token, 'base64');
      if (!cache.has(id)) return null;
      if (performance.now() - readAt < trustedMs) return take(id);
      const now = performance.now();
      if (failure !== null && now - failure.at < failedMs) return Promise.reject(failure.error);
      const isYoung = reading !== null && now - readingSince < joinMs;
      return (isYoung && reading ? reading : readEpoch()).then(() => take(id));
    },
    set(token, key) {
      observeEpoch(key.epoch);
      if (key.epoch !== epoch) return;
      cache.set(hash('sha256', token, 'base64'), key);
      const [oldest] = cache.size > maxKeys ? cache.keys() : [];
      if (oldest !== undefined) cache.delete(oldest);
    },
    invalidate() {
      readAt = Number.NEGATIVE_INFINITY;
      reading = null;
      failure = null;
    },
  };
}
