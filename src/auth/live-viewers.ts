import type { Notifier } from '../realtime/notifier.ts';
import type { Store } from '../store/store.ts';
import { findViewers } from './authenticate.ts';
import { createSettlement } from './settlement.ts';
import type { Viewer } from './viewer.ts';

/** Maximum delay until a process learns of a revocation whose notification was missed. */
const epochMs = 500;
/** Timeout of a read of the keys, after which a new read begins. */
const stuckMs = 5_000;
/** Keys read at once. */
const batchSize = 1_000;
/** Node's longest timer, 24 days: a longer one would fire at once. */
const maxTimerMs = 2 ** 31 - 1;

/** A viewer with an open socket or stream. */
export interface LiveViewer {
  /** Returns the current viewer: after a change of its roles another one than the one that opened the stream. */
  current(): Viewer;
  /** Call this when the stream has closed by itself. */
  release(): void;
}

/** The viewers of this process's open sockets and streams, so that none of these outlives its key. */
export interface LiveViewers {
  /**
   * Follows a viewer. `onEnd` is called once, when its key expires, is revoked, loses its owner, or may no longer be
   * used from the address: at once in the process that makes the change, in others after the notification or by the
   * epoch.
   */
  follow(viewer: Viewer, address: string | null, onEnd: () => void): LiveViewer;
  /**
   * Waits until all key changes that this process knows of are applied to the viewers; null when none is pending.
   * Streams await it between reading an entry and delivering it. No entry that was written after a revocation then
   * reaches the viewer who lost access, unless the notification was missed.
   */
  settled(): Promise<void> | null;
  /** Number of followed viewers. */
  count(): number;
  start(): void;
  stop(): void;
}

interface Followed {
  viewer: Viewer;
  readonly apiKeyId: string | null;
  readonly address: string | null;
  readonly consoleSessionId: string | undefined;
  /** False until the first read after it was followed: its key may have ended between the two. */
  isChecked: boolean;
  end(): void;
}

/** Services that {@link createLiveViewers} needs. */
export interface LiveViewerServices {
  readonly store: Store;
  readonly notifier: Notifier;
  readonly now: () => Date;
  readonly log: { warn(fields: object, message: string): void };
}

/** See {@link LiveViewers}. */
export function createLiveViewers(services: LiveViewerServices): LiveViewers {
  const followed = new Set<Followed>();
  let epoch: number | null = null;
  let isNotified = false;
  const settlement = createSettlement();
  /** The current read. */
  let reading: { readonly since: number } | null = null;
  let timer: NodeJS.Timeout | null = null;
  let unsubscribe: () => void = () => undefined;

  const readAgain = async () => {
    const mustReadAll = isNotified;
    isNotified = false;
    // Read before the keys: a later change has another epoch.
    const [row] = await services.store.query<{ epoch: number }>('select key_epoch as epoch from installation', []);
    const isChanged = (row?.epoch ?? 0) !== epoch;
    const due = [...followed].filter((each) => mustReadAll || isChanged || !each.isChecked);
    for (let n = 0; n < due.length; n += batchSize) {
      const batch = due.slice(n, n + batchSize);
      const viewers = await findViewers(services, batch);
      for (const [index, each] of batch.entries()) {
        const viewer = viewers[index] ?? null;
        each.isChecked = true;
        if (viewer === null) each.end();
        else each.viewer = viewer;
      }
    }
    epoch = row?.epoch ?? 0;
  };
  const poll = () => {
    // A stuck read must not delay a revocation.
    if (reading !== null && performance.now() - reading.since < stuckMs) return;
    const mine = { since: performance.now() };
    reading = mine;
    const settle = settlement.begin();
    readAgain()
      .then(settle)
      .catch((error: unknown) => {
        // No result counts: the next poll reads everything again.
        epoch = null;
        services.log.warn({ err: error }, 'The keys of open streams could not be read.');
      })
      .finally(() => {
        if (reading === mine) reading = null;
        if (isNotified) poll();
      });
  };

  return {
    follow(viewer, address, onEnd) {
      let expiry: NodeJS.Timeout | null = null;
      const release = () => {
        followed.delete(entry);
        if (expiry) clearTimeout(expiry);
      };
      const endInTime = (expiresAt: Date) => {
        const remainingMs = expiresAt.getTime() - services.now().getTime();
        if (remainingMs <= 0) entry.end();
        else expiry = setTimeout(endInTime, Math.min(remainingMs, maxTimerMs), expiresAt).unref();
      };
      const entry: Followed = {
        viewer,
        apiKeyId: viewer.apiKeyId,
        address,
        consoleSessionId: viewer.consoleSessionId,
        isChecked: false,
        end() {
          if (!followed.has(entry)) return;
          release();
          onEnd();
        },
      };
      followed.add(entry);
      if (viewer.expiresAt !== null) endInTime(viewer.expiresAt);
      return { current: () => entry.viewer, release };
    },
    settled: settlement.wait,
    count: () => followed.size,
    start() {
      unsubscribe = services.notifier.subscribe('keys', () => {
        isNotified = true;
        if (followed.size === 0) return;
        settlement.announce();
        poll();
      });
      timer = setInterval(() => {
        if (followed.size > 0) poll();
      }, epochMs).unref();
    },
    stop() {
      if (timer) clearInterval(timer);
      timer = null;
      unsubscribe();
      for (const each of [...followed]) each.end();
      settlement.begin()();
    },
  };
}
