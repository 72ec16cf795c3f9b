/** Detects a silence that is too long, and a turn that is too long. */
export interface Watchdog {
  /** Resolves with the length of the silence; never if stopped before. */
  readonly hung: Promise<number>;
  /** Resolves when the turn exceeds its maximum; never if there is none, or if stopped before. */
  readonly overdue: Promise<void>;
  stop(): void;
}

/** Options of {@link startWatchdog}. */
export interface WatchOptions {
  readonly inactivityMs: number;
  /** Null: no maximum, as long as the agent shows signs of life. */
  readonly maxTurnMs: number | null;
  /** The time of the last sign, by the monotonic clock, and a factor on the timeout for the work in progress. */
  lastSign(): { atMs: number; timeoutFactor: number };
  /** Returns true if the agent only waits for the user; that time is not held against the turn. */
  isWaiting(): boolean;
}

/** The maximum delay of a timer. */
const maxTimerMs = 2 ** 31 - 1;

/**
 * Starts to watch a turn. `hung` resolves `inactivityMs` times the factor after the last sign. `overdue` resolves after
 * `maxTurnMs` or, if the agent then waits for the user, another `maxTurnMs` later.
 */
export function startWatchdog(options: WatchOptions): Watchdog {
  const { inactivityMs, maxTurnMs } = options;
  let inactivityTimer: NodeJS.Timeout | undefined;
  let turnTimer: NodeJS.Timeout | undefined;
  const hung = new Promise<number>((resolve) => {
    const check = () => {
      const { atMs, timeoutFactor } = options.lastSign();
      const limitMs = inactivityMs * timeoutFactor;
      const leftMs = limitMs - (performance.now() - atMs);
      if (leftMs <= 0) resolve(limitMs);
      else inactivityTimer = setTimeout(check, Math.min(Math.max(leftMs, 50), maxTimerMs)).unref();
    };
    check();
  });
  const overdue = new Promise<void>((resolve) => {
    const check = () => (options.isWaiting() ? again() : resolve());
    const again = () => {
      if (maxTurnMs !== null) turnTimer = setTimeout(check, Math.min(maxTurnMs, maxTimerMs)).unref();
    };
    again();
  });
  return {
    hung,
    overdue,
    stop() {
      clearTimeout(inactivityTimer);
      clearTimeout(turnTimer);
    },
  };
}
