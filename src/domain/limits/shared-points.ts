import { RateLimiterPostgres } from 'rate-limiter-flexible';
import type { Store } from '../../store/store.ts';
import { type SharedPoints, windowMs } from './counter.ts';

/** Interval at which a process deletes old windows. */
const sweepMs = 5 * 60_000;

/** Counts in the table `rate_limit` of PostgreSQL, which its processes share; one statement for each reservation. */
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
    // The counters check the limit: here points are only summed.
    points: 1,
    // A name contains its window, so a row needs no expiry except for its deletion; the factor allows for different
    // clocks.
    duration: (2 * windowMs) / 1_000,
    // Its timer cannot be stopped.
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
