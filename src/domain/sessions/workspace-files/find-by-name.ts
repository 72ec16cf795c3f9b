import { setImmediate as nextTurn } from 'node:timers/promises';
import { refuse } from '../../../common/errors.ts';
import { maxSearchLength } from '../../text-search.ts';
import type { WorkspaceEntry, WorkspaceTree } from './workspace-tree.ts';

/** The maximum number of files that a search finds. */
export const maxFoundFiles = 20;

/** A search reads at most this many entries of a workspace. */
const maxEntries = 300_000;
/** Entries that are read until other requests get their turn. */
const entriesOfTurn = 5_000;
/** Directories that are skipped with all that is in them. */
const skipped = /(?:^|\/)(?:\.git|node_modules)(?:\/|$)/;

/** A path that was found. The lowest rank is the best. */
interface Found {
  readonly path: string;
  readonly rank: number;
}

/**
 * Finds the files and directories of a workspace whose names, or else paths, match a text, the best first. The letters of the text are in this
 * order in the path, in any case. Finds what git ignores, or is in `.git` or `node_modules`, only in the directory that the text names before its
 * last slash. Throws INVALID_INPUT for a text that is too long, or another number of files than 1 to 20.
 */
export async function findFilesByName(
  tree: WorkspaceTree,
  name: string,
  count: number,
): Promise<readonly WorkspaceEntry[]> {
  if (name.length > maxSearchLength) {
    throw refuse(['name'], `"name" must have at most ${maxSearchLength} characters, but has ${name.length}.`);
  }
  if (!(count >= 1 && count <= maxFoundFiles)) {
    throw refuse(['count'], `"count" must be an integer from 1 to ${maxFoundFiles}, but was ${count}.`);
  }
  const search = name.toLowerCase();
  const best: Found[] = [];
  const seen = new Set<string>();
  const add = (path: string) => {
    const found = { path, rank: rankOf(path.toLowerCase(), search) };
    const last = best.at(-1);
    if (found.rank === none || (best.length >= count && last !== undefined && compare(found, last) >= 0)) return;
    if (seen.has(path)) return;
    seen.add(path);
    best.push(found);
    best.sort(compare);
    for (const { path: left } of best.splice(count)) seen.delete(left);
  };
  for (const { path } of namedDirectory(tree, name)) add(path);
  let read = 0;
  for (const path of tree.paths()) {
    if (++read > maxEntries) break;
    if (read % entriesOfTurn === 0) await nextTurn();
    if (!skipped.test(path)) add(path);
  }
  return best.flatMap(({ path }) => tree.find(path.split('/')) ?? []);
}

/** Returns the entries of the directory that a text names before its last slash; none if it names none. */
function namedDirectory(tree: WorkspaceTree, text: string): readonly WorkspaceEntry[] {
  const end = text.lastIndexOf('/');
  return end <= 0 ? [] : (tree.list(text.slice(0, end).split('/')) ?? []);
}

/** The rank of a path that does not match. */
const none = 9;

/** Ranks a path by its match with a text. Both are in lower case. */
function rankOf(path: string, search: string): number {
  const name = path.slice(path.lastIndexOf('/') + 1);
  // A text with a slash continues the path that the user writes.
  if (path.startsWith(search) && !path.includes('/', search.length)) return path === search ? 0 : 1;
  if (search === '') return none;
  if (name === search) return 2;
  if (name.startsWith(search)) return 3;
  const at = name.indexOf(search);
  if (at > 0) return /[^\p{L}\p{N}]/u.test(name.charAt(at - 1)) ? 4 : 5;
  if (path.includes(search)) return 6;
  if (hasInOrder(name, search)) return 7;
  return hasInOrder(path, search) ? 8 : none;
}

/** Returns true if a text has all characters of another one in their order. */
function hasInOrder(text: string, characters: string): boolean {
  let at = -1;
  for (const character of characters) {
    at = text.indexOf(character, at + 1);
    if (at < 0) return false;
  }
  return true;
}

/** By rank, then the shortest path, then by the path. */
function compare(a: Found, b: Found): number {
  return a.rank - b.rank || a.path.length - b.path.length || (a.path < b.path ? -1 : Number(a.path > b.path));
}
