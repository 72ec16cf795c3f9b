import { randomUUID } from 'node:crypto';
import { constants, createWriteStream, type Stats } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, opendir, readlink, realpath, rename, unlink } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants;

/**
 * A directory in a workspace, held open. An agent owns its workspace and may turn any of it into a link to somewhere else,
 * also in the middle of what is done here; through this nothing is written outside.
 */
export interface SafeDirectory {
  /** The names in it, as they are read: an agent may leave very many. */
  names(): AsyncIterable<string>;
  /** Whether there is an ordinary file of this name; a link is none. */
  hasFile(name: string): Promise<boolean>;
  /** Writes a file whole or not at all, in place of whatever had its name. */
  write(name: string, content: string | Readable, mode?: number): Promise<void>;
  /** Takes a file or a link away. A directory stays. */
  remove(name: string): Promise<void>;
}

/**
 * Does something in a directory of a workspace. It is made where it is missing, also in place of a link or a file; `mode` is
 * its access. Nothing else may know the directory once this has resolved.
 */
export async function inDirectory<T>(
  workspaceDir: string,
  names: readonly string[],
  work: (directory: SafeDirectory) => Promise<T>,
): Promise<T> {
  const handles: FileHandle[] = [];
  try {
    let path = workspaceDir;
    for (const name of names) {
      const handle = await openDirectory(join(path, name));
      handles.push(handle);
      path = pathOf(handle, join(path, name));
    }
    return await work(safeDirectory(path));
  } finally {
    for (const handle of handles) await handle.close();
  }
}

// Where the system says which file is open under which number, the number is the way: no name is looked up again.
function pathOf(handle: FileHandle, path: string): string {
  return process.platform === 'linux' ? `/proc/self/fd/${handle.fd}` : path;
}

const maxTries = 3;

async function openDirectory(path: string): Promise<FileHandle> {
  for (let tries = 1; ; tries++) {
    try {
      return await open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (tries >= maxTries) throw error;
      if (code === 'ENOTDIR' || code === 'ELOOP') await unlink(path);
      else if (code !== 'ENOENT') throw error;
      await mkdir(path, { mode: 0o700 }).catch(unless('EEXIST'));
    }
  }
}

/**
 * Takes the files and links in a directory of a workspace away that have not changed since `beforeMs`, a time of the system's
 * clock; directories in it stay. No link is followed. Nothing where there is no such directory. Gives how many it took.
 */
export async function emptyDirectory(
  workspaceDir: string,
  names: readonly string[],
  beforeMs: number,
): Promise<number> {
  let taken = 0;
  await within(workspaceDir, names, async (directory) => {
    for await (const name of namesIn(directory)) {
      const status = await lstat(join(directory, name)).catch(() => null);
      // By the change of the entry: that of the content is for the agent to set.
      if (status === null || status.isDirectory() || status.ctimeMs >= beforeMs) continue;
      await unlink(join(directory, name)).catch(unless('ENOENT'));
      taken++;
    }
  });
  return taken;
}

/** A file or a link below a directory, and what it was like itself when it was looked at. */
export interface FoundFile {
  /** From the directory on, with `/`. */
  readonly path: string;
  readonly isLink: boolean;
  readonly ino: number;
  readonly size: number;
  readonly mtimeMs: number;
}

/** The files that {@link listBelow} found. */
export interface FoundFiles {
  readonly files: readonly FoundFile[];
  /** Some names were not read: there are more than `maxNames`. */
  readonly isCut: boolean;
}

/**
 * The ordinary files and the links below a directory of a workspace, by their names, down to `maxDepth`. At most `maxNames` names
 * are read in all, whichever the file system gives first. No link is followed, not even the directory itself: what lies behind one
 * need not be the workspace's, and the names there are told to nobody. Nothing when there is no such directory.
 */
