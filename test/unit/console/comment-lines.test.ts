import { expect, it } from 'vitest';
import { fileLines, findLines, linesIn, rangeBetween } from '../../../web/src/changes/comment-lines.ts';
import type { Hunk } from '../../../web/src/changes/diff-lines.ts';

const hunk = (oldStart: number, newStart: number, ...lines: string[]): Hunk => ({
  ...{ oldStart, oldLines: 3, newStart, newLines: 3, heading: '', lines },
});
const hunks = [
  hunk(1, 1, ' a', '-old one', '-old two', '+new one', ' z', '\\ No newline at end of file'),
  hunk(9, 8, ' x', '+y'),
];
const lines = fileLines(hunks);
const keyOf = (text: string) => lines.find((line) => line.text === text)?.key ?? '';

it('numbers the lines and leaves out what the diff adds to them', () => {
  expect(lines.map((line) => [line.hunk, line.old, line.new, line.text])).toEqual([
    [0, 1, 1, 'a'],
    [0, 2, null, 'old one'],
    [0, 3, null, 'old two'],
    [0, null, 2, 'new one'],
    [0, 4, 3, 'z'],
    [1, 9, 8, 'x'],
    [1, null, 9, 'y'],
  ]);
});

it('chooses the version that has both ends of a range', () => {
  const range = (from: string, to: string) => rangeBetween(lines, keyOf(from), keyOf(to));
  expect(range('z', 'a')).toEqual({ side: 'new', start: 1, end: 3, quoted: ['a', 'new one', 'z'] });
  expect(range('old one', 'z')).toEqual({ side: 'old', start: 2, end: 4, quoted: ['old one', 'old two', 'z'] });
  expect(range('old one', 'new one')).toBeNull();
  expect(range('a', 'x')).toBeNull();
  expect(linesIn(lines, { side: 'old', start: 3, end: 4 }).map(({ text }) => text)).toEqual(['old two', 'z']);
});

it('finds the lines of a comment where they are, at the nearest other place, or not at all', () => {
  const moved = fileLines([hunk(1, 1, '+one', '+two'), hunk(20, 20, '+one', '+two', '+one', '+two')]);
  const at = (start: number, quoted: readonly string[]) =>
    findLines(moved, { side: 'new', start, end: start + quoted.length - 1, quoted });
  expect(at(22, ['one', 'two'])).toEqual({ start: 22, end: 23 });
  expect(at(18, ['one', 'two'])).toEqual({ start: 20, end: 21 });
  expect(at(2, ['two', 'one'])).toEqual({ start: 21, end: 22 });
  expect(at(1, ['three'])).toBeNull();
});
