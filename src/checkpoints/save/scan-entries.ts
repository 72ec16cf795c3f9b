import { type Dirent, lstatSync, opendirSync, readdirSync, readlinkSync, type Stats } from 'node:fs';
import { type Entry, toMtime } from '../manifest.ts';
import { fileName, type Location } from './directory-visitor.ts';
import { identityOf, isSame } from './identity.ts';
import type { TreeNode } from './saved-tree.ts';
import { remove, type Slot } from './scan-changes.ts';

/** A directory from which names are read one after another, because there may be millions of them. */
const largeDirectoryBytes = 2 ** 18;

/** The names above a limit that are counted: only their order of magnitude matters. */
const maxOthers = 100_000;

/** Reads the names in the current directory, at most `limit`, and counts the others. */
export function readNames({ size }: Stats, limit: number): { names: string[]; others: number } {
  if (size <= largeDirectoryBytes) {
    const all = readdirSync('.', 'latin1');
    return { names: all.length <= limit ? all : all.slice(0, limit), others: Math.max(0, all.length - limit) };
  }
  const names: string[] = [];
  let others = 0;
  const directory = opendirSync('.', { encoding: 'latin1' as BufferEncoding, bufferSize: 1_024 });
  try {
    for (let next = directory.readSync(); next !== null && others < maxOthers; next = directory.readSync()) {
      if (names.length < limit) names.push((next as Dirent<string>).name);
      else others++;
    }
  } finally {
    directory.closeSync();
  }
  return { names, others };
}

/** Compares a link in the current directory with the last saved state. */
export function visitLink(slot: Slot, name: string, path: string, old: TreeNode | undefined, stats: Stats): void {
  const { node, of, changes, layer } = slot;
  changes.totals[layer].files++;
  if (old?.kind === 'file' && isSame(old.identity, stats)) return;
  const nowMs = Date.now();
  let target: string;
  try {
    target = readlinkSync(fileName(name), 'latin1');
  } catch {
    // It was replaced meanwhile: the next save reads the directory again.
    changes.apply.push(() => {
      node.identity = null;
    });
    return;
  }
  const entry: Entry = { type: 'link', mode: 0o777, mtime: toMtime(stats.mtimeMs), chunks: [], target };
  const isKnown =
    old?.kind === 'file' && old.entry.type === 'link' && old.entry.target === target && old.entry.mtime === entry.mtime;
  if (!isKnown) {
    if (old?.kind === 'directory') remove(slot, name, path, old);
    changes.entries[layer].set(path, entry);
  }
  const identity = identityOf(stats, nowMs);
  changes.apply.push(() =>
    node[of].set(name, { kind: 'file', identity, entry: isKnown ? old.entry : entry, isTorn: false }),
  );
}

/** Returns the entry of a directory: the known one if it is the same. */
export function directoryEntry(stats: Stats, known: Entry | null): Entry {
  const mode = stats.mode & 0o7777;
  const mtime = toMtime(stats.mtimeMs);
  if (known !== null && known.mode === mode && known.mtime === mtime) return known;
  return { type: 'directory', mode, mtime, chunks: [], target: '' };
}

/** Returns the status of a name in the current directory. */
export function statusOf(name: string): Stats | undefined {
  try {
    return lstatSync(fileName(name), { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** Returns the names of a path below its root. */
export function namesOf(location: Location, name: string): string[] {
  const names = [name];
  for (let above: Location | null = location; above !== null && above.depth > 0; above = above.parent)
    names.unshift(above.name);
  return names;
}
