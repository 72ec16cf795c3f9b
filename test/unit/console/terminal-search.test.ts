import { describe, expect, it } from 'vitest';
import { isFound, markRuns } from '../../../web/src/session/terminal-search.ts';

const runs = [
  { text: 'A FAI', style: '' },
  { text: 'LURE fail', style: '31' },
];

describe('the search in terminal lines', () => {
  it('marks each match in any case, also across styles', () => {
    expect(markRuns(runs, 'fail')).toEqual([
      { text: 'A ', style: '', isMatch: false },
      { text: 'FAI', style: '', isMatch: true },
      { text: 'L', style: '31', isMatch: true },
      { text: 'URE ', style: '31', isMatch: false },
      { text: 'fail', style: '31', isMatch: true },
    ]);
  });

  it('leaves lines without a match as they are', () => {
    const unmarked = runs.map((run) => ({ ...run, isMatch: false }));
    expect(markRuns(runs, 'none')).toEqual(unmarked);
    expect(markRuns(runs, '')).toEqual(unmarked);
  });

  it('finds no overlapping matches, and nothing in texts that change their length', () => {
    expect(markRuns([{ text: 'aaaa', style: '' }], 'aa').map(({ text }) => text)).toEqual(['aa', 'aa']);
    expect(isFound('\u0130x', 'x')).toBe(false);
  });
});
