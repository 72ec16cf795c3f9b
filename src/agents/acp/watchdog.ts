/** Watches for a silence that is too long, and for a turn that is. */
export interface Watchdog {
  /** Resolves with how long it was silent; never, when it is stopped before. */
  readonly hung: Promise<number>;
  /** Resolves when the turn took all its time; never, when there is no limit, or it is stopped before. */
  readonly overdue: Promise<void>;
  stop(): void;
}

/** What a watchdog goes by. */
export interface WatchOptions {
  readonly inactivityMs: number;
  /** Null: a turn may take as long as it shows signs of life. */
  readonly maxTurnMs: number | null;
  /** When the last sign was, by the monotonic clock, and how much patience the work at hand deserves. */
  lastSign(): { atMs: number; timeoutFactor: number };
  /** Whether the agent waits for the user, and does nothing else: a turn is not blamed for that. */
  isWaiting(): boolean;
}

/** The most that a timer can wait. */
const maxTimerMs = 2 ** 31 - 1;

/**
 * A watch over a turn. It is silent for too long `inactivityMs`, times the patience, after the last sign of life; it is
 * overdue after `maxTurnMs`, and where the agent then waits for the user, another `maxTurnMs` later.
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
