import { type ComparedFile, readComparedFiles } from './compared-files.ts';
import type { ChangeLimits, FileChange, Hunk } from './file-change.ts';
import { createPatchParser } from './parse-patch.ts';
import { decodeBytes } from './quoted-name.ts';
import { readSizes, type UnreadFile } from './read-files.ts';
import type { Scratch } from './scratch.ts';

// Neither attributes nor configuration can name a program for these, nor change their form.
const form = [
  '-r',
  '--find-renames',
  '-l1000',
  '--no-ext-diff',
  '--no-textconv',
  '--no-color',
  '--ignore-submodules=none',
];

const patchForm = [...form, '-p', '--full-index', '--src-prefix=a/', '--dst-prefix=b/', '-U3', '--submodule=short'];

/** The arguments of git for the patch of two trees that `git apply` accepts, with the content of binary files. */
export function patchArguments(from: string, to: string): string[] {
  return ['diff-tree', ...patchForm, '--binary', from, to];
}

/** Compares two trees. Files are in git's order. */
export async function compareTrees(
  scratch: Scratch,
  { from, to }: { readonly from: string; readonly to: string },
  limits: ChangeLimits,
): Promise<FileChange[]> {
  const args = ['diff-tree', '-z', '--raw', '--numstat', '--no-abbrev', ...form, from, to];
  const files = readComparedFiles(await scratch.git(args));
  const sizes = await readSizes(
    scratch,
    files.map(({ objectId }) => objectId),
  );
  const hunks = await readHunks(scratch, ['diff-tree', ...patchForm, from, to], limits);
  return files.map((file, n) => changeOf(file, sizes[n] ?? null, hunks));
}

function changeOf(file: ComparedFile, size: number | null, hunks: ReadonlyMap<string, readonly Hunk[]>): FileChange {
  const { name, oldName, status, oldMode, mode, additions, deletions } = file;
  const isBinary = additions === null;
  return {
    path: decodeBytes(name),
    oldPath: oldName === null ? null : decodeBytes(oldName),
    status,
    oldMode,
    mode,
    additions,
    deletions,
    isBinary,
    size,
    hunks: isBinary ? null : (hunks.get(name) ?? null),
  };
}

/** Returns the change of a file whose content is unknown. */
export function unreadChange({ name, status, size }: UnreadFile): FileChange {
  return {
    path: decodeBytes(name),
    oldPath: null,
    status,
    oldMode: null,
    mode: null,
    additions: null,
    deletions: null,
    isBinary: true,
    size,
    hunks: null,
  };
}

// Git has to be read past the files that are too long, to find shorter ones.
const readFactor = 16;

// By name. A file is missing if its hunks exceed the limit.
async function readHunks(
  scratch: Scratch,
  args: readonly string[],
  { maxTextBytes }: ChangeLimits,
): Promise<Map<string, readonly Hunk[]>> {
  const found = new Map<string, readonly Hunk[]>();
  const omitted = new Set<string>();
  let [kept, read] = [0, 0];
  const parser = createPatchParser(
    () => maxTextBytes - kept,
    ({ name, hunks, bytes, isOmitted }) => {
      kept += bytes;
      if (isOmitted) omitted.add(name);
      // A change of type has two parts.
      else found.set(name, [...(found.get(name) ?? []), ...hunks]);
    },
  );
  let isEnded = true;
  await scratch.read(args, (chunk) => {
    read += chunk.length;
    isEnded = read <= readFactor * maxTextBytes;
    if (isEnded) parser.write(chunk);
    return isEnded;
  });
  if (isEnded) parser.end();
  for (const name of omitted) found.delete(name);
  return found;
}
