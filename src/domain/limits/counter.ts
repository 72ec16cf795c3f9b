/** Length of a limit's window. Windows begin with the minutes of the clock, equally in every process. */
export const windowMs = 60_000;
/** The part of a shared amount that a process reserves at once (docs/operations.md#rate-limits). */
const reservedShare = 0.05;
/**
 * Maximum number of keys of a process in one window; beyond that, the oldest are removed, so that strangers cannot fill
 * the memory.
 */
const maxKeys = 100_000;
/** Timeout of the shared counter. */
const answerMs = 1_000;

/** The result of spending points. */
export interface Spending {
  readonly isAllowed: boolean;
  readonly limit: number;
  /**
   * The rest of the window's limit, as far as this process knows; others may have used some since its last reservation.
   */
  readonly remaining: number;
  readonly resetAt: Date;
  /** Whole seconds until then, at least 1. */
  readonly resetSeconds: number;
}

/** Counts the points that each key spends in a minute. */
export interface Counter {
  /** Points of a key in each window; 0: no limit. */
  readonly limit: number;
  /** Spends points, or none of them when there are not enough. Null without a limit. Never rejects. */
  spend(key: string, points?: number): Promise<Spending | null>;
  /** Refunds a part of the points and returns the new state. After the window there is nothing to refund. */
  giveBack(key: string, points: number, spending: Spending): Spending;
}

/** The counter that several processes share. */
export interface SharedPoints {
  /** Adds to the points of a name and returns the sum. */
  take(name: string, points: number): Promise<number>;
  /** Deletes old windows. Never rejects. */
  sweep(): Promise<void>;
}

/** Options of {@link createCounter}. */
export interface CounterOptions {
  readonly name: string;
  readonly limit: number;
  /** Null if this process is the only one. */
  readonly shared: SharedPoints | null;
  readonly now: () => Date;
  readonly log: { warn(fields: object, message: string): void };
}

/** A process's reservation of one key's points in one window. */
interface Quota {
  /** Reserved and not spent. */
  remaining: number;
  /** Reserved by this process in all. */
  reserved: number;
  /** Reserved by all processes, as of the last reservation. */
  reservedByAll: number;
  /** True: no more points are available in this window. */
  isExhausted: boolean;
  reserving: Promise<void> | null;
}

/**
 * Creates a limit on points for each key and minute. A process reserves a twentieth of a shared limit at once and
 * spends it from memory, so that most requests need no statement; all processes together never spend more than the
 * limit. If the shared counter does not answer, each process counts alone: serving too much is better than serving
 * nothing.
 */
export function createCounter(options: CounterOptions): Counter {
  const { limit, shared, now } = options;
  const batch = Math.ceil(limit * reservedShare);
  let window = 0;
  let quotas = new Map<string, Quota>();
  let warnedIn = 0;

  const quotaOf = (key: string): Quota => {
    const current = Math.floor(now().getTime() / windowMs);
    if (current !== window) {
      window = current;
      quotas = new Map();
      void shared?.sweep();
    }
    const found = quotas.get(key);
    if (found) return found;
    const [oldest] = quotas.size >= maxKeys ? quotas.keys() : [];
    if (oldest !== undefined) quotas.delete(oldest);
    // Without a shared counter, a process has the whole limit from the beginning.
    const mine = shared ? 0 : limit;
    const quota = {
      remaining: mine,
      reserved: mine,
      reservedByAll: mine,
      isExhausted: shared === null,
      reserving: null,
    };
    quotas.set(key, quota);
    return quota;
  };

  const fill = async (from: SharedPoints, quota: Quota, name: string, missing: number): Promise<void> => {
    const wanted = Math.min(limit, Math.max(batch, missing));
    const mine = limit - quota.reserved;
    let granted = Math.min(wanted, mine);
    try {
      quota.reservedByAll = await inTime(from.take(name, wanted));
      granted = Math.max(0, Math.min(granted, limit - (quota.reservedByAll - wanted)));
    } catch (error) {
      if (warnedIn !== window) {
        options.log.warn(
          { err: error, limit: options.name },
          'The shared rate limit store isn’t responding: this process counts alone.',
        );
      }
      warnedIn = window;
    }
    quota.remaining += granted;
    quota.reserved += granted;
    quota.isExhausted = granted < wanted;
  };

  return {
    limit,
    giveBack(key, points, spending) {
      const quota = quotaOf(key);
      if ((window + 1) * windowMs !== spending.resetAt.getTime()) return spending;
      const before = quota.remaining;
      quota.remaining = Math.min(quota.reserved, before + points);
      return { ...spending, remaining: spending.remaining + quota.remaining - before };
    },
    async spend(key, points = 1) {
      if (limit === 0) return null;
      const quota = quotaOf(key);
      const mine = window;
      while (shared && quota.remaining < points && points <= limit && !quota.isExhausted) {
        quota.reserving ??= fill(shared, quota, `${options.name}:${key}:${mine}`, points - quota.remaining).finally(
          () => {
            quota.reserving = null;
          },
        );
        await quota.reserving;
      }
      const isAllowed = quota.remaining >= points;
      if (isAllowed) quota.remaining -= points;
      const resetAt = new Date((mine + 1) * windowMs);
      return {
        isAllowed,
        limit,
        remaining: quota.remaining + (quota.isExhausted ? 0 : Math.max(0, limit - quota.reservedByAll)),
        resetAt,
        resetSeconds: Math.max(1, Math.ceil((resetAt.getTime() - now().getTime()) / 1_000)),
      };
    },
  };
}

async function inTime<T>(answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`There was no answer within ${answerMs} ms.`)), answerMs);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
