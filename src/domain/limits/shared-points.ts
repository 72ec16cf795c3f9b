import { RateLimiterPostgres } from 'rate-limiter-flexible';
import type { Store } from '../../store/store.ts';
import { type SharedPoints, windowMs } from './counter.ts';

/** How often a process deletes what is past. */
const sweepMs = 5 * 60_000;

/** Counts in the table `rate_limit` of PostgreSQL, which its processes share; one statement for each taking. */
export function sharePoints(store: Pick<Store, 'execute'>): SharedPoints {
  const client = {
    async query({ text, values }: { text: string; values: readonly unknown[] }) {
      const rows = await store.execute(text, values);
      return { rows, rowCount: rows.length };
    },
  };
  const limiter = new RateLimiterPostgres({
    storeClient: client,
    storeType: 'client',
    tableName: 'rate_limit',
    tableCreated: true,
    keyPrefix: '',
    // What may be had is the counters' to say: here it is only added up.
    points: 1,
    // A name holds its window, so that a row needs no end; only for the clocks of machines to differ, and then be swept.
    duration: (2 * windowMs) / 1_000,
    // Its timer could not be ended.
    clearExpiredByTimeout: false,
  });
  let sweptAt = 0;
  return {
    async take(name, points) {
      return (await limiter.penalty(name, points)).consumedPoints;
    },
    async sweep() {
      if (Date.now() - sweptAt < sweepMs) return;
      sweptAt = Date.now();
      // Missing in the package's types.
      await (limiter as unknown as { clearExpired(expire: number): Promise<void> }).clearExpired(Date.now());
    },
  };
}
