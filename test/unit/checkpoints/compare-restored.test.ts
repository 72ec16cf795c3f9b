import { expect, it } from 'vitest';
import { compareRestored, type Life } from '../../support/checkpoint-kills/compare-restored.ts';
import type { JournalEntry } from '../../support/checkpoint-kills/journal.ts';

// The kill harness is only worth what its comparison finds.

type Start = Life['start'];
const start = (states: Start['states']): Start => ({
  type: 'start',
  at: 0,
  pid: 1,
  worker: 'a',
  how: 'loaded',
  steps: 0,
  states,
});
const begin = (step: number, touches: string[], isLong = false): JournalEntry =>
  ({ type: 'begin', at: step * 1_000 - 500, pid: 1, step, name: 'edit', touches, isLong }) as const;
const end = (step: number, changes: Record<string, string | null>): JournalEntry =>
  ({ type: 'end', at: step * 1_000, pid: 1, step, changes }) as const;

const file = 'workspace/src/a';
const life: Life = {
  start: start({ [file]: 'one' }),
  entries: [
    begin(1, [file]),
    end(1, { [file]: 'two' }),
    begin(2, ['workspace/b']),
    end(2, { 'workspace/b': 'new' }),
    begin(3, ['workspace/node_modules'], true),
    end(3, { 'workspace/node_modules/c': 'installed', [file]: null }),
    begin(4, ['workspace/.git'], true),
  ],
};
const complete = { 'workspace/b': 'new', 'workspace/node_modules/c': 'installed' };
const compare = (states: Start['states']) => compareRestored(life, start(states), 4_000);
const none = { steps: 0, ageMs: 0 };

it('finds that nothing is lost', () => {
  expect(compare(complete)).toEqual({ problems: [], files: none, ignored: none });
});

it('finds the first tool call that is lost, and its age', () => {
  const { files, ignored, problems } = compare({ ...complete, [file]: 'two' });
  expect({ files, ignored, problems }).toEqual({ files: { steps: 1, ageMs: 1_000 }, ignored: none, problems: [] });
  expect(compare({ [file]: 'one' })).toEqual({
    problems: [],
    files: { steps: 3, ageMs: 3_000 },
    ignored: { steps: 1, ageMs: 1_000 },
  });
});

it('accepts what a tool call that has not ended or that lasts may have written', () => {
  expect(compare({ ...complete, 'workspace/.git/index.lock': 'x' })).toEqual({
    problems: [],
    files: none,
    ignored: none,
  });
  const { ignored } = compare({ ...complete, 'workspace/node_modules/c': 'half' });
  expect(ignored).toEqual({ steps: 1, ageMs: 1_000 });
});

it('finds states that the agent never had', () => {
  expect(compare({ ...complete, 'workspace/b': 'half' }).problems).toEqual([
    'workspace/b is "half" and was -1: null, 1: new',
  ]);
  expect(compare({ ...complete, 'workspace/other': 'x' }).problems).toHaveLength(1);
});
