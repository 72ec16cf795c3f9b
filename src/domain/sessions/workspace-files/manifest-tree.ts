import { fromMtime, sizeOf } from '../../../checkpoints/manifest.ts';
import type { CheckpointReader } from '../../../checkpoints/open-checkpoint.ts';
import { decodeName, encodeName, isTextName } from './entry-names.ts';
import type { WorkspaceEntry, WorkspaceTree } from './workspace-tree.ts';

/** The directory of the workspace in a manifest. */
const root = 'workspace';

const types = { file: 'FILE', directory: 'DIRECTORY', link: 'LINK' } as const;

/** An entry with its path in the manifest, of one character for each byte. */
interface Found extends WorkspaceEntry {
  readonly stored: string;
}

/** Creates the tree of the workspace in a checkpoint. What is outside of it, such as the agent's home, is not part of the tree. */
export function createWorkspaceTree({ entries, fileEntryCount, read }: CheckpointReader): WorkspaceTree {
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
  const escaped = new Map<string, ReadonlyMap<string, string>>();
  /** Returns the names of a directory that are not text, by how they are written. */
  const escapedIn = (directory: string): ReadonlyMap<string, string> => {
    const known = escaped.get(directory);
    if (known) return known;
    const own = new Map<string, string>();
    for (const bytes of children.get(directory) ?? []) {
      if (isTextName(bytes)) continue;
      const name = decodeName(bytes);
      if (!own.has(name)) own.set(name, bytes);
    }
    escaped.set(directory, own);
    return own;
  };
  const found = (stored: string, path: string): Found | null => {
    const entry = entries.get(stored);
    if (!entry) return null;
    const { type, mode, mtime, target } = entry;
    // Without a spread, which takes ten times as long: a directory may have very many entries.
    return {
      stored,
      name: path.slice(path.lastIndexOf('/') + 1),
      path,
      type: types[type],
      size: type === 'file' ? sizeOf(entry) : 0,
      mode,
      modifiedAt: new Date(Math.floor(fromMtime(mtime) * 1_000)),
      target: type === 'link' ? decodeName(target) : null,
    };
  };
  const listed = new Map<string, readonly Found[]>();
  // The entries of one directory in order. The last directories are kept.
  const list = (directory: string, names: readonly string[]): readonly Found[] => {
    const kept = listed.get(directory);
    if (kept) return kept;
    const own: Found[] = [];
    const above = names.length === 0 ? '' : `${names.join('/')}/`;
    for (const bytes of children.get(directory) ?? []) {
      const name = decodeName(bytes);
      // A name that is text may have `\\x` too.
      if (name.includes('\\x') && storedName(directory, name) !== bytes) continue;
      const entry = found(`${directory}/${bytes}`, above + name);
      if (entry) own.push(entry);
    }
    own.sort(order);
    if (listed.size >= maxListed) listed.clear();
    listed.set(directory, own);
    return own;
  };
  // Another name could be written as one with other bytes: a name that is text takes precedence.
  const storedName = (directory: string, name: string): string | undefined => {
    const bytes = encodeName(name);
    if (name.isWellFormed() && entries.has(`${directory}/${bytes}`)) return bytes;
    return name.includes('\\x') ? escapedIn(directory).get(name) : undefined;
  };
  /** Paths of directories in the manifest, by their paths as texts. */
  const directories = new Map<string, string>();
  // Begins at the last directory above that is known: an archive has many directories beside each other. Null: no directory.
  const findDirectory = (names: readonly string[]): string | null => {
    let known = names.length;
    let text = names.join('/');
    for (; known > 0 && !directories.has(text); known--) text = text.slice(0, Math.max(0, text.lastIndexOf('/')));
    let at = directories.get(text) ?? root;
    for (const name of names.slice(known)) {
      const bytes = storedName(at, name);
      if (bytes === undefined || entries.get(`${at}/${bytes}`)?.type !== 'directory') return null;
      at = `${at}/${bytes}`;
      text = text === '' ? name : `${text}/${name}`;
      if (directories.size >= maxDirectories) directories.clear();
      directories.set(text, at);
    }
    return entries.get(at)?.type === 'directory' ? at : null;
  };
  const find = (names: readonly string[]): Found | null => {
    const name = names.at(-1);
    if (name === undefined) return found(root, '');
    const directory = findDirectory(names.slice(0, -1));
    const bytes = directory === null ? undefined : storedName(directory, name);
    return bytes === undefined ? null : found(`${directory}/${bytes}`, names.join('/'));
  };
  return {
    entryCount,
    find,
    list(names) {
      const directory = findDirectory(names);
      return directory === null ? null : list(directory, names);
    },
    *paths() {
      let count = 0;
      for (const path of entries.keys()) {
        if (++count > fileEntryCount) return;
        if (path.startsWith(`${root}/`)) yield decodeName(path.slice(root.length + 1));
      }
    },
    read(names, options = {}) {
      const file = find(names);
      if (file?.type !== 'FILE') throw new Error('Only a file can be read.');
      return read(file.stored, options);
    },
  };
}

const maxListed = 100;
const maxDirectories = 1_000;

/** Directories first, then by name. */
function order(a: WorkspaceEntry, b: WorkspaceEntry): number {
  const [first, second] = [a.type === 'DIRECTORY', b.type === 'DIRECTORY'];
  if (first !== second) return first ? -1 : 1;
  return a.name < b.name ? -1 : 1;
}
