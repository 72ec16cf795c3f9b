import { afterEach, expect, it, vi } from 'vitest';
import { createPostgresBroadcaster } from '../../../src/realtime/postgres-broadcaster.ts';

afterEach(() => {
  vi.useRealTimers();
});

it('stops only once its last messages are sent', async () => {
  vi.useFakeTimers();
  const sent: (() => void)[] = [];
  const broadcaster = createPostgresBroadcaster({
    databaseUrl: 'postgres://unused.invalid',
    notify: () => new Promise<void>((resolve) => sent.push(resolve)),
    keyOf: () => Buffer.alloc(32),
    onError: (error) => expect.fail(String(error)),
  });
  broadcaster.publish('watch', 'watch', 'first');
  broadcaster.publish('watch', 'unwatch', 'last');
  // The time of the next transaction passes while the first is in progress.
  await vi.advanceTimersByTimeAsync(1_000);
  expect(sent).toHaveLength(1);
  let hasStopped = false;
  const stopped = broadcaster.stop().then(() => {
    hasStopped = true;
  });
  sent[0]?.();
  await vi.advanceTimersByTimeAsync(1_000);
  expect([sent.length, hasStopped]).toEqual([2, false]);
  sent[1]?.();
  await stopped;
});
