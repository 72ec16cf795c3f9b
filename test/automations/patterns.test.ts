import { expect, it, onTestFinished } from 'vitest';
import { RateLimitedError } from '../../src/common/errors.ts';
import { createGatedPatterns } from '../support/gated-patterns.ts';

const test = (source: string, ...texts: string[]) => ({ pattern: { kind: 'regex', source } as const, texts });

function createPaused(limitMs?: number, now?: () => Date) {
  const paused = createGatedPatterns(limitMs, now);
  onTestFinished(() => paused.patterns.stop());
  return paused;
}

it('serves organizations in turn, and each one’s calls in order', async () => {
  const { patterns, open, waitForRequests: untilRequested } = createPaused();
  const answered: string[] = [];
  const run = async (organizationId: string, name: string) => {
    await patterns.run(organizationId, [test(name, name)]);
    answered.push(name);
  };
  const calls = [run('one', 'a1')];
  await untilRequested(1);
  calls.push(run('one', 'a2'), run('one', 'a3'), run('one', 'a4'), run('two', 'b1'), run('two', 'b2'));
  open();
  await Promise.all(calls);
  expect(answered).toEqual(['a1', 'a2', 'b1', 'a3', 'b2', 'a4']);
});

it('returns a result for each test, and reports an invalid pattern', async () => {
  const { patterns, open } = createPaused();
  open();
  expect(await patterns.run('one', [test('^a', 'b', 'ab'), test('^a', 'b'), test('('), test('a')])).toEqual([
    true,
    false,
    null,
    false,
  ]);
});

it('limits the waiting calls of an organization, and accepts those of others', async () => {
  const { patterns, open, waitForRequests: untilRequested } = createPaused();
  const first = patterns.run('one', [test('a')]);
  await untilRequested(1);
  const waiting = Array.from({ length: 100 }, () => patterns.run('one', [test('a')]));
  await expect(patterns.run('one', [test('a')])).rejects.toBeInstanceOf(RateLimitedError);
  const other = patterns.run('two', [test('a', 'a')]);
  open();
  expect(await other).toEqual([true]);
  await Promise.all([first, ...waiting]);
});

it('pauses only an organization with three patterns that took too long, for a minute', async () => {
  let now = new Date();
  const { patterns, requestCount } = createPaused(20, () => now);
  for (const [n, name] of ['a', 'b', 'c'].entries()) {
    expect(await patterns.run('one', [test(name, 'x')])).toEqual({ slow: 0 });
    expect(await patterns.run('one', [test(name, 'y')])).toEqual({ slow: 0 });
    expect(requestCount()).toBe(n + 1);
  }
  expect(await patterns.run('one', [test('d', 'x')])).toEqual({ slow: null });
  expect(requestCount()).toBe(3);
  await patterns.run('two', [test('d', 'x')]);
  expect(requestCount()).toBe(4);
  now = new Date(now.getTime() + 60_000);
  await patterns.run('one', [test('d', 'x')]);
  expect(requestCount()).toBe(5);
});

it('ends running and waiting calls when it stops', async () => {
  const { patterns, waitForRequests: untilRequested } = createPaused();
  const calls = [patterns.run('one', [test('a')]), patterns.run('one', [test('a')])];
  const all = Promise.allSettled(calls);
  await untilRequested(1);
  await patterns.stop();
  expect((await all).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
});
