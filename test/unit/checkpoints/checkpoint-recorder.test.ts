import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { CheckpointError, type MissingPart } from '../../../src/checkpoints/driver.ts';
import { createCheckpointMetrics } from '../../../src/domain/execution/checkpoints/checkpoint-metrics.ts';
import { createCheckpointRecorder } from '../../../src/domain/execution/checkpoints/checkpoint-recorder.ts';
import { createSafetyNotices } from '../../../src/domain/execution/checkpoints/safety-notices.ts';
import type { SessionSave, SessionSaved } from '../../../src/domain/execution/checkpoints/session-saver.ts';
import { FencedError } from '../../../src/domain/sessions/log.ts';
import { createMetrics } from '../../../src/metrics/metrics.ts';

type Result = SessionSaved | null | Error;

/** A recorder with a clock that only the test moves, and a saver whose saves the test ends. */
function open(known: MissingPart[] = []) {
  let now = 0;
  const timers = new Set<{ at: number; act: () => void }>();
  const notified: string[] = [];
  const lost: Error[] = [];
  const saves: (SessionSave & { end(result?: Result): Promise<void> })[] = [];
  const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
  const metrics = createCheckpointMetrics(createMetrics());
  let isClosed = false;
  const recorder = createCheckpointRecorder(
    { log, now: () => new Date(Date.UTC(2026, 0, 1) + now) },
    {
      sessionId: 's',
      metrics,
      notices: createSafetyNotices(async (body) => void notified.push(body), known),
      clock: {
        now: () => now,
        after(ms, act) {
          const timer = { at: now + ms, act };
          timers.add(timer);
          return () => timers.delete(timer);
        },
      },
      saver: {
        save: (save) =>
          new Promise((resolve, reject) => {
            save.signal.addEventListener('abort', () => reject(new CheckpointError('STOPPED', 'stopped')));
            const end = async (result: Result = { storedBytes: 10, missing: [] }) => {
              if (result instanceof Error) reject(result);
              else resolve(result);
              await setImmediate();
            };
            saves.push({ ...save, end });
          }),
        close: async () => {
          isClosed = true;
        },
      },
      onLost: (error) => lost.push(error),
    },
  );
  return {
    recorder,
    metrics,
    notified,
    lost,
    saves,
    isClosed: () => isClosed,
    /** Moves the clock, and runs what is due on the way. */
    async advance(ms: number) {
      const until = now + ms;
      for (;;) {
        const [next] = [...timers].filter(({ at }) => at <= until).sort((a, b) => a.at - b.at);
        if (!next) break;
        now = Math.max(now, next.at);
        timers.delete(next);
        next.act();
        await setImmediate();
      }
      now = until;
    },
    plans: () => saves.map(({ kind, turn, withIgnored }) => [kind, turn, withIgnored]),
    last: () => saves.at(-1) as (typeof saves)[number],
  };
}

it('saves one at a time, and waits for the checkpoint at the end of a turn', async () => {
  const { recorder, advance, plans, last, metrics } = open();
  recorder.turnStarted(1);
  recorder.toolCall('a', true);
  await advance(999);
  expect(plans()).toEqual([]);
  await advance(1);
  recorder.toolCall('b', true);
  await advance(10_000);
  expect(plans()).toEqual([['WORK', null, false]]);
  await last().end();
  await advance(0);
  let isOver = false;
  const ended = recorder.turnEnded(1).then(() => {
    isOver = true;
  });
  await advance(0);
  expect(plans()).toEqual([
    ['WORK', null, false],
    ['TURN_END', 1, false],
  ]);
  expect(last().isUrgent).toBe(true);
  expect(isOver).toBe(false);
  await last().end();
  await ended;
  await advance(0);
  expect(plans().at(-1)).toEqual(['TURN_END', 1, true]);
  expect(last().isUrgent).toBe(false);
  await last().end(null);
  expect(metrics.read()).toMatchObject({ saved: 2, failed: 0, storedBytes: 20, unsafeSessions: 0, oldestUnsavedMs: 0 });
});

it('lets the next turn begin after five seconds, and goes on saving', async () => {
  const { recorder, advance, last, plans } = open();
  recorder.turnStarted(1);
  const ended = recorder.turnEnded(1);
  await advance(5_000);
  await ended;
  recorder.turnStarted(2);
  await last().end();
  expect(plans()).toEqual([['TURN_END', 1, false]]);
});

it('says once that a workspace is not safe, and once that it is safe again', async () => {
  const { recorder, advance, last, notified, metrics, saves } = open();
  recorder.turnStarted(1);
  await advance(1_000);
  recorder.toolCall('a', true);
  for (let n = 0; n < 5; n++) {
    await advance(n === 0 ? 1_000 : 2 ** (n - 1) * 1_000);
    await last().end(new Error('The storage is full.'));
  }
  expect(saves).toHaveLength(5);
  expect(notified).toEqual([]);
  await advance(20_000);
  expect(notified).toEqual([expect.stringContaining('changes since 2026-01-01T00:00:01.000Z aren’t stored yet')]);
  expect(metrics.read()).toMatchObject({ saved: 0, failed: 5, unsafeSessions: 1 });
  await last().end(new Error('The storage is full.'));
  await advance(60_000);
  expect(notified).toHaveLength(1);
  await last().end();
  await advance(0);
  expect(notified.slice(1)).toEqual(['The workspace is backed up again: all its changes are stored.']);
  expect(metrics.read()).toMatchObject({ saved: 1, failed: 6, unsafeSessions: 0 });
});

