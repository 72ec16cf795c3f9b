/** The parts of a file that the tree needs. `key` is unique, while a path need not be. */
export interface TreeFile {
  readonly key: string;
  readonly path: string;
}

interface RowBase {
  readonly key: string;
  /** The text of the row: one or more names of a path. */
  readonly name: string;
  /** From 1. */
  readonly level: number;
  /** The position among the rows of the same folder, from 1, and their number. */
  readonly position: number;
  readonly setSize: number;
  /** The key of the folder; null at the top. */
  readonly parent: string | null;
}

/** A visible row of the tree of changed files. */
export type TreeRow =
  | (RowBase & { readonly type: 'folder'; readonly isOpen: boolean; readonly count: number })
  | (RowBase & { readonly type: 'file' });

interface Folder {
  readonly folders: Map<string, Folder>;
  readonly files: { readonly key: string; readonly name: string }[];
}

/** Names beyond this depth are shown as one: an agent can make paths with thousands of folders. */
const maxDepth = 40;

/**
 * Returns the visible rows of the tree of these files: folders first, and a folder with a single folder in one row with
 * it. `closed`: the keys of folders that are closed.
 */
export function treeRows(files: readonly TreeFile[], closed: ReadonlySet<string>): readonly TreeRow[] {
  const root = newFolder();
  for (const { key, path } of files) {
    const names = path.split('/');
    const folders = names.slice(0, Math.min(names.length - 1, maxDepth));
    let folder = root;
    for (const name of folders) {
      const next = folder.folders.get(name) ?? newFolder();
      folder.folders.set(name, next);
      folder = next;
    }
    folder.files.push({ key, name: names.slice(folders.length).join('/') });
  }
  const rows: TreeRow[] = [];
  addRows(rows, root, { level: 1, parent: null, path: '' }, closed);
  return rows;
}

const newFolder = (): Folder => ({ folders: new Map(), files: [] });

const sizeOf = ({ folders, files }: Folder): number =>
  [...folders.values()].reduce((sum, each) => sum + sizeOf(each), files.length);

interface Position {
  readonly level: number;
  readonly parent: string | null;
  /** The path of the folder, with a slash at its end. */
  readonly path: string;
}

function addRows(rows: TreeRow[], { folders, files }: Folder, at: Position, closed: ReadonlySet<string>): void {
  const { level, parent, path } = at;
  const setSize = folders.size + files.length;
  let position = 0;
  for (const [first, start] of [...folders].sort(([a], [b]) => compare(a, b))) {
    const [name, folder] = joined(first, start);
    const key = `folder:${path}${name}/`;
    const isOpen = !closed.has(key);
    position += 1;
    rows.push({ type: 'folder', key, name, level, position, setSize, parent, isOpen, count: sizeOf(folder) });
    if (isOpen) addRows(rows, folder, { level: level + 1, parent: key, path: `${path}${name}/` }, closed);
  }
  for (const { key, name } of [...files].sort((a, b) => compare(a.name, b.name))) {
    position += 1;
    rows.push({ type: 'file', key, name, level, position, setSize, parent });
  }
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function joined(name: string, folder: Folder): [string, Folder] {
  const [only, ...others] = folder.folders;
  if (!only || others.length > 0 || folder.files.length > 0) return [name, folder];
  return joined(`${name}/${only[0]}`, only[1]);
}
