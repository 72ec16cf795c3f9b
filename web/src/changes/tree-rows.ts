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

interface File {
  readonly key: string;
  readonly name: string;
}

interface Folder {
  readonly folders: Map<string, Folder>;
  /** In the order of the files. */
  readonly children: (File | { readonly key: null; readonly name: string; readonly folder: Folder })[];
}

/** Names beyond this depth are shown as one: an agent can make paths with thousands of folders. */
const maxDepth = 40;

/**
 * Returns the visible rows of the tree of these files, in the order of the files, and a folder with a single folder in one
 * row with it. `closed`: the keys of folders that are closed.
 */
export function treeRows(files: readonly TreeFile[], closed: ReadonlySet<string>): readonly TreeRow[] {
  const root = newFolder();
  for (const { key, path } of files) {
    const names = path.split('/');
    const folders = names.slice(0, Math.min(names.length - 1, maxDepth));
    let folder = root;
    for (const name of folders) {
      const next: Folder = folder.folders.get(name) ?? newFolder();
      if (!folder.folders.has(name)) folder.children.push({ key: null, name, folder: next });
      folder.folders.set(name, next);
      folder = next;
    }
    folder.children.push({ key, name: names.slice(folders.length).join('/') });
  }
  const rows: TreeRow[] = [];
  addRows(rows, root, { level: 1, parent: null, path: '' }, closed);
  return rows;
}

const newFolder = (): Folder => ({ folders: new Map(), children: [] });

const sizeOf = ({ children }: Folder): number =>
  children.reduce((sum, each) => sum + (each.key === null ? sizeOf(each.folder) : 1), 0);

interface Position {
  readonly level: number;
  readonly parent: string | null;
  /** The path of the folder, with a slash at its end. */
  readonly path: string;
}

function addRows(rows: TreeRow[], { children }: Folder, at: Position, closed: ReadonlySet<string>): void {
  const { level, parent, path } = at;
  const setSize = children.length;
  for (const [index, child] of children.entries()) {
    const position = index + 1;
    if (child.key !== null) {
      rows.push({ type: 'file', ...child, level, position, setSize, parent });
      continue;
    }
    const [name, folder] = joined(child.name, child.folder);
    const key = `folder:${path}${name}/`;
    const isOpen = !closed.has(key);
    rows.push({ type: 'folder', key, name, level, position, setSize, parent, isOpen, count: sizeOf(folder) });
    if (isOpen) addRows(rows, folder, { level: level + 1, parent: key, path: `${path}${name}/` }, closed);
  }
}

function joined(name: string, folder: Folder): [string, Folder] {
  const [only, ...others] = folder.children;
  if (only?.key !== null || others.length > 0) return [name, folder];
  return joined(`${name}/${only.name}`, only.folder);
}
