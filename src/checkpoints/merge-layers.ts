import { checkpointRoots } from './driver.ts';
import { damagedManifest, type Entry, type Manifest } from './manifest.ts';

const maxNameBytes = 255;
const maxTargetBytes = 4_095;

/**
 * Merges the layers of a checkpoint, and checks all paths: an agent chose the names. The result has a directory for each parent of a
 * path. The layers may have been saved at different times. The layer `files` is newer: its entries replace those of `ignored`, and what
 * `ignored` has in a directory that no longer exists is left out. The entries of `files` come first. Yields every few milliseconds. Throws CheckpointError.
 */
export function* mergeLayers(files: Manifest, ignored: Manifest | null): Generator<undefined, Map<string, Entry>> {
  yield* checkEntries(files.entries, (path) => hasParent(files.entries, path));
  const merged = new Map(files.entries);
  if (ignored === null) return merged;
  yield* checkEntries(
    ignored.entries,
    (path) => (ignored.entries.get(parentOf(path))?.type ?? 'directory') === 'directory',
  );
  // A directory is before the paths in it.
  for (const path of [...ignored.entries.keys()].sort()) {
    const entry = ignored.entries.get(path) as Entry;
    if (!merged.has(path) && hasParent(merged, path)) merged.set(path, entry);
  }
  return merged;
}

/** The number of paths that are checked in one step. */
const pathsOfStep = 5_000;

function* checkEntries(
  entries: ReadonlyMap<string, Entry>,
  isInDirectory: (path: string) => boolean,
): Generator<undefined, void> {
  let checked = 0;
  for (const [path, entry] of entries) {
    if (++checked % pathsOfStep === 0) yield;
    if (!isName(path.slice(path.lastIndexOf('/') + 1))) throw damagedManifest('has a path that is not allowed');
    if (!isInDirectory(path)) throw damagedManifest('has a path without a directory');
    if (entry.type === 'link' && !isTarget(entry.target)) throw damagedManifest('has a link that is not allowed');
  }
}

// The names above are checked with the directories that have them.
function isName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && name.length <= maxNameBytes && !name.includes('\0');
}

function isTarget(target: string): boolean {
  return target !== '' && target.length <= maxTargetBytes && !target.includes('\0');
}

/** Returns true if the entry of a path is in a directory, or is itself a directory of a checkpoint. */
function hasParent(entries: ReadonlyMap<string, Entry>, path: string): boolean {
  if (path.includes('/')) return entries.get(parentOf(path))?.type === 'directory';
  return checkpointRoots.some((root) => root === path) && entries.get(path)?.type === 'directory';
}

/** Returns the path of the directory that has a path; empty for the directories of a checkpoint. */
export function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}
