import { setTimeout as wait } from 'node:timers/promises';

/** The part of this process's time that one agent may take for what it sends, and how much it may take at once. */
const share = 0.25;
const burstMs = 1_000;

/** Keeps one agent's flood from taking the time of all others. */
export interface Pace {
  /** Counts work; a promise where the agent has to wait for the next. */
  spend(ms: number): Promise<void> | null;
}

/** A pace by which `spend` may be used up to a quarter of the time, and for a second at once. */
export function createPace(now: () => number = () => performance.now()): Pace {
  let debtMs = 0;
  let lastAt = now();
  return {
    spend(ms) {
      const at = now();
      debtMs = Math.max(0, debtMs - (at - lastAt) * share) + ms;
      lastAt = at;
      return debtMs <= burstMs ? null : wait((debtMs - burstMs) / share);
    },
  };
}
