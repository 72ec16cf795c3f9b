/** Watches for a silence that is too long. */
export interface Watchdog {
  /** Resolves with how long it was silent; never, when it is stopped before. */
  readonly hung: Promise<number>;
  stop(): void;
}

/** The most that a timer can wait. */
const mostMs = 2 ** 31 - 1;

/**
 * A watch that ends `inactivityMs`, times the patience, after the last sign of life. `lastSign` is asked each time that
 * would be over: when the sign was, by the monotonic clock, and how much patience the work at hand deserves.
 */
export function startWatchdog(inactivityMs: number, lastSign: () => { atMs: number; patience: number }): Watchdog {
  let timer: NodeJS.Timeout | undefined;
  const hung = new Promise<number>((resolve) => {
    const look = () => {
      const { atMs, patience } = lastSign();
      const limitMs = inactivityMs * patience;
      const leftMs = limitMs - (performance.now() - atMs);
      if (leftMs <= 0) resolve(limitMs);
      else timer = setTimeout(look, Math.min(Math.max(leftMs, 50), mostMs)).unref();
    };
    look();
  });
  return { hung, stop: () => clearTimeout(timer) };
}
