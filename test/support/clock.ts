import type { TestApp } from './app.ts';

/** A clock that stands still until it is moved, so that a minute is not over by chance. */
export interface Clock {
  advance(ms: number): void;
}

/** Stops the clock of some processes, ten seconds into a minute. */
export function stopClock(...tests: Pick<TestApp, 'app'>[]): Clock {
  let at = Math.floor(Date.now() / 60_000) * 60_000 + 10_000;
  for (const { app } of tests) (app.services as { now: () => Date }).now = () => new Date(at);
  return {
    advance(ms) {
      at += ms;
    },
  };
}