it('does not say that a workspace is safe when a slow save has stored only the older changes', async () => {
  const { recorder, advance, last, notified, metrics } = open();
  recorder.turnStarted(1);
  recorder.toolCall('a', true);
  await advance(1_000);
  recorder.toolCall('b', true);
  await advance(60_000);
  await last().end();
  expect([notified.length, metrics.read().unsafeSessions]).toEqual([1, 1]);
  await advance(60_000);
  await last().end();
  await advance(0);
  expect(notified.slice(1)).toEqual(['The workspace is backed up again: all its changes are stored.']);
  expect(metrics.read().unsafeSessions).toBe(0);
});

it('reports missing parts when they change, to users and to the agent', async () => {
  const part = (path: string, reason: MissingPart['reason'] = 'TOO_LARGE') => ({ path, reason, bytes: 1, files: 3 });
  const { recorder, advance, last, notified } = open([part('workspace/known')]);
  const saveWith = async (...missing: MissingPart[]) => {
    recorder.toolCall('a', true);
    await advance(3_000);
    await last().end({ storedBytes: 1, missing });
    await advance(0);
  };
  recorder.turnStarted(1);
  await saveWith(part('workspace/known'));
  await saveWith(part('workspace/known'), part('workspace/busy', 'CHANGING'));
  expect([notified, recorder.takeText()]).toEqual([[], null]);
  const many = Array.from({ length: 22 }, (_, n) => part(`workspace/${n}\n"`));
  await saveWith(...many);
  expect(notified[0]?.split('\n')).toHaveLength(2 + 20 + 1);
  expect(notified[0]).toContain('- "workspace/0\\n\\"" (3 files): beyond the size limit');
  expect(notified[0]).toContain('- and 2 more');
  expect(recorder.takeText()).toContain('would be lost');
  expect(recorder.takeText()).toBeNull();
  await saveWith();
  expect(notified.slice(1)).toEqual(['All parts of the workspace are saved again.']);
});

it('lets a save of ignored files make way once for a save of work', async () => {
  const { recorder, advance, last, plans, saves } = open();
  const turn = async (number: number) => {
    recorder.turnStarted(number);
    recorder.toolCall('a', true);
    await advance(1_000);
  };
  await turn(1);
  await last().end();
  void recorder.turnEnded(1);
  await advance(0);
  await last().end();
  await advance(0);
  expect(plans().at(-1)).toEqual(['TURN_END', 1, true]);
  await turn(2);
  await advance(0);
  expect(saves.at(-2)?.signal.aborted).toBe(true);
  expect(plans().at(-1)).toEqual(['WORK', null, false]);
  await last().end();
  void recorder.turnEnded(2);
  await advance(0);
  await last().end();
  await advance(0);
  expect(plans().at(-1)).toEqual(['TURN_END', 2, true]);
  await turn(3);
  await advance(10_000);
  expect(last().signal.aborted).toBe(false);
  await last().end();
  await advance(0);
  expect(plans().at(-1)).toEqual(['WORK', null, false]);
});

it('settles: saves everything before a handover, and says if it is stored', async () => {
  const { recorder, advance, last, plans } = open();
  recorder.turnStarted(1);
  recorder.toolCall('a', false);
  const settled = recorder.settle(20_000);
  await setImmediate();
  expect(plans()).toEqual([['HANDOVER', null, false]]);
  await last().end(new Error('no storage'));
  await advance(1_000);
  expect(plans()).toHaveLength(2);
  await last().end();
  expect(plans().at(-1)).toEqual(['HANDOVER', null, true]);
  expect(last().isUrgent).toBe(true);
  await last().end(new Error('no storage'));
  expect(await settled).toBe(true);
});

it('settles not later than its time, and records the end of a turn that had no checkpoint', async () => {
  const { recorder, advance, plans, saves, isClosed } = open();
  recorder.turnStarted(4);
  void recorder.turnEnded(4);
  const settled = recorder.settle(3_000);
  await setImmediate();
  expect(plans()).toEqual([['TURN_END', 4, false]]);
  await advance(3_000);
  expect(await settled).toBe(false);
  expect(saves[0]?.signal.aborted).toBe(true);
  await recorder.close();
  expect(isClosed()).toBe(true);
});

it('loses the run at a write that is fenced off', async () => {
  const { recorder, advance, last, lost, saves } = open();
  recorder.turnStarted(1);
  const ended = recorder.turnEnded(1);
  await advance(0);
  await last().end(new FencedError('s'));
  await ended;
  expect(lost).toHaveLength(1);
  recorder.toolCall('a', true);
  await advance(60_000);
  expect(saves).toHaveLength(1);
  expect(await recorder.settle(1_000)).toBe(false);
  await recorder.close();
});
