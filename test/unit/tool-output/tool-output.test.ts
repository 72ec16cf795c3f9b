import { expect, it } from 'vitest';
import { createUpdateAssembler } from '../../../src/agents/acp/updates.ts';
import type { AgentUpdate, LongOutput } from '../../../src/agents/agent.ts';

type ToolCall = Extract<AgentUpdate, { type: 'toolCall' }>;

const megabyte = 1_048_576;
const assemble = () => {
  let now = 0;
  const assembler = createUpdateAssembler(() => now);
  const take = (toolCallId: string, more: object) =>
    assembler.take({ sessionUpdate: 'tool_call_update', toolCallId, ...more } as never) as ToolCall[];
  return {
    take,
    print: (toolCallId: string, data: string) => take(toolCallId, { _meta: { terminal_output_delta: { data } } }),
    pass: (ms: number) => {
      now += ms;
    },
    endTurn: () => assembler.endTurn() as ToolCall[],
  };
};
const content = (text: string) => ({ content: [{ type: 'content', content: { type: 'text', text } }] });
const longOf = ([update]: ToolCall[]): LongOutput => update?.long ?? expect.fail('The output is not long.');

it('joins the output of a terminal, and retains its first 10 MiB and its end', () => {
  const { take, print } = assemble();
  take('a', { title: 'make', status: 'in_progress' });
  const piece = `${'é'.repeat(megabyte - 1)}\n`;
  for (let n = 0; n < 64; n++) print('a', piece);
  print('a', 'the end');
  const [update] = take('a', { status: 'completed' });
  expect(update?.output?.length).toBe(16_000);
  expect(update?.output?.endsWith('é\nthe end')).toBe(true);
  const long = longOf([update as ToolCall]);
  expect(long).toMatchObject({ characters: 64 * megabyte + 7, bytes: 64 * (2 * megabyte - 1) + 7, isComplete: true });
  expect(long.start === piece.repeat(10)).toBe(true);
  expect(long.end.endsWith(update?.output as string)).toBe(true);
  expect(long.end.length).toBeGreaterThan(16_000);
});

it('reports a running call with its end alone, also if only the size of its output has changed', () => {
  const { take, pass } = assemble();
  take('a', { title: 'yes', status: 'in_progress', ...content('y'.repeat(20_000)) });
  pass(1_000);
  const [update] = take('a', content('y'.repeat(30_000)));
  expect(longOf([update as ToolCall])).toMatchObject({ start: '', characters: 30_000, isComplete: false });
  expect(take('a', content('y'.repeat(30_000)))).toEqual([]);
});

it('replaces the output with the content of a later notification', () => {
  const { take } = assemble();
  take('a', { title: 'top', status: 'in_progress', ...content('first'.repeat(10_000)) });
  const [update] = take('a', { status: 'completed', ...content('second'.repeat(10_000)) });
  expect(longOf([update as ToolCall]).start).toBe('second'.repeat(10_000));
  expect(longOf([update as ToolCall]).bytes).toBe(60_000);
});

it('reports the output of a call that has ended under the same key, although it is not retained', () => {
  const { take } = assemble();
  const text = 'x'.repeat(17_000);
  const first = longOf(take('a', { title: 'one', status: 'completed', ...content(text) }));
  expect(take('a', { status: 'completed', ...content(text) })).toEqual([]);
  const second = longOf(take('a', { title: 'two', ...content(text) }));
  expect(second.key).toBe(first.key);
  expect(second.start).toBe('');
  expect(longOf(take('a', content(`${text}y`))).key).not.toBe(first.key);
});

it('retains no more than 12 MiB of all running calls, and continues with others after one has ended', () => {
  const { take } = assemble();
  const text = 'x'.repeat(5 * megabyte);
  for (const id of ['a', 'b', 'c']) take(id, { title: id, status: 'in_progress', ...content(text) });
  expect(longOf(take('a', { status: 'completed' })).start).toHaveLength(text.length);
  expect(longOf(take('c', { status: 'completed' }))).toMatchObject({ start: '', characters: text.length });
  take('d', { title: 'd', status: 'in_progress', ...content(text) });
  expect(longOf(take('d', { status: 'failed' })).start).toHaveLength(text.length);
});

it('reports all output of a call that is open when the turn ends', () => {
  const { take, print, endTurn } = assemble();
  take('a', { title: 'tail', status: 'in_progress' });
  print('a', 'a'.repeat(20_000));
  take('b', { title: 'cat', status: 'in_progress', ...content('b'.repeat(20_000)) });
  const updates = endTurn();
  expect(updates.map(({ toolCallId }) => toolCallId)).toEqual(['a', 'b']);
  for (const update of updates) expect(update.long).toMatchObject({ isComplete: true, bytes: 20_000 });
  expect(endTurn()).toEqual([]);
});

it('cuts no character in half, and replaces what cannot be stored', () => {
  const { take } = assemble();
  const [update] = take('a', { title: 'a', status: 'completed', ...content(`${'😀'.repeat(8_000)}\0\ud800!`) });
  expect(update?.output).toBe(`${'😀'.repeat(7_998)}\uFFFD\uFFFD!`);
});
