import type { TestApp } from './app.ts';

/** A clock that stands still until it is moved, so that a minute is not over by chance. */
export interface Clock {
  advance(ms: number): void;
  /** Stops the clocks of more processes at the same time. */
  join(...tests: Pick<TestApp, 'app'>[]): void;
}

/** Stops the clock of some processes, ten seconds into a minute. */
export function stopClock(...tests: Pick<TestApp, 'app'>[]): Clock {
  let at = Math.floor(Date.now() / 60_000) * 60_000 + 10_000;
  const join: Clock['join'] = (...more) => {
    for (const { app } of more) (app.services as { now: () => Date }).now = () => new Date(at);
  };
  join(...tests);
  return {
    join,
    advance(ms) {
      at += ms;
    },
  };
}
