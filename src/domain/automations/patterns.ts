import { createLimitedThreads, ThreadError, threadProgram } from '../../threads/limited-threads.ts';
import type { Log } from '../context.ts';
import { RateLimitedError } from '../errors.ts';
import { createSlowPatterns } from './slow-patterns.ts';

/** A regular expression of RE2's language, or globs of which any may match. */
export type Pattern =
  | { readonly kind: 'regex'; readonly source: string }
  | { readonly kind: 'globs'; readonly globs: readonly string[] };

/** Whether a pattern matches any of some texts; without texts it is only compiled. */
export interface PatternTest {
  readonly pattern: Pattern;
  readonly texts: readonly string[];
}

/** The message to the thread; `progress[0]` is the index of the test that it works on, in shared memory. */
export interface PatternQuestion {
  readonly tests: readonly PatternTest[];
  readonly progress: Int32Array;
}

/** For each test whether it matches; null: the pattern is no pattern. */
export type PatternAnswer = readonly (boolean | null)[];

/** The index of the test that took too much time or memory; null: those of the organization are paused. */
export interface TooSlow {
  readonly slow: number | null;
}

/** Compiles and runs the patterns of users, in a thread and with a time limit: the only way to do so. */
export interface Patterns {
  /**
   * Runs the tests of one automation. Organizations are served in turn. After patterns were too slow they are answered so for a
   * minute without being run, as are all of an organization's after several. RATE_LIMITED when too many tests wait.
   */
  run(organizationId: string, tests: readonly PatternTest[]): Promise<PatternAnswer | TooSlow>;
  /** Ends the thread. */
  stop(): Promise<void>;
}

/** Settings of {@link createPatterns}: tests set `limitMs`, the time for all tests of one call, and the thread's program. */
export interface PatternOptions {
  readonly log: Log;
  readonly now: () => Date;
  readonly limitMs?: number;
  readonly program?: URL;
  readonly data?: unknown;
}

const defaultLimitMs = 2_000;
/** Calls that wait: of all organizations, and of one. */
const queue = { maxItems: 1_000, maxItemsPerKey: 100 } as const;
const retryAfterSeconds = 5;

/** Creates the service's {@link Patterns}. */
export function createPatterns({ log, now, limitMs = defaultLimitMs, program, data }: PatternOptions): Patterns {
  const threads = createLimitedThreads<PatternAnswer>({
    program: program ?? threadProgram('pattern-thread', import.meta.url),
    maxThreads: 1,
    memory: { oldGenerationMb: 256, youngGenerationMb: 32 },
    idleMs: 5 * 60 * 1_000,
    queue,
    data,
  });
  const slowPatterns = createSlowPatterns(now);
  return {
    async run(organizationId, tests) {
      if (tests.length === 0) return [];
      const known = slowPatterns.find(organizationId, tests);
      if (known !== null) return known;
      const progress = new Int32Array(new SharedArrayBuffer(4));
      const message: PatternQuestion = { tests, progress };
      try {
        return await threads.ask({ message, limitMs, key: organizationId });
      } catch (error) {
        if (!(error instanceof ThreadError)) throw error;
        if (error.reason === 'time' || error.reason === 'memory') {
          const slow = Atomics.load(progress, 0);
          slowPatterns.add(organizationId, tests, slow);
          log.warn({ organizationId, reason: error.reason }, 'A pattern of an automation exceeded its limit.');
          return { slow };
        }
        const busy = 'The service cannot run more regular expressions at the moment. Wait and try again.';
        throw new RateLimitedError(busy, { resetSeconds: retryAfterSeconds, cause: error });
      }
    },
    stop: () => threads.stop(),
  };
}
