import { setImmediate } from 'node:timers/promises';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { createLocalNotifier, type LocalNotifier } from '../../../src/realtime/local-notifier.ts';
import type { Batch, LogCheck, LogSource, ReadRequest, TailedLog } from '../../../src/realtime/log-source.ts';
import { pull } from '../../../src/realtime/pull.ts';
import type { TailReader } from '../../../src/realtime/tail.ts';
import { createTailer, type Tailer } from '../../../src/realtime/tailer.ts';

class Outage extends Error {}

interface Numbers extends Batch<number> {
  readonly items: readonly number[];
}

let notifier: LocalNotifier;
let tailer: Tailer;
let settled: Promise<void> | null;
/** The logs by key: an item is its position. */
let logs: Record<string, number>;
let reads: (readonly [key: string, cursor: number, limit: number])[][];
let failures: Error[];

const logOf = (key: string): TailedLog => ({ key, topics: [`session:${key}`] });

const source: LogSource<TailedLog, number, Numbers> = {
  limits: { first: 2, max: 8 },
  maxRequests: 10,
  maxReads: 2,
  stuckMs: null,
  check: {
    async findChanged(open) {
      return open.filter(({ key }) => key !== 'unchanged');
    },
  },
  cursorKey: String,
  groupKey: () => '',
  gapMs: () => 0,
  async read(requests: readonly ReadRequest<TailedLog, number>[]) {
    reads.push(requests.map(({ log, cursor, limit }) => [log.key, cursor, limit]));
    const failure = failures.shift();
    if (failure) throw failure;
    return requests.map(({ log, cursor, limit }) => {
      const length = logs[log.key];
      if (length === undefined) return null;
      const items = Array.from({ length: Math.min(limit, length - cursor) }, (_, n) => cursor + n + 1);
      return { items, cursor: cursor + items.length, hasMore: items.length === limit };
    });
  },
};

const write = (key: string, count: number) => {
  logs[key] = (logs[key] ?? 0) + count;
  notifier.notify(`session:${key}`);
};

/** A reader that takes all at once, with what it got. */
function collect(key: string, options: Partial<TailReader<TailedLog, Numbers>> = {}) {
  const got: number[] = [];
  const events: unknown[] = [];
  const tail = tailer.tail(
    source,
    { log: logOf(key), cursor: 0 },
    {
      mayTake: () => true,
      take(batch) {
        got.push(...batch.items);
        tail.advance(batch.cursor);
      },
      end: () => events.push('end'),
      fail: (error) => events.push(error),
      ...options,
    },
  );
  return { tail, got, events };
}

const pullOf = (key: string) =>
  pull(tailer, { source, log: logOf(key), cursor: 0, mayTake: () => true, select: (batch: Numbers) => batch });

beforeEach(() => {
  notifier = createLocalNotifier(() => undefined);
  settled = null;
  logs = { a: 0, b: 0 };
  reads = [];
  failures = [];
  tailer = createTailer({
    notifier,
    settled: () => settled,
    isOutage: (error) => error instanceof Outage,
    log: { warn: () => undefined },
  });
});

