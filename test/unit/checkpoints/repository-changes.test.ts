import { expect, it } from 'vitest';
import { isRepositoryTorn } from '../../../src/checkpoints/save/repository-changes.ts';
import { type FoundChanges, newChanges } from '../../../src/checkpoints/save/scan-changes.ts';

const scannedAtMs = 1_000_000;

/** Changes in which these files were read, with their times; null: a file was gone. */
function changesOf(files: Readonly<Record<string, number | null>>, removed: readonly string[] = []): FoundChanges {
  const changes = newChanges();
  for (const [path, mtimeMs] of Object.entries(files)) {
    changes.reads.push({ path } as FoundChanges['reads'][number]);
    const entry = { type: 'file', mode: 0o644, mtime: (mtimeMs ?? 0) * 1_000, chunks: [], target: '' };
    if (mtimeMs !== null) changes.entries.files.set(path, entry as never);
  }
  changes.removed.files.push(...removed);
  return changes;
}

it.each([
  ['a ref that was written during the save', { 'workspace/.git/refs/heads/main': scannedAtMs + 5 }, true],
  ['an index in a clone that was written just before', { 'workspace/app/.git/index': scannedAtMs - 5 }, true],
  ['an older ref', { 'workspace/.git/refs/heads/main': scannedAtMs - 1_000 }, false],
  ['an object that was written during the save', { 'workspace/.git/objects/ab/cd': scannedAtMs + 5 }, false],
  ['another file that was written during the save', { 'workspace/src/.gitignore': scannedAtMs + 5 }, false],
])('knows a torn repository by %s', (_name, files, isTorn) => {
  expect(isRepositoryTorn(changesOf(files), scannedAtMs, true)).toBe(isTorn);
});

it('looks once more for the pack of objects that are gone', () => {
  const path = 'workspace/.git/objects/ab/cd';
  for (const changes of [changesOf({ [path]: null }), changesOf({}, [path])]) {
    expect(isRepositoryTorn(changes, scannedAtMs, true)).toBe(true);
    expect(isRepositoryTorn(changes, scannedAtMs, false)).toBe(false);
  }
});
