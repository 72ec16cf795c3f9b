import { fromMtime, sizeOf } from '../../../checkpoints/manifest.ts';
import type { CheckpointReader } from '../../../checkpoints/open-checkpoint.ts';
import { decodeName, isTextName } from './entry-names.ts';
import type { WorkspaceEntry, WorkspaceTree } from './workspace-tree.ts';

/** The directory of the workspace in a manifest. */
const root = 'workspace';

const types = { file: 'FILE', directory: 'DIRECTORY', link: 'LINK' } as const;

/** An entry with its path in the manifest, of one character for each byte. */
interface Found extends WorkspaceEntry {
  readonly stored: string;
}

/** Creates the tree of the workspace in a checkpoint. What is outside of it, such as the agent's home, is not part of the tree. */
export function createWorkspaceTree({ entries, read }: CheckpointReader): WorkspaceTree {
  const children = new Map<string, string[]>();
  let entryCount = 0;
  for (const path of entries.keys()) {
    if (!path.startsWith(`${root}/`)) continue;
    entryCount++;
    const end = path.lastIndexOf('/');
    const directory = path.slice(0, end);
    const names = children.get(directory);
    if (names) names.push(path.slice(end + 1));
    else children.set(directory, [path.slice(end + 1)]);
  }
  const found = (stored: string, names: readonly string[]): Found | null => {
    const entry = entries.get(stored);
    if (!entry) return null;
    const { type, mode, mtime, target } = entry;
    return {
      ...{ stored, name: names.at(-1) ?? '', path: names.join('/'), type: types[type] },
      size: type === 'file' ? sizeOf(entry) : 0,
      ...{ mode, modifiedAt: new Date(Math.floor(fromMtime(mtime) * 1_000)) },
      target: type === 'link' ? decodeName(target) : null,
    };
  };
  const listed = new Map<string, ReadonlyMap<string, Found>>();
  // The entries of one directory by their names as texts, in order. The last directories are kept.
  const list = (directory: string, names: readonly string[]): ReadonlyMap<string, Found> => {
    const kept = listed.get(directory);
    if (kept) return kept;
    const own = new Map<string, Found>();
    // Another name could be written as one with other bytes: a name that is text takes precedence.
    const inOrder = (children.get(directory) ?? []).toSorted((a, b) => Number(isTextName(b)) - Number(isTextName(a)));
    for (const bytes of inOrder) {
      const name = decodeName(bytes);
      const entry = own.has(name) ? null : found(`${directory}/${bytes}`, [...names, name]);
      if (entry) own.set(name, entry);
    }
    const sorted = new Map([...own].sort(([, a], [, b]) => order(a, b)));
    if (listed.size >= maxListed) listed.clear();
    listed.set(directory, sorted);
    return sorted;
  };
  const find = (names: readonly string[]): Found | null => {
    let at = found(root, []);
    for (const [n, name] of names.entries()) {
      if (at?.type !== 'DIRECTORY') return null;
      at = list(at.stored, names.slice(0, n)).get(name) ?? null;
    }
    return at;
  };
  return {
    entryCount,
    find,
    list(names) {
      const directory = find(names);
      return directory?.type === 'DIRECTORY' ? [...list(directory.stored, names).values()] : null;
    },
    read(names, options = {}) {
      const file = find(names);
      if (file?.type !== 'FILE') throw new Error('Only a file can be read.');
      return read(file.stored, options);
    },
  };
}

const maxListed = 100;

/** Directories first, then by name. */
function order(a: WorkspaceEntry, b: WorkspaceEntry): number {
  const [first, second] = [a.type === 'DIRECTORY', b.type === 'DIRECTORY'];
  if (first !== second) return first ? -1 : 1;
  return a.name < b.name ? -1 : 1;
}