describe('a tailer', () => {
  it('reads once for all readers at one cursor, and for several logs', async () => {
    const readers = [collect('a'), collect('a'), collect('b')];
    await vi.waitFor(() =>
      expect(reads).toEqual([
        [
          ['a', 0, 2],
          ['b', 0, 2],
        ],
      ]),
    );
    write('a', 1);
    write('b', 1);
    await vi.waitFor(() => expect(readers.map(({ got }) => got)).toEqual([[1], [1], [1]]));
    expect(reads.slice(1)).toEqual([
      [
        ['a', 0, 2],
        ['b', 0, 2],
      ],
    ]);
    expect(tailer.count()).toBe(3);
    for (const { tail } of readers) tail.stop();
    expect([tailer.count(), notifier.listenerCount()]).toEqual([0, 0]);
  });

  it('gives each item once and in order while the log grows, in larger batches as long as they are full', async () => {
    const { got } = collect('a');
    for (let n = 0; n < 10; n++) {
      write('a', 3);
      await setImmediate();
    }
    const all = Array.from({ length: 30 }, (_, n) => n + 1);
    await vi.waitFor(() => expect(got).toEqual(all));
    const late = collect('a');
    reads = [];
    await vi.waitFor(() => expect(late.got).toEqual(all));
    expect(reads.flat().map(([, , limit]) => limit)).toEqual([2, 4, 8, 8, 8, 8].slice(0, reads.length));
  });

  it('checks a reader’s access to a batch after the read, when revocations are settled', async () => {
    logs = { a: 1 };
    let isAllowed = true;
    let settle = () => {};
    settled = new Promise<void>((resolve) => {
      settle = resolve;
    });
    const { got, events } = collect('a', { mayTake: () => isAllowed });
    await vi.waitFor(() => expect(reads).toHaveLength(1));
    await setImmediate();
    expect(got).toEqual([]);
    isAllowed = false;
    settle();
    await vi.waitFor(() => expect(events).toEqual(['end']));
    expect([got, tailer.count()]).toEqual([[], 0]);
  });

  it('drops the data of a log that was replaced, and reads the new one', async () => {
    logs = { a: 2, b: 1 };
    let key = 'a';
    const { got } = collect('a', { currentLog: () => logOf(key) });
    key = 'b';
    await vi.waitFor(() => expect(got).toEqual([1]));
    write('a', 1);
    write('b', 1);
    await vi.waitFor(() => expect(got).toEqual([1, 2]));
    expect(notifier.listenerCount()).toBe(1);
  });

  it('repeats a read that failed in an outage, and ends the reader with any other error', async () => {
    logs = { a: 1 };
    failures = [new Outage()];
    const { got } = collect('a');
    await vi.waitFor(() => expect(got).toEqual([1]), { timeout: 60_000 });
    const error = new Error('broken');
    failures = [error];
    const other = collect('a');
    await vi.waitFor(() => expect(other.events).toEqual([error]));
    expect(tailer.count()).toBe(1);
  });

  it('finds missed notifications by one check, also when it is told to', async () => {
    const check = vi.spyOn(source.check as object as { findChanged: () => unknown }, 'findChanged');
    tailer.start(60_000, ['organizations']);
    const [one, other] = [collect('a'), collect('b')];
    await vi.waitFor(() => expect(reads).toHaveLength(1));
    logs = { a: 1, b: 2 };
    notifier.notify('organizations');
    await vi.waitFor(() => expect([one.got, other.got]).toEqual([[1], [1, 2]]));
    expect(check).toHaveBeenCalledTimes(1);
    await tailer.stop();
    check.mockRestore();
  });

  it('skips a check while the previous one runs, and follows it by one after a notification', async () => {
    let end: (changed: TailedLog[]) => void = () => undefined;
    const first = new Promise<TailedLog[]>((resolve) => {
      end = resolve;
    });
    const check = vi.spyOn(source.check as LogCheck<TailedLog>, 'findChanged').mockReturnValueOnce(first);
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    tailer.start(3_000, ['organizations']);
    logs = { unchanged: 0 };
    const { tail } = collect('unchanged');
    vi.advanceTimersByTime(9_000);
    expect(check).toHaveBeenCalledTimes(1);
    for (let n = 0; n < 3; n++) notifier.notify('organizations');
    await setImmediate();
    expect(check).toHaveBeenCalledTimes(1);
    end([]);
    await vi.waitFor(() => expect(check).toHaveBeenCalledTimes(2));
    await setImmediate();
    vi.advanceTimersByTime(3_000);
    expect(check).toHaveBeenCalledTimes(3);
    tail.stop();
    await tailer.stop();
    vi.useRealTimers();
    check.mockRestore();
  });
});

describe('a pull', () => {
  it('reads the next batch when this one has been taken', async () => {
    logs = { a: 5 };
    const items = pullOf('a');
    expect((await items.next()).value).toBe(1);
    for (let n = 0; n < 5; n++) await setImmediate();
    expect(reads).toHaveLength(1);
    expect([(await items.next()).value, (await items.next()).value]).toEqual([2, 3]);
    expect(reads).toHaveLength(2);
    await items.return?.();
    expect(tailer.count()).toBe(0);
  });

  it('subscribes with the first next(), and ends a pending one with return()', async () => {
    const items = pullOf('a');
    expect(tailer.count()).toBe(0);
    const pending = items.next();
    await vi.waitFor(() => expect(reads).toHaveLength(1));
    expect(await items.return?.()).toEqual({ done: true, value: undefined });
    expect(await pending).toEqual({ done: true, value: undefined });
    expect([tailer.count(), notifier.listenerCount()]).toEqual([0, 0]);
    expect(await items.next()).toEqual({ done: true, value: undefined });
  });

  it('rejects with the error of a read, once, and ends with the log', async () => {
    failures = [new Error('broken')];
    const items = pullOf('a');
    await expect(items.next()).rejects.toThrow('broken');
    expect(await items.next()).toEqual({ done: true, value: undefined });
    expect(await pullOf('gone').next()).toEqual({ done: true, value: undefined });
    expect(tailer.count()).toBe(0);
  });
});
