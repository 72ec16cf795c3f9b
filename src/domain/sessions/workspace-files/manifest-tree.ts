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
  /** The names of a directory that are not text, by how they are written. */
  const escaped = new Map<string, Map<string, string>>();
  let entryCount = 0;
  for (const path of entries.keys()) {
    if (!path.startsWith(`${root}/`)) continue;
    entryCount++;
    const end = path.lastIndexOf('/');
    const directory = path.slice(0, end);
    const name = path.slice(end + 1);
    const names = children.get(directory);
    if (names) names.push(name);
    else children.set(directory, [name]);
    if (isTextName(name)) continue;
    const others = escaped.get(directory) ?? new Map<string, string>();
    escaped.set(directory, others);
    if (!others.has(decodeName(name))) others.set(decodeName(name), name);
  }
  const found = (stored: string, path: string): Found | null => {
    const entry = entries.get(stored);
    if (!entry) return null;
    const { type, mode, mtime, target } = entry;
    return {
      ...{ stored, name: path.slice(path.lastIndexOf('/') + 1), path, type: types[type] },
      size: type === 'file' ? sizeOf(entry) : 0,
      ...{ mode, modifiedAt: new Date(Math.floor(fromMtime(mtime) * 1_000)) },
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
      const entry = storedName(directory, name) === bytes ? found(`${directory}/${bytes}`, above + name) : null;
      if (entry) own.push(entry);
    }
    own.sort(order);
    if (listed.size >= maxListed) listed.clear();
    listed.set(directory, own);
    return own;
  };
  // Another name could be written as one with other bytes: a name that is text takes precedence.
  const storedName = (directory: string, name: string): string | undefined => {
    const bytes = Buffer.from(name).toString('latin1');
    if (name.isWellFormed() && entries.has(`${directory}/${bytes}`)) return bytes;
    return escaped.get(directory)?.get(name);
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
