import { createHash } from 'node:crypto';
import { type BigIntStats, lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** The state of a file, a directory or a link, as far as a checkpoint restores it. */
export interface FileState {
  readonly kind: 'file' | 'directory' | 'link' | 'other';
  /** The lower 12 bits of the mode, as an octal number; empty for links. */
  readonly mode: string;
  /** Of a file: the SHA-256 of its content. Of a link: its target in hex digits. */
  readonly content: string;
  /** In ns; null for directories, whose times change with their files. */
  readonly mtimeNs: bigint | null;
}

/** The states of files, by their paths, that are read again only if they seem to have changed. */
export type FileCache = Map<string, { readonly stamp: string; readonly state: FileState }>;

/** Options of {@link readFileStates}. */
export interface FileStateOptions {
  /** The path with which to begin; by default the whole directory. */
  readonly below?: string;
  readonly cache?: FileCache;
}

/**
 * Returns the states of everything below a directory, by the paths in latin1: names need not be valid UTF-8. With `below`, only
 * of that path and what is below it.
 */
export function readFileStates(
  directory: string,
  { below = '', cache }: FileStateOptions = {},
): Map<string, FileState> {
  const states = new Map<string, FileState>();
  const visit = (path: string) => {
    // Another process may delete it meanwhile.
    const found = lstatSync(bytesOf(`${directory}/${path}`), { bigint: true, throwIfNoEntry: false });
    if (found === undefined) return;
    if (path !== '') states.set(path, cachedState(directory, path, found, cache));
    if (!found.isDirectory()) return;
    const names = readdirSync(bytesOf(`${directory}/${path}`), { encoding: 'buffer' });
    for (const name of names.map((each) => each.toString('latin1')).sort())
      visit(path === '' ? name : `${path}/${name}`);
  };
  visit(below);
  return states;
}

const bytesOf = (path: string) => Buffer.from(path, 'latin1');

function cachedState(directory: string, path: string, found: BigIntStats, cache?: FileCache): FileState {
  const stamp = `${found.ino} ${found.size} ${found.mtimeNs} ${found.ctimeNs}`;
  const known = cache?.get(path);
  if (known?.stamp === stamp) return known.state;
  const state = readFileState(bytesOf(`${directory}/${path}`), found);
  cache?.set(path, { stamp, state });
  return state;
}

function readFileState(path: Buffer, found: BigIntStats): FileState {
  const mode = (Number(found.mode) & 0o7777).toString(8);
  if (found.isSymbolicLink()) {
    const content = readlinkSync(path, { encoding: 'buffer' }).toString('hex');
    return { kind: 'link', mode: '', content, mtimeNs: found.mtimeNs };
  }
  if (found.isDirectory()) return { kind: 'directory', mode, content: '', mtimeNs: null };
  if (!found.isFile()) return { kind: 'other', mode, content: '', mtimeNs: null };
  const content = createHash('sha256').update(readFileSync(path)).digest('hex');
  return { kind: 'file', mode, content, mtimeNs: found.mtimeNs };
}

/** A difference between two trees: a path that one of them lacks, or that differs in one property. */
export interface FileDifference {
  readonly path: string;
  readonly what: 'missing' | 'unexpected' | 'kind' | 'mode' | 'content' | 'mtime';
}

/** Compares two trees. `mtime` is compared in ms. */
export function compareFileStates(
  wanted: ReadonlyMap<string, FileState>,
  found: ReadonlyMap<string, FileState>,
): FileDifference[] {
  const differences: FileDifference[] = [];
  for (const [path, state] of wanted) {
    const other = found.get(path);
    const what = other === undefined ? 'missing' : differenceOf(state, other);
    if (what !== null) differences.push({ path, what });
  }
  for (const path of found.keys()) if (!wanted.has(path)) differences.push({ path, what: 'unexpected' });
  return differences;
}

function differenceOf(wanted: FileState, found: FileState): FileDifference['what'] | null {
  for (const what of ['kind', 'content', 'mode'] as const) if (wanted[what] !== found[what]) return what;
  const milliseconds = ({ mtimeNs }: FileState) => (mtimeNs ?? 0n) / 1_000_000n;
  return milliseconds(wanted) === milliseconds(found) ? null : 'mtime';
}
