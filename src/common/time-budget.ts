/** Limits work to a share of the time, but allows more of it at once. */
export interface TimeBudget {
  /** Counts work that took `ms`. Returns the time in ms to wait before the next work; 0 if none. */
  spend(ms: number): number;
}

/**
 * Creates a {@link TimeBudget} that allows a share of the time, and `burstMs` at once: a process that waits for a processor while it
 * works seems to work longer.
 */
export function createTimeBudget(
  share: number,
  burstMs: number,
  now: () => number = () => performance.now(),
): TimeBudget {
  let debtMs = 0;
  let lastAt = now();
  return {
    spend(ms) {
      const at = now();
      debtMs = Math.max(0, debtMs - (at - lastAt) * share) + ms;
      lastAt = at;
      return Math.max(0, debtMs - burstMs) / share;
    },
  };
}
