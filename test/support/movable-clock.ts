import { type MonotonicClock, processClock } from '../../src/domain/execution/checkpoints/monotonic-clock.ts';

/** A clock that goes as that of the process does, and that a test can move forward. */
export interface MovableClock extends MonotonicClock {
  /** Timers that are due by then are called soon after. */
  advance(ms: number): void;
}

interface Timer {
  readonly at: number;
  readonly act: () => void;
  cancel: () => void;
}

/** Creates a {@link MovableClock}. */
export function createMovableClock(): MovableClock {
  let ahead = 0;
  const timers = new Set<Timer>();
  const now = () => processClock.now() + ahead;
  const begin = (timer: Timer) => {
    timer.cancel();
    timer.cancel = processClock.after(Math.max(0, timer.at - now()), () => {
      timers.delete(timer);
      timer.act();
    });
  };
  return {
    now,
    after(ms, act) {
      const timer: Timer = { at: now() + ms, act, cancel: () => undefined };
      timers.add(timer);
      begin(timer);
      return () => {
        timers.delete(timer);
        timer.cancel();
      };
    },
    advance(ms) {
      ahead += ms;
      for (const timer of [...timers]) begin(timer);
    },
  };
}
