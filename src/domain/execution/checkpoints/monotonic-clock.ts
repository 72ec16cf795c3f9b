/** A monotonic clock. Tests move it. */
export interface MonotonicClock {
  /** In milliseconds. */
  now(): number;
  /** Calls `act` once after this time, unless the returned function is called before. */
  after(ms: number, act: () => void): () => void;
}

/** The clock of this process. Its timers do not keep the process running. */
export const processClock: MonotonicClock = {
  now: () => performance.now(),
  after(ms, act) {
    const timer = setTimeout(act, ms).unref();
    return () => clearTimeout(timer);
  },
};
