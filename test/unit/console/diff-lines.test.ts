import { expect, it } from 'vitest';
import { firstLines, type Hunk, languageOf, toHunkData } from '../../../web/src/changes/diff-lines.ts';

const hunk = (lines: readonly string[], more: Partial<Hunk> = {}): Hunk => ({
  ...{ oldStart: 5, oldLines: 2, newStart: 7, newLines: 2, heading: '', lines },
  ...more,
});
const texts = (hunks: readonly Hunk[]) =>
  toHunkData(hunks).flatMap(({ changes }) => changes.map(({ content }) => content));

it('numbers the lines of both versions', () => {
  const [data] = toHunkData([hunk([' a', '-b', '+c', '+d', ' e'])]);
  expect(data?.changes.map(({ content: _, ...rest }) => rest)).toEqual([
    { type: 'normal', oldLineNumber: 5, newLineNumber: 7, isNormal: true },
    { type: 'delete', lineNumber: 6, isDelete: true },
    { type: 'insert', lineNumber: 8, isInsert: true },
    { type: 'insert', lineNumber: 9, isInsert: true },
    { type: 'normal', oldLineNumber: 7, newLineNumber: 10, isNormal: true },
  ]);
  // The start of an empty range is the line before it.
  const [added] = toHunkData([hunk(['+x'], { oldStart: 3, oldLines: 0, newStart: 4, newLines: 1 })]);
  expect(added?.changes[0]).toMatchObject({ lineNumber: 4 });
});

it('shows characters that are invisible or change the direction of text', () => {
  expect(texts([hunk(['+if (admin\u202E) {', '+a\u0000b\u001b[31m', ' \tx'])])).toEqual([
    'if (admin[U+202E]) {',
    'a[U+0000]b[U+001B][31m',
    '\tx',
  ]);
  expect(toHunkData([hunk([' a'], { heading: 'f\u202E' })])[0]?.content).toBe('f[U+202E]');
});

it('shows carriage returns that not all lines have', () => {
  expect(texts([hunk([' a\r', '+b\r'])])).toEqual(['a', 'b']);
  expect(texts([hunk(['-a', '+a\r', '+b\rc'])])).toEqual(['a', 'a[CR]', 'b[CR]c']);
});

it('cuts long lines, and says that a line has no line feed', () => {
  const [long = ''] = texts([hunk([`+${'x'.repeat(1_000_000)}`])]);
  expect(long.length).toBeLessThan(2_100);
  expect(long).toContain('(998,000 more characters)');
  expect(texts([hunk(['-a', '\\ No newline at end of file', '+a'])])).toEqual(['a ⊘ No newline at end of file', 'a']);
});

it('returns the first lines of long diffs', () => {
  const all = [hunk([' a', '+b', '+c']), hunk([' d', '+e'])];
  expect(firstLines(all, 4).map(({ lines }) => lines)).toEqual([[' a', '+b', '+c'], [' d']]);
  expect(firstLines(all, 3)).toEqual([all[0]]);
  expect(firstLines(all, 9)).toEqual(all);
});

it('finds the language by the name of the file', () => {
  expect(['a/b.ts', 'Makefile', 'x.TAR.Gz', '.gitignore', 'a.b/c'].map(languageOf)).toEqual([
    'ts',
    'makefile',
    'gz',
    'gitignore',
    'c',
  ]);
});
