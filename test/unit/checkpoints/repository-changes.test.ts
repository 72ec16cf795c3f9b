import { expect, it } from 'vitest';
import { isGitRemnant, isRepositoryTorn } from '../../../src/checkpoints/save/repository-changes.ts';
import { type FoundChanges, newChanges } from '../../../src/checkpoints/save/scan-changes.ts';

const scannedAtMs = 1_000_000;

interface Read {
  readonly mtimeMs: number | null;
  readonly size?: number;
  readonly isGit?: boolean;
}

/** Changes in which a file was read, with its time; null: it was gone. */
function changesOf(path: string, { mtimeMs, size = 10, isGit = true }: Read): FoundChanges {
  const changes = newChanges();
  const slot = { isGit, layer: 'files' };
  changes.reads.push({ path, size, slot, isGone: mtimeMs === null } as FoundChanges['reads'][number]);
  const entry = { type: 'file', mode: 0o644, mtime: (mtimeMs ?? 0) * 1_000, chunks: [], target: '' } as const;
  if (mtimeMs !== null) changes.entries.files.set(path, entry);
  return changes;
}

const duringScan = scannedAtMs + 5;
const [large, own] = [2 ** 21, 'workspace/.git'];

it.each<[string, string, Read, boolean]>([
  ['an object that is gone', `${own}/objects/pack/a.pack`, { mtimeMs: null }, true],
  ['a ref that is gone', `${own}/refs/heads/main`, { mtimeMs: null }, true],
  ['a large index that was written during the save', `${own}/index`, { mtimeMs: duringScan, size: large }, true],
  ['a large index that was written just before', `${own}/index`, { mtimeMs: scannedAtMs - 5, size: large }, true],
  ['an older large index', `${own}/index`, { mtimeMs: scannedAtMs - 1_000, size: large }, false],
  ['a commit graph of the save', `${own}/objects/info/commit-graph`, { mtimeMs: duringScan }, true],
  ['a ref that was written during the save', `${own}/refs/heads/main`, { mtimeMs: duringScan }, false],
  ['an object that was written during the save', `${own}/objects/ab/cd`, { mtimeMs: duringScan, size: large }, false],
  ['a draft that is gone', `${own}/COMMIT_EDITMSG`, { mtimeMs: null }, false],
  ['another file', 'workspace/objects/info/a', { mtimeMs: duringScan, size: large, isGit: false }, false],
])('judges a repository by %s', (_name, path, read, isTorn) => {
  expect(isRepositoryTorn(changesOf(path, read), scannedAtMs)).toBe(isTorn);
});

it.each([
  ['index.lock', true],
  ['refs/heads/a/main.lock', true],
  ['worktrees/a/HEAD.lock', true],
  ['objects/ab/tmp_obj_x1', true],
  ['objects/pack/tmp_pack_x1', true],
  ['objects/pack/.tmp-12-pack-ab.pack', true],
  ['index', false],
  ['hooks/yarn.lock', false],
  ['tmp_notes', false],
])('knows what git leaves behind: %s', (path, isRemnant) => {
  expect(isGitRemnant(`workspace/.git/${path}`, path.split('/').at(-1) as string)).toBe(isRemnant);
});
