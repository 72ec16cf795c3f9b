import type { TestApp } from './app.ts';

/** A clock that stands still until it is moved, so that a minute does not end by chance. */
export interface Clock {
  advance(ms: number): void;
  /** Also stops the clocks of other processes, at the same time. */
  join(...tests: Pick<TestApp, 'app'>[]): void;
}

/** Stops the clock of some processes at ten seconds into a minute. */
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
