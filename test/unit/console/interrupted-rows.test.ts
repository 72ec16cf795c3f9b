import { expect, it } from 'vitest';
import type { Entry } from '../../../web/src/session/entry.ts';
import { markOf, shownRows } from '../../../web/src/session/fold-rows.ts';
import { transcriptRows } from '../../../web/src/session/transcript-rows.ts';

const base = (seq: number) => ({
  id: `e${seq}`,
  seq,
  createdAt: new Date(Date.UTC(2026, 0, 1, 12, 0, seq)).toISOString(),
});
const entry = (value: object) => value as unknown as Entry;
const message = (seq: number, body: string, type = 'AGENT_MESSAGE') =>
  entry({ __typename: 'SessionMessage', ...base(seq), type, body, delivery: 'DELIVERED' });
const call = (seq: number, toolCallId: string, toolStatus: string) =>
  entry({
    ...{ __typename: 'ToolCallEvent', ...base(seq), toolCallId, title: 'make', toolKind: 'EXECUTE', toolStatus },
    ...{ output: null, locations: [], diffs: [] },
  });
const start = (seq: number, interruptedSeq: number | null = null) =>
  entry({ __typename: 'TurnEvent', ...base(seq), phase: 'STARTED', stopReason: null, interruptedSeq });
const notice = (seq: number) => entry({ __typename: 'NoticeEvent', ...base(seq), body: 'Again', isWarning: false });

const shown = (entries: readonly Entry[]) =>
  shownRows(transcriptRows(entries), () => false)
    .filter(({ type }) => type !== 'day')
    .map((row) => (row.type === 'attempt' ? `attempt of ${row.rows.length} at ${markOf(row)?.seq}` : row.type));

const first = [message(1, 'go', 'USER_MESSAGE'), start(2), message(3, 'started'), call(4, 'c', 'IN_PROGRESS')];
const closed = [call(5, 'c', 'FAILED'), notice(6)];

it('folds what the agent wrote in an interrupted attempt, and keeps the notice and the messages of users', () => {
  const between = message(7, 'hurry', 'USER_MESSAGE');
  const again = [start(8, 2), message(9, 'started'), call(10, 'c', 'COMPLETED')];
  expect(shown([...first, ...closed, between])).toEqual(['message', 'message', 'tool', 'line', 'message']);
  expect(shown([...first, ...closed, between, ...again])).toEqual([
    ...['message', 'attempt of 2 at 3', 'line', 'message', 'tool'],
    // The agent has not received it.
    'message',
  ]);
});

it('folds each of several interrupted attempts for itself, and none that was not interrupted', () => {
  const second = [start(8, 2), message(9, 'started'), notice(10)];
  const third = [start(11, 8), message(12, 'started')];
  expect(shown([...first, ...closed, ...second, ...third])).toEqual([
    ...['message', 'attempt of 2 at 3', 'line', 'attempt of 1 at 9', 'line', 'message'],
  ]);
  expect(shown([...first, start(5), message(6, 'next')])).toEqual(['message', 'message', 'tool', 'message']);
});

it('folds the loaded part of an attempt that began before it', () => {
  expect(shown([message(50, 'late'), notice(51), start(52, 2), message(53, 'again')])).toEqual([
    'attempt of 1 at 50',
    'line',
    'message',
  ]);
});

it('shows a long attempt in parts', () => {
  const many = Array.from({ length: 150 }, (_, n) => message(n + 3, `m${n}`));
  expect(shown([start(2), ...many, start(200, 2)])).toEqual(['attempt of 100 at 3', 'attempt of 50 at 103']);
});
