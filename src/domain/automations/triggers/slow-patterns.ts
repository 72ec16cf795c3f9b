import { createHash } from 'node:crypto';
import type { PatternTest, TooSlow } from '../../patterns.ts';

/** Remembers patterns that were too slow, so that they are not run again at once. */
export interface SlowPatterns {
  /** Returns the result of tests that must not be run; null: run them. */
  find(organizationId: string, tests: readonly PatternTest[]): TooSlow | null;
  /** Records that the test with the index `slow` was too slow. */
  add(organizationId: string, tests: readonly PatternTest[], slow: number): void;
}

const pauseMs = 60 * 1_000;
/**
 * Number of slow calls within {@link pauseMs} after which no pattern of the organization runs until that time has
 * passed.
 */
const maxSlowCalls = 3;

/** Creates {@link SlowPatterns}. Entries live for a minute, so that memory is bounded. */
export function createSlowPatterns(now: () => Date): SlowPatterns {
  const calls = new Map<string, { readonly patterns: string; readonly slow: number; readonly atMs: number }[]>();
  const recent = (organizationId: string) => {
    const time = now().getTime();
    // A time in the future: the clock was set back.
    const recentCalls = (calls.get(organizationId) ?? []).filter(({ atMs }) => atMs <= time && time - atMs < pauseMs);
    if (recentCalls.length === 0) calls.delete(organizationId);
    else calls.set(organizationId, recentCalls);
    return recentCalls;
  };
  return {
    find(organizationId, tests) {
      const slowCalls = recent(organizationId);
      if (slowCalls.length === 0) return null;
      const patterns = hashOf(tests);
      const same = slowCalls.find((each) => each.patterns === patterns);
      if (same) return { slow: same.slow };
      return slowCalls.length >= maxSlowCalls ? { slow: null } : null;
    },
    add(organizationId, tests, slow) {
      for (const id of calls.keys()) recent(id);
      const call = { patterns: hashOf(tests), slow, atMs: now().getTime() };
      calls.set(organizationId, [...recent(organizationId), call]);
    },
  };
}

const hashOf = (tests: readonly PatternTest[]): string =>
  createHash('sha256')
    .update(JSON.stringify(tests.map(({ pattern }) => pattern)))
    .digest('base64');
