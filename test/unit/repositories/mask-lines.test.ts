import { expect, it } from 'vitest';
import { maskFile, maskLines, maskPatch } from '../../../src/domain/execution/changes/mask-lines.ts';
import { createSpanFinder } from '../../../src/domain/execution/runs/secret-spans.ts';
import type { FileChange } from '../../../src/git/diff/file-change.ts';

const findSpans = createSpanFinder(['canary-secret-1', 'first line of a key\nsecond line of a key']);

it('replaces secrets by asterisks, and keeps the form of the lines', () => {
  const lines = [' a', '-b canary-secret-1', '+canary-secret-1', '\\ No newline at end of file'];
  const stars = '*'.repeat(15);
  expect(maskLines(lines, findSpans)).toEqual([' a', `-b ${stars}`, `+${stars}`, lines[3]]);
});

it('finds a secret of several lines between lines of the other version', () => {
  const masked = maskLines(['+first line of a key', '-old', '+second line of a key'], findSpans);
  expect(masked[1]).toBe('-old');
  expect(masked.join('\n')).not.toMatch(/first|second/);
  expect(masked.map((line) => line.length)).toEqual([20, 4, 21]);
});

it('masks names and patches, and leaves other bytes alone', () => {
  const file: FileChange = {
    ...{ path: 'x/canary-secret-1', oldPath: null, status: 'ADDED', oldMode: null, mode: '100644' },
    ...{ additions: null, deletions: null, isBinary: true, size: 1, hunks: null },
  };
  expect(maskFile(file, findSpans).path).toBe(`x/${'*'.repeat(15)}`);
  const bytes = Buffer.from([0x2b, 0xff, 0x0a]);
  expect(maskPatch(bytes, findSpans)).toBe(bytes);
  const patch = maskPatch(Buffer.from('+++ b/canary-secret-1\n+canary-secret-1\n'), findSpans);
  expect(patch.toString()).toBe(`+++ b/${'*'.repeat(15)}\n+${'*'.repeat(15)}\n`);
});
