import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { DraftGrowth } from '../../../src/agents/agent.ts';
import { createDraftSender } from '../../../src/domain/execution/drafts/draft-sender.ts';
import { createHeadCheck } from '../../../src/domain/execution/drafts/head-check.ts';
import { createStreamMask } from '../../../src/domain/execution/drafts/stream-mask.ts';
import { createWatchedSessions } from '../../../src/domain/execution/drafts/watched-sessions.ts';
import { createMask } from '../../../src/domain/execution/runs/masking.ts';
import { createSafeLength } from '../../../src/domain/execution/runs/safe-length.ts';
import { createSpanFinder } from '../../../src/domain/execution/runs/secret-spans.ts';
import { type DraftMessage, readDraftMessage } from '../../../src/domain/sessions/live/draft-message.ts';
import { createLocalBroadcaster } from '../../../src/realtime/local-broadcaster.ts';

const session = '1'.repeat(32);
const id = (n: number) => String(n).padStart(32, '0');
const secret = 'hunter2-Tr0ub4dor';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A sender, and the messages that it has sent. `onMask` is called when it masks text. */
function openSender(onMask: () => void = () => undefined) {
  const broadcaster = createLocalBroadcaster((error) => {
    throw error;
  });
  const watched = createWatchedSessions(broadcaster);
  watched.start();
  const messages: DraftMessage[] = [];
  broadcaster.subscribe('draft', session, (payload) => {
    expect(Buffer.byteLength(payload)).toBeLessThan(broadcaster.maxBytes);
    messages.push(readDraftMessage(payload) as DraftMessage);
  });
  const [mask, safeLength] = [createMask([secret]), createSafeLength([secret])];
  const masking = { findSpans: createSpanFinder([secret]), safeLength, mayBeInside: createHeadCheck([secret]) };
  let streams = 0;
  const createStream = () => {
    streams += 1;
    const stream = createStreamMask(masking);
    return {
      ...stream,
      next(text: string) {
        onMask();
        return stream.next(text);
      },
    };
  };
  const sender = createDraftSender({ broadcaster, watched, sessionId: session, generation: 1, mask, createStream });
  const say = (act: string, by = 'a-1') => broadcaster.publish('watch', act, `${by} ${session}`);
  return {
    sender,
    watched,
    messages,
    streams: () => streams,
    watch: (by?: string) => say('watch', by),
    again: () => say('again'),
    unwatch: (by?: string) => say('unwatch', by),
    grow: (n: number, text: string, more: Partial<DraftGrowth> = {}) =>
      sender.grow({ draftId: id(n), kind: 'message', toolCallId: null, text, ...more }),
    taken: () =>
      messages.splice(0).map(({ version, offset, text, isDone }) => ({ at: `${version}:${offset}`, text, isDone })),
  };
}

it('masks and sends nothing of a session that nobody watches', () => {
  const { grow, sender, streams, messages } = openSender();
  for (let n = 1; n < 100; n++) grow(1, 'word '.repeat(n));
  vi.advanceTimersByTime(1_000);
  expect(sender.completeBlock(id(1), 'raw', 'masked')).toEqual({ text: 'masked', wasSent: false });
  expect([streams(), messages]).toEqual([0, []]);
});

it('does not pause after one slow part: on a busy machine, a process waits while it masks', () => {
  let [nextMs, spentMs] = [0, 0];
  const now = performance.now.bind(performance);
  vi.spyOn(performance, 'now').mockImplementation(() => now() + spentMs);
  const { grow, watch, taken } = openSender(() => {
    spentMs += nextMs;
    nextMs = 0;
  });
  watch();
  const sentInOneSecond = () => {
    for (let n = 0; n < 100; n++) {
      grow(1, 'word '.repeat(Math.floor(now() / 10)));
      vi.advanceTimersByTime(10);
    }
    return taken().length;
  };
  expect(sentInOneSecond()).toBeGreaterThan(15);
  nextMs = 300;
  expect(sentInOneSecond()).toBeGreaterThan(15);
});

it('sends what has grown, at most every 50 ms, and the rest before the entry', () => {
  const { grow, sender, taken, watch } = openSender();
  watch();
  grow(1, 'This is a text. ');
  vi.advanceTimersByTime(1);
  expect(taken()).toEqual([{ at: '0:0', text: 'This is a text. ', isDone: false }]);
  for (let n = 0; n < 20; n++) {
    grow(1, `This is a text. ${'x'.repeat(n)}`);
    vi.advanceTimersByTime(1);
  }
  expect(taken()).toEqual([]);
  vi.advanceTimersByTime(50);
  expect(taken()).toEqual([{ at: '0:16', text: 'x'.repeat(19), isDone: false }]);
  const raw = `This is a text. ${'x'.repeat(19)} ${secret}`;
  const text = `This is a text. ${'x'.repeat(19)} ********`;
  grow(1, raw);
  expect(sender.completeBlock(id(1), raw, text)).toEqual({ text, wasSent: true });
  expect(taken()).toEqual([
    { at: '0:35', text: ' ********', isDone: false },
    { at: '0:44', text: '', isDone: true },
  ]);
  vi.advanceTimersByTime(60_000);
  expect(taken()).toEqual([]);
});

