/** How long a limit's amount lasts. Windows begin with the minutes of the clock, alike in every process. */
export const windowMs = 60_000;
/** What a process takes at once from an amount that several share (pinned 1). */
const shareTakenAtOnce = 0.05;
/** Keys that a process remembers in one window; beyond, the oldest are forgotten: memory is not for strangers to fill. */
const mostKeys = 100_000;
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
interface Purse {
  /** Taken and not spent. */
  left: number;
  /** Taken by this process in all. */
  taken: number;
  /** Taken by all processes, when last heard of. */
  takenByAll: number;
  /** Nothing more can be had in this window. */
  isDry: boolean;
  taking: Promise<void> | null;
}

/**
 * A limit on points for each key and minute. Of a shared amount a process takes a twentieth at once and spends it from
 * memory, so that most requests ask nobody; all of them together never spend more than the limit. Where the shared
 * amount cannot be asked, each process counts alone: it is better to serve too much than nothing.
 */
export function createCounter(options: CounterOptions): Counter {
  const { limit, shared, now } = options;
  const batch = Math.ceil(limit * shareTakenAtOnce);
  let window = 0;
  let purses = new Map<string, Purse>();
  let warnedIn = 0;

  const purseOf = (key: string): Purse => {
    const current = Math.floor(now().getTime() / windowMs);
    if (current !== window) {
      window = current;
      purses = new Map();
      void shared?.sweep();
    }
    const found = purses.get(key);
    if (found) return found;
    const [oldest] = purses.size >= mostKeys ? purses.keys() : [];
    if (oldest !== undefined) purses.delete(oldest);
    // Alone, a process has all of it from the beginning.
    const mine = shared ? 0 : limit;
    const purse = { left: mine, taken: mine, takenByAll: mine, isDry: shared === null, taking: null };
    purses.set(key, purse);
    return purse;
  };

  const fill = async (from: SharedPoints, purse: Purse, name: string, missing: number): Promise<void> => {
    const wanted = Math.min(limit, Math.max(batch, missing));
    const mine = limit - purse.taken;
    let granted = Math.min(wanted, mine);
    try {
      purse.takenByAll = await inTime(from.take(name, wanted));
      granted = Math.max(0, Math.min(granted, limit - (purse.takenByAll - wanted)));
    } catch (error) {
      if (warnedIn !== window) {
        options.log.warn({ err: error, limit: options.name }, 'A shared limit does not answer: counting alone.');
      }
      warnedIn = window;
    }
    purse.left += granted;
    purse.taken += granted;
    purse.isDry = granted < wanted;
  };

  return {
    limit,
    giveBack(key, points, spending) {
      const purse = purseOf(key);
      if ((window + 1) * windowMs !== spending.resetAt.getTime()) return spending;
      const before = purse.left;
      purse.left = Math.min(purse.taken, before + points);
      return { ...spending, remaining: spending.remaining + purse.left - before };
    },
    async spend(key, points = 1) {
      if (limit === 0) return null;
      const purse = purseOf(key);
      const mine = window;
      while (shared && purse.left < points && points <= limit && !purse.isDry) {
        purse.taking ??= fill(shared, purse, `${options.name}:${key}:${mine}`, points - purse.left).finally(() => {
          purse.taking = null;
        });
        await purse.taking;
      }
      const isAllowed = purse.left >= points;
      if (isAllowed) purse.left -= points;
      const resetAt = new Date((mine + 1) * windowMs);
      return {
        isAllowed,
        limit,
        remaining: purse.left + (purse.isDry ? 0 : Math.max(0, limit - purse.takenByAll)),
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
