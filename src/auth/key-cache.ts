import { hash } from 'node:crypto';
import type { Store } from '../store/store.ts';

/**
 * Time for which a cached key is trusted without a check of the epoch
 * (docs/decisions/0011-cache-api-keys-until-a-key-changes.md).
 */
const trustedMs = 500;
/** Time for which requests join an epoch read that is already running. After that they begin a new one. */
const joinMs = 1_000;
/** Time for which a failed read is reused: otherwise, each request would wait twice in an outage. */
const failedMs = 200;
/** Maximum number of cached keys. The least recently used key is removed first. */
const maxKeys = 10_000;

/** A cached read of a key, at an epoch of the installation's keys. */
export interface CacheEntry {
  readonly epoch: number;
}

/**
 * Cache of the keys that a process has read, by token. An entry is valid while no key of the installation has changed
 * since the read. The process learns of a change from a notification, which calls `invalidate`, or from the epoch,
 * which is read again when the last read is {@link trustedMs} old.
 */
export interface KeyCache<K extends CacheEntry> {
  /**
   * Null: the key is not cached and must be read. A key that is found may have expired since. Sends at most one
   * statement.
   */
  find(token: string): K | null | Promise<K | null>;
  set(token: string, key: K): void;
  /** Makes every entry wait for a new read of the epoch. */
  invalidate(): void;
}

/** See {@link KeyCache}. */
export function createKeyCache<K extends CacheEntry>(store: Pick<Store, 'query'>): KeyCache<K> {
  // Keyed by hash, so that no tokens are in memory. The most recently used key is last.
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
        // A notification since then requires another read.
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
