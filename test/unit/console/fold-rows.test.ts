import { describe, expect, it } from 'vitest';
import type { Entry } from '../../../web/src/session/entry.ts';
import { type FoldRow, foldSummary, shownRows } from '../../../web/src/session/fold-rows.ts';
import { transcriptRows } from '../../../web/src/session/transcript-rows.ts';

const time = (seq: number) => new Date(Date.UTC(2026, 0, 1, 12, 0, seq)).toISOString();
const base = (seq: number) => ({ id: `e${seq}`, seq, createdAt: time(seq) });
const call = (seq: number, toolKind = 'EXECUTE', toolStatus = 'COMPLETED', path?: string) =>
  ({
    ...{ __typename: 'ToolCallEvent', ...base(seq), toolCallId: `c${seq}`, title: `t${seq}`, toolKind, toolStatus },
    ...{ output: null, locations: [], diffs: path ? [{ path, oldText: null, newText: '' }] : [] },
  }) as unknown as Entry;
const thought = (seq: number) => ({ __typename: 'ThoughtEvent', ...base(seq), body: 'Hm' }) as unknown as Entry;
const message = (seq: number, createdAt = time(seq)) =>
  ({ __typename: 'SessionMessage', ...base(seq), createdAt, type: 'AGENT_MESSAGE', body: 'm' }) as unknown as Entry;

const shown = (entries: readonly Entry[], opened: readonly string[] = []) =>
  shownRows(transcriptRows(entries), (key) => opened.includes(key)).filter(({ type }) => type !== 'day');
const types = (entries: readonly Entry[], opened: readonly string[] = []) =>
  shown(entries, opened).map((row) => (row.type === 'fold' ? row.rows.length : row.type));

describe('tool calls that follow each other', () => {
  it('are folded with the thoughts between them, but not with those at the ends', () => {
    const entries = [thought(1), call(2), thought(3), call(4), call(5), thought(6), message(7), call(8)];
    expect(types(entries)).toEqual(['thought', 4, 'thought', 'message', 'tool']);
  });

  it('stay visible if they failed, still run, or the user has opened them', () => {
    expect(types([call(1), call(2), call(3, 'EXECUTE', 'FAILED'), call(4), call(5)])).toEqual([2, 'tool', 2]);
    expect(types([call(1), call(2), call(3, 'EXECUTE', 'IN_PROGRESS')])).toEqual([2, 'tool']);
    expect(types([call(1), call(2), call(3), call(4), call(5)], ['e3'])).toEqual([2, 'tool', 2]);
  });

  it('are split where a fold would be long', () => {
    expect(types(Array.from({ length: 150 }, (_, n) => call(n + 1)))).toEqual([100, 50]);
  });

  it('are summed up by what they did, with each file once, and the time that they took', () => {
    const entries = [call(1), call(2), call(3, 'EDIT', 'COMPLETED', 'a.ts'), call(4, 'EDIT', 'COMPLETED', 'a.ts')];
    const [fold] = shown([...entries, call(5, 'MOVE', 'COMPLETED', 'b.ts'), call(43, 'OTHER')]);
    expect(foldSummary(fold as FoldRow)).toBe('Ran 2 commands, edited 2 files, used 1 tool · 42 sec');
  });
});

it('separates the days of a transcript', () => {
  const rows = [message(1), message(2), message(3, '2026-01-03T12:00:00Z')];
  const all = shownRows(transcriptRows(rows), () => false);
  expect(all.map(({ type }) => type)).toEqual(['day', 'message', 'message', 'day', 'message']);
});
