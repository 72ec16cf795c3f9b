/** Wait after a claim that failed. */
const errorWaitMs = 5_000;
/** Maximum time until the next poll: work of another process may be due earlier. */
const maxSleepMs = 30_000;
const minSleepMs = 10;

/** Options of {@link createClaimedWork}. */
export interface ClaimedWorkOptions<T> {
  readonly maxInFlight: number;
  readonly now: () => Date;
  readonly isStopped: () => boolean;
  /** Claims up to `room` items that are due. */
  claim(room: number): Promise<readonly T[]>;
  /** Does the work of an item. Its part before the first `await` runs before the next claim. It never rejects. */
  run(item: T): Promise<void>;
  /** Returns the time when the next item is due; null: there is none. */
  nextDueAt(): Promise<Date | null>;
  onClaimFailed(error: unknown): void;
}

/** Work that processes share by claims. */
export interface ClaimedWork {
  /** Looks for items that are due, now or after the current look. */
  poll(): void;
  /** Ends the claims; `abort` ends the items under way. Resolves when all have ended. */
  stop(abort: () => Promise<void>): Promise<void>;
}

/** Claims the items that are due and runs them, a limited number at once: on request, after each item, and when the next is due. */
export function createClaimedWork<T>(options: ClaimedWorkOptions<T>): ClaimedWork {
  const { maxInFlight, isStopped } = options;
  const inFlight = new Set<Promise<void>>();
  let timer: NodeJS.Timeout | null = null;
  let isAgain = false;
  let running: Promise<void> | null = null;

  const begin = (item: T) => {
    const done = options.run(item).then(() => {
      inFlight.delete(done);
      poll();
    });
    inFlight.add(done);
  };
  const claim = async () => {
    while (isAgain && !isStopped()) {
      isAgain = false;
      const room = maxInFlight - inFlight.size;
      // The next item that ends polls again.
      if (room <= 0) return;
      const claimed = await options.claim(room);
      for (const item of claimed) begin(item);
      if (claimed.length > 0) isAgain = true;
    }
    if (isStopped()) return;
    const dueAt = await options.nextDueAt();
    sleep(dueAt === null ? maxSleepMs : dueAt.getTime() - options.now().getTime());
  };
  const sleep = (waitMs: number) => {
    if (timer) clearTimeout(timer);
    timer = isStopped() ? null : setTimeout(poll, Math.max(minSleepMs, Math.min(maxSleepMs, waitMs))).unref();
  };
  const poll = () => {
    isAgain = true;
    if (isStopped()) return;
    running ??= claim()
      .catch((error: unknown) => {
        options.onClaimFailed(error);
        isAgain = false;
        sleep(errorWaitMs);
      })
      .finally(() => {
        running = null;
        if (isAgain) poll();
      });
  };
  return {
    poll,
    async stop(abort) {
      await running;
      if (timer) clearTimeout(timer);
      await abort();
      await Promise.all(inFlight);
    },
  };
}

/** A number of items under way by name. */
export interface Count {
  readonly of: ReadonlyMap<string, number>;
  add(name: string, change: number): void;
}

/** Creates a counter by name, which removes a name when its count reaches 0. */
export function createCount(): Count {
  const of = new Map<string, number>();
  return {
    of,
    add(name, change) {
      const count = (of.get(name) ?? 0) + change;
      if (count > 0) of.set(name, count);
      else of.delete(name);
    },
  };
}
