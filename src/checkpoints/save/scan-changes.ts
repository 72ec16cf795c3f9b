import type { MissingPart, MissingReason } from '../driver.ts';
import type { Entry, Layer } from '../manifest.ts';
import type { Location } from './directory-visitor.ts';
import type { IgnoreRules } from './ignore-rules.ts';
import type { DirectoryNode, TreeNode } from './saved-tree.ts';

/** The directory of a name, in the file system and in the tree of the last saved state. */
export interface Slot {
  readonly location: Location;
  readonly node: DirectoryNode;
  /** The names of the layer `ignored` in a directory of the layer `files` are apart. */
  readonly of: 'children' | 'ignored';
  readonly layer: Layer;
  readonly changes: FoundChanges;
  readonly unit: Unit | null;
  /** True in the directory of a repository, and below. */
  readonly isGit: boolean;
}

/** A file that may have changed. */
export interface PendingRead {
  readonly slot: Slot;
  readonly name: string;
  readonly path: string;
  readonly size: number;
  readonly old: TreeNode | undefined;
  isDropped: boolean;
  /** True if it was removed or replaced before it was read. */
  isGone: boolean;
}

/** A file that may be left out for its size. */
export interface LargeFile {
  readonly slot: Slot;
  readonly name: string;
  readonly path: string;
  readonly size: number;
  readonly old: TreeNode | undefined;
  /** Null: it has not changed. */
  readonly read: PendingRead | null;
}

/** A name that is visited in a later pass. */
export interface LateName {
  readonly slot: Slot;
  readonly name: string;
  readonly pass: number;
}

/** A directory that is not read yet. */
export interface Task {
  /** Where its node is. */
  readonly slot: Slot;
  readonly location: Location;
  readonly old: DirectoryNode | null;
  readonly rules: IgnoreRules | null;
}

/** Files and their bytes. */
export interface Totals {
  files: number;
  bytes: number;
}

/** The differences to the last saved state. */
export interface FoundChanges {
  /** Changes of the tree, in order: they are made when the save is committed. */
  readonly apply: (() => void)[];
  /** Paths that are gone, with everything below them. */
  readonly removed: Record<Layer, string[]>;
  /** New and changed directories and links, and files after they were read. */
  readonly entries: Record<Layer, Map<string, Entry>>;
  readonly reads: PendingRead[];
  readonly missing: Record<Layer, MissingPart[]>;
  readonly totals: Record<Layer, Totals>;
  /** Paths of the layer `ignored` that are gone with their directory, and are still in its manifest. */
  readonly orphans: string[];
}

/** An ignored directory or a large ignored file, which is saved completely or not at all. */
export interface Unit {
  readonly slot: Slot;
  readonly name: string;
  readonly path: string;
  readonly old: TreeNode | undefined;
  readonly changes: FoundChanges;
  /** True if it has too many entries. */
  isCut: boolean;
}

/** Returns changes without content. */
export function newChanges(): FoundChanges {
  return {
    apply: [],
    removed: { files: [], ignored: [] },
    entries: { files: new Map(), ignored: new Map() },
    reads: [],
    missing: { files: [], ignored: [] },
    totals: { files: { files: 0, bytes: 0 }, ignored: { files: 0, bytes: 0 } },
    orphans: [],
  };
}

/** Adds the changes of a unit to others. */
export function mergeChanges(target: FoundChanges, added: FoundChanges): void {
  const append = <T>(list: T[], items: readonly T[]) => {
    for (const item of items) list.push(item);
  };
  append(target.apply, added.apply);
  append(target.reads, added.reads);
  append(target.orphans, added.orphans);
  for (const layer of ['files', 'ignored'] as const) {
    append(target.removed[layer], added.removed[layer]);
    append(target.missing[layer], added.missing[layer]);
    for (const [path, entry] of added.entries[layer]) target.entries[layer].set(path, entry);
    target.totals[layer].files += added.totals[layer].files;
    target.totals[layer].bytes += added.totals[layer].bytes;
  }
}

/** Records that a name is gone. */
export function remove(
  { of, layer, node, changes }: Slot,
  name: string,
  path: string,
  old: TreeNode | undefined,
): void {
  if (old === undefined) return;
  changes.apply.push(() => node[of].delete(name));
  if (old.kind === 'absent') return;
  changes.removed[layer].push(path);
  if (old.kind === 'directory' && layer === 'files') collectIgnored(old, path, changes.orphans);
}

/** Records that an ignored name is gone, or not ignored any more. */
export function forgetIgnored(
  changes: FoundChanges,
  node: DirectoryNode,
  name: string,
  path: string,
  child: TreeNode | null,
): void {
  changes.apply.push(() => node.ignored.delete(name));
  if (child !== null && child.kind !== 'absent') changes.orphans.push(path);
}

function collectIgnored(node: DirectoryNode, path: string, orphans: string[]): void {
  const directories: [DirectoryNode, string][] = [[node, path]];
  for (let next = directories.pop(); next !== undefined; next = directories.pop()) {
    const [directory, above] = next;
    for (const [name, child] of directory.ignored) if (child !== null) orphans.push(`${above}/${name}`);
    for (const [name, child] of directory.children) {
      if (child.kind === 'directory') directories.push([child, `${above}/${name}`]);
    }
  }
}

/** A part that is left out: the reason is null if it is not worth a word. */
export interface Absence {
  readonly reason: MissingReason | null;
  readonly bytes: number | null;
  readonly files: number;
}

/** Records that a name is left out. */
export function leaveOut(slot: Slot, name: string, path: string, old: TreeNode | undefined, absence: Absence): void {
  const { of, layer, node, changes } = slot;
  const { reason, bytes, files } = absence;
  if (reason !== null) changes.missing[layer].push({ path: textOf(path), reason, bytes, files });
  if (old?.kind === 'absent' && old.reason === reason) return;
  remove(slot, name, path, old);
  changes.apply.push(() => node[of].set(name, { kind: 'absent', reason }));
}

/** Converts a path of a manifest to text. */
export function textOf(path: string): string {
  return Buffer.from(path, 'latin1').toString();
}
