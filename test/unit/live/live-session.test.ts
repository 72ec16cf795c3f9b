import { expect, it } from 'vitest';
import {
  type DraftMessage,
  readDraftMessage,
  splitForMessages,
  writeDraftMessage,
} from '../../../src/domain/sessions/live/draft-message.ts';
import { DraftWindow, maxRetainedBytes } from '../../../src/domain/sessions/live/draft-window.ts';
import type { DraftChunk, DraftPosition } from '../../../src/domain/sessions/live/live-draft.ts';
import { LiveSession } from '../../../src/domain/sessions/live/live-session.ts';
import { readWatchMessage, writeWatchMessages } from '../../../src/domain/sessions/live/watch-message.ts';
import type { LogEntry } from '../../../src/domain/sessions/log.ts';

const id = (n: number) => String(n).padStart(32, '0');
const message = (fields: Partial<DraftMessage>): DraftMessage => ({
  generation: 1,
  draftId: id(1),
  kind: 'message',
  toolCallId: null,
  version: 0,
  offset: 0,
  text: '',
  isDone: false,
  isTruncated: false,
  ...fields,
});
const entry = (data: object, kind = 'MESSAGE') => ({ kind, data }) as unknown as LogEntry;

/** A session with a subscriber that takes everything at once. */
function openSession() {
  let now = 0;
  let requests = 0;
  const session = new LiveSession(
    () => {
      requests += 1;
    },
    () => now,
  );
  const positions = new Map<string, DraftPosition>();
  const chunks: DraftChunk[] = [];
  const subscriber = {
    draftsChanged() {
      for (const draft of session.drafts()) {
        const batch = draft.chunkAfter(positions.get(draft.id) ?? null);
        if (batch === null) continue;
        chunks.push(batch.items[0]);
        positions.set(draft.id, draft.position());
      }
    },
  };
  session.subscribers.add(subscriber);
  return {
    session,
    chunks,
    send: (fields: Partial<DraftMessage>) => session.take(writeDraftMessage(message(fields))),
    requests: () => requests,
    wait(ms: number) {
      now += ms;
    },
    texts: () => chunks.map(({ offset, text, isDone }) => `${offset} ${text}${isDone ? ' done' : ''}`),
  };
}

it('passes parts on, and ignores repeated ones', () => {
  const { send, texts, requests } = openSession();
  send({ text: 'one ' });
  send({ offset: 4, text: 'two ' });
  send({ text: 'one two ' });
  send({ offset: 2, text: 'e two three' });
  send({ offset: 13, isDone: true });
  send({ offset: 13, text: 'late' });
  expect(texts()).toEqual(['0 one ', '4 two ', '8 three', '13  done']);
  expect(requests()).toBe(0);
});

it('asks for all drafts if a part was lost, once a second, and continues with the answer', () => {
  const { send, texts, requests, wait } = openSession();
  wait(5_000);
  send({ text: 'one ' });
  send({ offset: 8, text: 'three' });
  send({ offset: 13, text: ' four' });
  expect(requests()).toBe(1);
  wait(1_000);
  send({ offset: 13, text: ' four' });
  expect(requests()).toBe(2);
  send({ text: 'one two three four' });
  expect(texts()).toEqual(['0 one ', '4 two three four']);
});

it('replaces the text of a later version, and ignores an earlier one', () => {
  const { send, texts } = openSession();
  send({ text: 'line 1\n' });
  send({ version: 1, text: 'other' });
  send({ version: 0, offset: 7, text: 'line 2\n' });
  send({ version: 1, offset: 5, text: '!' });
  expect(texts()).toEqual(['0 line 1\n', '0 other', '5 !']);
});

it('drops parts that arrive after the entry; only the end of a call closes the draft of its output', () => {
  const { session, send, texts } = openSession();
  send({ text: 'one' });
  session.close(entry({ draftId: id(1) }));
  send({ offset: 3, text: ' two', isDone: true });
  expect([...session.drafts()]).toEqual([]);
  send({ draftId: id(2), kind: 'tool_output', toolCallId: 't', text: 'a' });
  session.close(entry({ draftId: id(2), status: 'in_progress' }, 'TOOL_CALL'));
  send({ draftId: id(2), kind: 'tool_output', toolCallId: 't', offset: 1, text: 'b' });
  session.close(entry({ draftId: id(2), status: 'failed' }, 'TOOL_CALL'));
  send({ draftId: id(2), kind: 'tool_output', toolCallId: 't', offset: 2, text: 'c' });
  expect(texts()).toEqual(['0 one', '0 a', '1 b']);
});

