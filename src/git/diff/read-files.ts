import type { Stats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { RepositoryError } from '../repository-error.ts';
import type { ChangeLimits, FileStatus } from './file-change.ts';
import type { Scratch } from './scratch.ts';

/** A changed file that exceeds the limits. The name has one character for each byte. */
export interface UnreadFile {
  readonly name: string;
  readonly status: FileStatus;
  /** Null: it is deleted. */
  readonly size: number | null;
}

/** The changed files that were not read. */
export interface UnreadFiles {
  /** As many as the limits allow. */
  readonly files: readonly UnreadFile[];
  readonly count: number;
  /** True if the search for new files was ended early. */
  readonly isCut: boolean;
}

interface IndexEntry {
  readonly mode: string;
  readonly objectId: string;
  readonly name: string;
}

interface Candidate {
  readonly name: string;
  readonly isTracked: boolean;
}

const submoduleMode = '160000';

/**
 * Updates the index of a scratch repository, which has the base, to the files of the clone that differ. Files beyond the
 * limits stay as they are in the base. No file is read that its size alone shows to be different.
 */
export async function readFiles(scratch: Scratch, clone: string, limits: ChangeLimits): Promise<UnreadFiles> {
  const entries = readEntries(await scratch.git(['ls-files', '-s', '-z']));
  if (entries.length > limits.maxEntries) throw new RepositoryError('TOO_LARGE', 'The repository has too many files.');
  const { huge, special } = await findSpecial(scratch, clone, entries, limits);
  const submodules = entries.filter(({ mode }) => mode === submoduleMode).map(({ name }) => name);
  // Git neither opens nor compares these.
  await update(scratch, ['--skip-worktree'], [...submodules, ...huge.keys()]);
  await update(scratch, ['--force-remove'], [...special]);
  await scratch.git(['update-index', '-q', '--refresh', '--ignore-submodules'], { hasFiles: true, accepted: [1] });
  const isHuge = (name: string) => huge.has(name);
  const tracked = await findTracked(scratch);
  const found = await findNew(scratch, limits);
  const candidates = [
    ...tracked.map((name) => ({ name, isTracked: true })),
    ...found.names.filter((name) => !special.has(name)).map((name) => ({ name, isTracked: false })),
  ].filter(({ name }) => !isHuge(name));
  const { removed, selected, unread } = await select(clone, candidates, limits);
  await update(scratch, ['--force-remove'], removed);
  await update(scratch, ['--add', '--remove', '--replace'], selected);
  const all = [...[...huge].map(([name, size]): UnreadFile => ({ name, status: 'MODIFIED', size })), ...unread];
  return { files: all.slice(0, limits.maxNames), count: all.length, isCut: found.isCut };
}

async function update(scratch: Scratch, flags: readonly string[], names: readonly string[]): Promise<void> {
  if (names.length === 0) return;
  const input = names.map((name) => `${name}\0`).join('');
  await scratch.git(['update-index', ...flags, '-z', '--stdin'], { hasFiles: true, input });
}

function readEntries(output: string): IndexEntry[] {
  return output
    .split('\0')
    .filter((line) => line !== '')
    .map((line) => {
      const tab = line.indexOf('\t');
      const [mode = '', objectId = ''] = line.slice(0, tab).split(' ');
      return { mode, objectId, name: line.slice(tab + 1) };
    });
}

// `huge`: by name, the sizes of files of the base that are now much larger, so that nobody has to read them. `special`:
// pipes and the like that replaced files; git would wait for them.
async function findSpecial(
  scratch: Scratch,
  clone: string,
  entries: readonly IndexEntry[],
  { maxFileBytes }: ChangeLimits,
) {
  const large: { readonly entry: IndexEntry; readonly size: number }[] = [];
  const special = new Set<string>();
  for await (const [entry, status] of statesOf(clone, entries)) {
    if (entry.mode === submoduleMode || status === null || status.isDirectory() || status.isSymbolicLink()) continue;
    if (!status.isFile()) special.add(entry.name);
    else if (status.size > maxFileBytes) large.push({ entry, size: status.size });
  }
  const sizes = await readSizes(
    scratch,
    large.map(({ entry }) => entry.objectId),
  );
  // The line endings of a file in the clone may differ from those in the repository.
  const huge = large.filter(({ size }, n) => size > 2 * (sizes[n] ?? 0));
  return { huge: new Map(huge.map(({ entry, size }) => [entry.name, size])), special };
}

/** Returns the sizes of objects in bytes, in their order; null: there is no such object. */
export async function readSizes(scratch: Scratch, ids: readonly string[]): Promise<(number | null)[]> {
  if (ids.length === 0) return [];
  const input = ids.map((id) => `${id}\n`).join('');
  const output = await scratch.git(['cat-file', '--batch-check=%(objectsize)'], { input });
  return output.split('\n', ids.length).map((line) => (/^\d+$/.test(line) ? Number(line) : null));
}

async function findTracked(scratch: Scratch): Promise<string[]> {
  const args = ['diff-files', '-z', '--name-only', '--no-renames', '--ignore-submodules=all'];
  return (await scratch.git(args, { hasFiles: true })).split('\0').filter((name) => name !== '');
}

const maxNameBytes = 32 * 1_048_576;

async function findNew(scratch: Scratch, { maxEntries }: ChangeLimits): Promise<{ names: string[]; isCut: boolean }> {
  const names: string[] = [];
  let [rest, bytes, isCut] = ['', 0, false];
  const take = (chunk: Buffer) => {
    const parts = (rest + chunk.toString('latin1')).split('\0');
    rest = parts.pop() ?? '';
    // A directory is a repository of its own.
    names.push(...parts.filter((name) => !name.endsWith('/')));
    bytes += chunk.length;
    isCut = names.length > maxEntries || bytes > maxNameBytes;
    return !isCut;
  };
  await scratch.read(['ls-files', '-o', '-z', '--exclude-standard'], take, { hasFiles: true });
  return { names, isCut };
}

async function select(clone: string, candidates: readonly Candidate[], limits: ChangeLimits) {
  const removed: string[] = [];
  const selected: string[] = [];
  const unread: UnreadFile[] = [];
  let bytes = 0;
  for await (const [{ name, isTracked }, status] of statesOf(clone, candidates)) {
    const isGone = status === null || status.isDirectory();
    if (!isTracked && (isGone || !(status.isFile() || status.isSymbolicLink()))) continue;
    const size = isGone ? 0 : status.size;
    // The service may be root, and git in its sandbox is not.
    const isReadable = isGone || status.isSymbolicLink() || (status.mode & 0o400) !== 0;
    const isRead = isReadable && size <= limits.maxFileBytes && bytes + size <= limits.maxReadBytes;
    if (isRead && removed.length + selected.length < limits.maxFiles) {
      bytes += size;
      (isGone ? removed : selected).push(name);
    } else
      unread.push({ name, status: !isTracked ? 'ADDED' : isGone ? 'DELETED' : 'MODIFIED', size: isGone ? null : size });
  }
  return { removed, selected, unread };
}

const parallel = 64;

// A link that replaced a directory may lead anywhere: the files below it are gone. The names are bytes, which need not
// be UTF-8.
async function* statesOf<T extends { readonly name: string }>(
  clone: string,
  files: readonly T[],
): AsyncGenerator<readonly [T, Stats | null]> {
  const stateOf = (name: string) =>
    lstat(Buffer.from(`${Buffer.from(clone).toString('latin1')}/${name}`, 'latin1')).catch(() => null);
  const directories = new Map<string, Promise<boolean>>();
  const isDirectory = (name: string): Promise<boolean> => {
    if (name === '') return Promise.resolve(true);
    const known = directories.get(name);
    if (known !== undefined) return known;
    const found = isDirectory(parentOf(name)).then(
      async (isThere) => isThere && (await stateOf(name))?.isDirectory() === true,
    );
    directories.set(name, found);
    return found;
  };
  for (let from = 0; from < files.length; from += parallel) {
    const some = files.slice(from, from + parallel);
    const states = await Promise.all(
      some.map(async ({ name }) => ((await isDirectory(parentOf(name))) ? stateOf(name) : null)),
    );
    for (const [n, file] of some.entries()) yield [file, states[n] ?? null];
  }
}

function parentOf(name: string): string {
  return name.slice(0, Math.max(0, name.lastIndexOf('/')));
}