export async function listBelow(
  workspaceDir: string,
  names: readonly string[],
  { maxDepth, maxNames }: { readonly maxDepth: number; readonly maxNames: number },
): Promise<FoundFiles> {
  const files: FoundFile[] = [];
  let left = maxNames;
  let isCut = false;
  const visit = async (directory: string, prefix: string, depth: number): Promise<void> => {
    const read: string[] = [];
    for await (const name of namesIn(directory)) {
      isCut ||= left === 0;
      if (isCut) break;
      left--;
      read.push(name);
    }
    for (const name of read.sort()) {
      const status = await lstat(join(directory, name)).catch(() => null);
      const isLink = status?.isSymbolicLink() ?? false;
      if (status !== null && (status.isFile() || isLink)) files.push({ path: prefix + name, isLink, ...pick(status) });
      else if (status?.isDirectory() && depth < maxDepth) {
        await within(directory, [name], (inner) => visit(inner, `${prefix}${name}/`, depth + 1));
      }
    }
  };
  await within(workspaceDir, names, (directory) => visit(directory, '', 1));
  return { files, isCut };
}

// A stream: a list of all names would be as long as whoever owns the directory likes.
async function* namesIn(directory: string): AsyncGenerator<string> {
  for await (const { name } of await opendir(directory)) yield name;
}

function pick({ ino, size, mtimeMs }: Stats): Omit<FoundFile, 'path' | 'isLink'> {
  return { ino, size, mtimeMs };
}

// Like inDirectory, and nothing is made: where there is no such directory, or may not be read, nothing is done.
async function within(start: string, names: readonly string[], work: (path: string) => Promise<void>): Promise<void> {
  const [name, ...rest] = names;
  if (name === undefined) return work(start).catch(unless('ENOENT', 'EACCES'));
  const path = join(start, name);
  const handle = await open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW).catch(() => null);
  if (handle === null) return;
  try {
    await within(pathOf(handle, path), rest, work);
  } finally {
    await handle.close();
  }
}

function safeDirectory(directory: string): SafeDirectory {
  const at = (name: string) => join(directory, requireName(name));
  return {
    names: () => namesIn(directory),
    hasFile: (name) =>
      lstat(at(name)).then(
        (found) => found.isFile(),
        () => false,
      ),
    async write(name, content, mode = 0o600) {
      const draft = at(`.${randomUUID()}`);
      try {
        // `wx`: a name that is there already, as a link too, is refused.
        const source = typeof content === 'string' ? Readable.from([content]) : content;
        await pipeline(source, createWriteStream(draft, { flags: 'wx', mode }));
        await rename(draft, at(name)).catch(async (error: NodeJS.ErrnoException) => {
          if (error.code !== 'EISDIR' && error.code !== 'ENOTEMPTY') throw error;
          await rename(at(name), at(`${name}.${randomUUID()}`));
          await rename(draft, at(name));
        });
      } catch (error) {
        await unlink(draft).catch(() => undefined);
        throw error;
      }
    },
    remove: (name) => unlink(at(name)).catch(unless('ENOENT', 'EISDIR', 'EPERM')),
  };
}

function requireName(name: string): string {
  if (name === '' || name === '.' || name === '..' || name.includes('/') || name.includes('\0')) {
    throw new Error(`${JSON.stringify(name)} is not the name of a file.`);
  }
  return name;
}

function unless(...codes: string[]): (error: NodeJS.ErrnoException) => void {
  return (error) => {
    if (!codes.includes(error.code ?? '')) throw error;
  };
}

/**
 * Opens an ordinary file in a workspace for reading, by a path from the workspace; a link is followed only to where the
 * workspace itself is. Null for whatever else the path may lead to. The caller closes it.
 */
export async function openInside(workspaceDir: string, path: string): Promise<FileHandle | null> {
  const root = (await realpath(workspaceDir)) + sep;
  const full = join(workspaceDir, path);
  const target = await realpath(full).catch(() => null);
  if (target === null || !target.startsWith(root)) return null;
  // A pipe would be waited for, and what the path led to a moment ago may be something else now.
  const handle = await open(full, O_RDONLY | O_NONBLOCK).catch(() => null);
  if (handle === null) return null;
  const opened = process.platform === 'linux' ? await readlink(pathOf(handle, full)).catch(() => '') : target;
  if (opened.startsWith(root) && (await handle.stat()).isFile()) return handle;
  await handle.close();
  return null;
}