it('discards the drafts of an earlier claim, and those of a worker that died', () => {
  const { send, texts, session, wait } = openSession();
  send({ text: 'one' });
  send({ generation: 2, draftId: id(2), text: 'again' });
  send({ generation: 1, text: 'one two' });
  wait(16_000);
  send({ generation: 2, draftId: id(3), text: 'alive' });
  session.sweep();
  expect(texts()).toEqual(['0 one', '0  done', '0 again', '0 alive', '0  done']);
  wait(16_000);
  session.sweep();
  wait(16_000);
  session.sweep();
  expect([...session.drafts()]).toEqual([]);
});

it('bounds the number of open drafts', () => {
  const { session, send } = openSession();
  for (let n = 0; n < 500; n++) send({ draftId: id(n), text: 'x' });
  expect([...session.drafts()].length).toBeLessThan(100);
});

it('ignores malformed messages', () => {
  const { session, chunks } = openSession();
  const valid = JSON.parse(writeDraftMessage(message({ text: 'x' }))) as unknown[];
  expect(readDraftMessage(JSON.stringify(valid))).toEqual(message({ text: 'x' }));
  const bad = ['', '{', 'null', '[]', '{"a":1}', JSON.stringify([...valid, 1]), JSON.stringify(valid.slice(1))];
  for (const [n, value] of valid.entries()) {
    for (const other of [null, -1, 1.5, 2 ** 60, {}, [], 'x'.repeat(300), true]) {
      if (n === 3 && other === null) continue;
      if (n === 7 && typeof other === 'string') continue;
      if (typeof value === typeof other && n === 3) continue;
      bad.push(JSON.stringify(valid.map((each, at) => (at === n ? other : each))));
    }
  }
  for (const payload of bad) {
    expect([payload, readDraftMessage(payload)]).toEqual([payload, null]);
    session.take(payload);
  }
  expect(chunks).toEqual([]);
  for (const payload of ['', ' ', 'p', 'p x', `p ${id(1)},`, `p ${id(1)} x`, `P! ${id(1)}`, ` ${id(1)}`]) {
    expect([payload, readWatchMessage(payload)]).toEqual([payload, null]);
  }
});

it('writes the watched sessions in messages that fit, and reads them', () => {
  const sessionIds = Array.from({ length: 1_000 }, (_, n) => id(n));
  const payloads = [...writeWatchMessages({ processId: 'a-1', sessionIds })];
  expect(Math.max(...payloads.map((payload) => payload.length))).toBeLessThan(5_000);
  expect(payloads.flatMap((payload) => readWatchMessage(payload)?.sessionIds)).toEqual(sessionIds);
});

it('divides any text into messages that fit, and keeps characters whole', () => {
  for (const unit of ['a', '"\\', '\u0001', 'é漢', '😀', '\u2028x']) {
    const text = unit.repeat(20_000 / unit.length);
    const parts = [...splitForMessages(text, 5_500)];
    expect(parts.join('')).toBe(text);
    for (const part of parts) {
      expect(part.isWellFormed()).toBe(true);
      const payload = writeDraftMessage(
        message({ text: part, toolCallId: '\u0001'.repeat(200), offset: 1e15, generation: 1e9 }),
      );
      expect(Buffer.byteLength(`draft ${id(1)} ${payload}`)).toBeLessThanOrEqual(5_500);
    }
  }
});

it('retains the last 64 KB of a draft, at the borders of characters', () => {
  const window = new DraftWindow();
  let whole = '';
  for (let n = 0; n < 400; n++) {
    const text = `${n} é漢😀${'x'.repeat(n)}`;
    window.append(text);
    whole += text;
    const kept = window.from(window.start);
    expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(maxRetainedBytes);
    if (kept !== whole.slice(window.start) || window.end !== whole.length) throw new Error(`Not the end: ${n}`);
    expect(kept.isWellFormed()).toBe(true);
  }
  expect(window.start).toBeGreaterThan(0);
});
