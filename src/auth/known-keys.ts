import { hash } from 'node:crypto';
import type { Store } from '../store/store.ts';

/** How long what was read of a key counts without a word from the database (pinned 5). */
const trustedMs = 500;
/** How long others wait for a read of the epoch that has begun already; after that they begin one of their own. */
const joinMs = 1_000;
/** How long a failed read answers for all: in an outage each request would otherwise wait twice. */
const failedMs = 200;
/** How many keys a process remembers: those used last. */
const mostKeys = 10_000;

/** What was read of a key, as of an epoch of the installation's keys. */
export interface ReadKey {
  readonly epoch: number;
}

/**
 * Keys that a process has read, by their tokens: used again as long as no key of the installation has changed since. That
 * is heard by a ring, which `forget` is called at, and by the epoch, which is read when it was last read {@link trustedMs} ago.
 */
export interface KnownKeys<K extends ReadKey> {
  /** Null: nothing is known of it, and it is to be read. What is found may have expired meanwhile. At most one statement. */
  find(token: string): K | null | Promise<K | null>;
  remember(token: string, key: K): void;
  /** Whatever is known counts only after the epoch has been read again. */
  forget(): void;
}

/** See {@link KnownKeys}. */
export function createKnownKeys<K extends ReadKey>(store: Pick<Store, 'query'>): KnownKeys<K> {
  // By a hash, so that tokens do not lie about in memory. What is asked for last stands last.
  const known = new Map<string, K>();
  let epoch = -1;
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | null = null;
  let readingSince = 0;
  let failure: { readonly error: unknown; readonly at: number } | null = null;

  const see = (seen: number) => {
    if (seen <= epoch) return;
    epoch = seen;
    known.clear();
  };
  const readEpoch = (): Promise<void> => {
    const startedAt = performance.now();
    const mine = store.query<ReadKey>('select key_epoch as epoch from installation', []).then(
      ([row]) => {
        see(row?.epoch ?? 0);
        // A ring since then wants it to be read once more.
        if (reading === mine) readAt = startedAt;
        if (reading === mine) reading = null;
        failure = null;
      },
      (error: unknown) => {
        if (reading === mine) reading = null;
        failure = { error, at: performance.now() };
        throw error;
      },
    );
    reading = mine;
    readingSince = startedAt;
    return mine;
  };
  const take = (id: string): K | null => {
    const found = known.get(id);
    if (!found) return null;
    known.delete(id);
    if (found.epoch !== epoch) return null;
    known.set(id, found);
    return found;
  };

  return {
    find(token) {
      const id = hash('sha256', token, 'base64');
      if (!known.has(id)) return null;
      if (performance.now() - readAt < trustedMs) return take(id);
      const now = performance.now();
      if (failure !== null && now - failure.at < failedMs) return Promise.reject(failure.error);
      const isYoung = reading !== null && now - readingSince < joinMs;
      return (isYoung && reading ? reading : readEpoch()).then(() => take(id));
    },
    remember(token, key) {
      see(key.epoch);
      if (key.epoch !== epoch) return;
      known.set(hash('sha256', token, 'base64'), key);
      const [oldest] = known.size > mostKeys ? known.keys() : [];
      if (oldest !== undefined) known.delete(oldest);
    },
    forget() {
      readAt = Number.NEGATIVE_INFINITY;
      reading = null;
      failure = null;
    },
  };
}
