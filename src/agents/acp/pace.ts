import { setTimeout as wait } from 'node:timers/promises';
import { createTimeBudget } from '../../common/time-budget.ts';

/** The share of this process's time that one agent may take for its messages, and the time that it may take at once. */
const share = 0.25;
const burstMs = 1_000;

/** Prevents one agent's flood of messages from taking the time of all others. */
export interface Pace {
  /** Counts work; returns a promise if the agent has to wait before its next work. */
  spend(ms: number): Promise<void> | null;
}

/** Creates a pace: `spend` allows up to a quarter of the time, and one second at once. */
export function createPace(now: () => number = () => performance.now()): Pace {
  const budget = createTimeBudget(share, burstMs, now);
  return {
    spend(ms) {
      const waitMs = budget.spend(ms);
      return waitMs === 0 ? null : wait(waitMs);
    },
  };
}