it('sends a new watcher, and one that lost a part, all open drafts', () => {
  const { grow, taken, watch, again } = openSender();
  grow(1, 'Written before anybody watched. ');
  vi.advanceTimersByTime(100);
  watch();
  vi.advanceTimersByTime(1);
  const all = { at: '0:0', text: 'Written before anybody watched. ', isDone: false };
  expect(taken()).toEqual([all]);
  watch();
  vi.advanceTimersByTime(100);
  expect(taken()).toEqual([]);
  watch('a-2');
  vi.advanceTimersByTime(1);
  expect(taken()).toEqual([all]);
  again();
  vi.advanceTimersByTime(1);
  expect(taken()).toEqual([all]);
});

it('says that drafts are open every five seconds, and stops when nobody renews the watch', () => {
  const { grow, sender, taken, watch, watched } = openSender();
  watch();
  grow(1, 'This is a text. ');
  vi.advanceTimersByTime(4_999);
  expect(taken()).toHaveLength(1);
  vi.advanceTimersByTime(2);
  expect(taken()).toEqual([{ at: '0:16', text: '', isDone: false }]);
  vi.advanceTimersByTime(16_000);
  taken();
  expect(watched.whereWatched(session)).toBe('nowhere');
  grow(1, 'This is a text. And more. ');
  vi.advanceTimersByTime(16_000);
  expect(taken()).toEqual([]);
  // Its entry has its id all the same: somebody may still show it.
  expect(sender.completeBlock(id(1), 'raw', 'masked')).toEqual({ text: 'masked', wasSent: true });
  expect(taken()).toEqual([]);
});

it('replaces the output of a tool that reports other output, and does not follow very long output', () => {
  const { grow, sender, taken, watch } = openSender();
  watch();
  const tool = { kind: 'tool_output', toolCallId: 't' } as const;
  grow(1, 'line number 1\n', tool);
  vi.advanceTimersByTime(1);
  grow(1, 'another text', tool);
  vi.advanceTimersByTime(60);
  grow(1, 'another text, longer', tool);
  vi.advanceTimersByTime(60);
  expect(sender.completeOutput(id(1), false)).toBe(true);
  grow(1, 'x'.repeat(3_000_000), tool);
  expect(sender.completeOutput(id(1), true)).toBe(true);
  expect(taken()).toEqual([
    { at: '0:0', text: 'line number 1\n', isDone: false },
    { at: '1:0', text: 'another text', isDone: false },
    { at: '1:12', text: ', longer', isDone: false },
    { at: '1:20', text: '', isDone: true },
  ]);
});

it('follows a bounded amount of output of all running tools together', () => {
  const { sender, grow, watch, messages } = openSender();
  watch();
  const output = (n: number, length: number) =>
    grow(n, 'x'.repeat(length), { kind: 'tool_output', toolCallId: `call-${n}` });
  for (let n = 1; n <= 4; n++) output(n, 1_500_000);
  vi.advanceTimersByTime(4_000);
  const followed = () => [
    ...new Set(messages.splice(0).flatMap(({ text, draftId }) => (text === '' ? [] : [draftId]))),
  ];
  expect(followed()).toEqual([id(1), id(2)]);
  expect(sender.completeOutput(id(3), true)).toBe(false);
  // The end of an output makes room.
  sender.completeOutput(id(1), true);
  messages.splice(0);
  output(4, 1_600_000);
  vi.advanceTimersByTime(4_000);
  expect(followed()).toContain(id(4));
});

it('sends a bounded part of a flood at a time, and the end of it', () => {
  const { grow, taken, watch, messages } = openSender();
  watch();
  let text = '';
  for (let n = 0; n < 20; n++) {
    text += `${n} ${'flood '.repeat(10_000)}`;
    grow(1, text.slice(-190_000));
    grow(2, text, { kind: 'tool_output', toolCallId: 't' });
    vi.advanceTimersByTime(51);
    expect(taken().reduce((sum, part) => sum + part.text.length, 0)).toBeLessThanOrEqual(2 * 16_384);
  }
  vi.advanceTimersByTime(10_000);
  const last = messages.filter(({ draftId }) => draftId === id(2)).findLast((part) => part.text !== '');
  expect((last?.offset ?? 0) + (last?.text.length ?? 0)).toBeGreaterThan(text.length - 10);
});

it('discards what is open at the end of a run, and bounds the number of drafts', () => {
  const { grow, sender, messages, watch, taken } = openSender();
  watch();
  for (let n = 1; n <= 500; n++) grow(n, `Text of the block ${n}. `, { kind: 'tool_output', toolCallId: `t${n}` });
  vi.advanceTimersByTime(100);
  expect(new Set(messages.map(({ draftId }) => draftId)).size).toBeLessThan(60);
  const open = new Set(messages.map(({ draftId }) => draftId)).size;
  taken();
  sender.close();
  expect(taken()).toEqual(Array(open).fill({ at: '1:0', text: '', isDone: true }));
  grow(501, 'late');
  vi.advanceTimersByTime(60_000);
  expect(taken()).toEqual([]);
});

it('shows the answer to a hidden prompt as a thought, and no white space alone', () => {
  const { grow, sender, messages, watch } = openSender();
  watch();
  sender.begin(true);
  grow(1, 'A message that users do not get. ');
  grow(2, ' \n ');
  vi.advanceTimersByTime(100);
  expect(messages.map(({ kind }) => kind)).toEqual(['thought']);
});
