/** How long a limit's amount lasts. Windows begin with the minutes of the clock, alike in every process. */
export const windowMs = 60_000;
/** The part of a shared amount that a process reserves at once (docs/operations.md#rate-limits). */
const reservedShare = 0.05;
/** Keys that a process remembers in one window; beyond, the oldest are forgotten: memory is not for strangers to fill. */
const maxKeys = 100_000;
/** What the place where the amount is shared may take to answer. */
const answerMs = 1_000;

/** What became of a wish to spend. */
export interface Spending {
  readonly isAllowed: boolean;
  readonly limit: number;
  /** What is left of the window, as far as this process knows; others may have taken of it since it last asked. */
  readonly remaining: number;
  readonly resetAt: Date;
  /** Whole seconds until then, at least 1. */
  readonly resetSeconds: number;
}

/** Counts what each key spends in a minute. */
export interface Counter {
  /** Points a key has in each window; 0: no limit. */
  readonly limit: number;
  /** Spends points, or none of them when there are not enough. Null without a limit. Never rejects. */
  spend(key: string, points?: number): Promise<Spending | null>;
  /** Takes back a part of what was spent and gives the spending as it is then. After its window there is nothing to take back. */
  giveBack(key: string, points: number, spending: Spending): Spending;
}

/** Where several processes count together. */
export interface SharedPoints {
  /** Adds to what was taken under a name and gives the sum. */
  take(name: string, points: number): Promise<number>;
  /** Forgets what is long past. Never rejects. */
  sweep(): Promise<void>;
}

/** What {@link createCounter} needs. */
export interface CounterOptions {
  readonly name: string;
  readonly limit: number;
  /** Null where this process is the only one. */
  readonly shared: SharedPoints | null;
  readonly now: () => Date;
  readonly log: { warn(fields: object, message: string): void };
}

/** What a process has of one key's amount in one window. */
interface Quota {
  /** Taken and not spent. */
  remaining: number;
  /** Taken by this process in all. */
  reserved: number;
  /** Taken by all processes, when last heard of. */
  reservedByAll: number;
  /** Nothing more can be had in this window. */
  isExhausted: boolean;
  reserving: Promise<void> | null;
}

/**
 * A limit on points for each key and minute. Of a shared amount a process takes a twentieth at once and spends it from
 * memory, so that most requests ask nobody; all of them together never spend more than the limit. Where the shared
 * amount cannot be asked, each process counts alone: it is better to serve too much than nothing.
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
    // Alone, a process has all of it from the beginning.
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
        options.log.warn({ err: error, limit: options.name }, 'A shared limit does not answer: counting alone.');
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
