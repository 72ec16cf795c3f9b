import { RateLimitedError } from '../../../common/errors.ts';
import { createThreadPool, ThreadError, threadProgram } from '../../../threads/thread-pool.ts';
import type { Log } from '../../context.ts';
import type { PatternAnswer, PatternQuestion, Patterns } from '../../patterns.ts';
import { createSlowPatterns } from './slow-patterns.ts';

/** Settings of {@link createPatterns}: tests set `limitMs`, the time for all tests of one call, and the thread's program. */
export interface PatternOptions {
  readonly log: Log;
  readonly now: () => Date;
  readonly limitMs?: number;
  readonly program?: URL;
  readonly data?: unknown;
}

const defaultLimitMs = 2_000;
/** Waiting calls: of all organizations, and of one. */
const queue = { maxItems: 1_000, maxItemsPerKey: 100 } as const;
const retryAfterSeconds = 5;

/** Creates the service's {@link Patterns}. */
export function createPatterns({ log, now, limitMs = defaultLimitMs, program, data }: PatternOptions): Patterns {
  const threads = createThreadPool<PatternAnswer>({
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
      const slowResult = slowPatterns.find(organizationId, tests);
      if (slowResult !== null) return slowResult;
      const progress = new Int32Array(new SharedArrayBuffer(4));
      const message: PatternQuestion = { tests, progress };
      try {
        return await threads.run({ message, limitMs, key: organizationId });
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
