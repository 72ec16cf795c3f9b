import { isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { constants, createWriteStream, type Stats } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, opendir, readlink, realpath, rename, unlink } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { FileState, FoundFile, FoundFiles, ListLimits, SafeDirectory } from '../workspaces.ts';

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants;

/**
 * Runs work in a directory of a workspace. Creates the directory if it is missing, and replaces a link or a file with
 * its name; `mode` is its access. The work must not use the directory after this has resolved.
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

/** Returns true if the names are directories of a workspace, each in the one before it, and none is a link. */
export async function areDirectories(workspaceDir: string, names: readonly string[]): Promise<boolean> {
  let path = workspaceDir;
  for (const name of names) {
    path = join(path, name);
    if (!(await lstat(path).catch(() => null))?.isDirectory()) return false;
  }
  return true;
}

// On systems that expose open files by number, the path uses the number, so that no name is resolved again.
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
 * Removes the files and links in a directory of a workspace that have not changed since `beforeMs`, a time of the
 * system's clock; directories in it stay. Follows no link. Does nothing if there is no such directory. Returns the
 * number of removed files.
 */
export async function emptyDirectory(
  workspaceDir: string,
  names: readonly string[],
  beforeMs: number,
): Promise<number> {
  let taken = 0;
  await within(workspaceDir, names, async (directory) => {
    for await (const name of bytesOfNames(directory)) {
      const path = Buffer.concat([Buffer.from(`${directory}/`), name]);
      const status = await lstat(path).catch(() => null);
      // Uses the change time of the entry, because the agent can set the modification time.
      if (status === null || status.isDirectory() || status.ctimeMs >= beforeMs) continue;
      await unlink(path).catch(unless('ENOENT', 'EISDIR'));
      taken++;
    }
  });
  return taken;
}

/**
 * Lists the ordinary files and the links below a directory of a workspace, by name, down to `maxDepth`. Reads at most
 * `maxNames` names in all, in the order of the file system. Follows no link, not even the directory itself: its target
 * may be outside the workspace, and the names there must not be revealed. Empty if there is no such directory.
 */
export async function listBelow(
  workspaceDir: string,
  names: readonly string[],
  { maxDepth, maxNames }: ListLimits,
): Promise<FoundFiles> {
  const files: FoundFile[] = [];
  let left = maxNames;
  let isCut = false;
  const visit = async (directory: string, prefix: string, depth: number): Promise<void> => {
    const read: string[] = [];
    for await (const name of bytesOfNames(directory)) {
      isCut ||= left === 0;
      if (isCut) break;
      left--;
      if (isUtf8(name)) read.push(name.toString());
    }
    for (const name of read.sort()) {
      const status = await lstat(join(directory, name)).catch(() => null);
      const isLink = status?.isSymbolicLink() ?? false;
      if (status !== null && (status.isFile() || isLink))
        files.push({ path: prefix + name, isLink, ...stateOf(status) });
      else if (status?.isDirectory() && depth < maxDepth) {
        await within(directory, [name], (inner) => visit(inner, `${prefix}${name}/`, depth + 1));
      }
    }
  };
  await within(workspaceDir, names, (directory) => visit(directory, '', 1));
  return { files, isCut };
}

// A stream: the agent controls the number of names, which may be very large. It also controls their bytes, which need
// not be UTF-8.
async function* bytesOfNames(directory: string): AsyncGenerator<Buffer> {
  // One character for each byte: the types do not have this encoding.
  const names = await opendir(directory, { encoding: 'latin1' as BufferEncoding });
  for await (const { name } of names) yield Buffer.from(name, 'latin1');
}

async function* namesIn(directory: string): AsyncGenerator<string> {
  for await (const name of bytesOfNames(directory)) if (isUtf8(name)) yield name.toString();
}

/** Returns the state of a file. */
export function stateOf(status: Stats): FileState {
  return { size: status.size, version: versionOf(status) };
}

// A checkpoint keeps microseconds.
function versionOf({ size, mtimeMs }: Stats): string {
  return `${size} ${Math.floor(mtimeMs * 1_000)}`;
}

// Like inDirectory, but creates nothing: if the directory is missing or not readable, it does nothing.
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
        // `wx` refuses an existing name, even a link.
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
 * Opens an ordinary file in a workspace for reading, by a path relative to the workspace; a link must lead into the
 * workspace. Null for anything else at the path. The caller closes the file.
 */
export async function openInside(workspaceDir: string, path: string): Promise<FileHandle | null> {
  if (path.includes('\0')) return null;
  const root = (await realpath(workspaceDir)) + sep;
  const full = join(workspaceDir, path);
  const target = await realpath(full).catch(() => null);
  if (target === null || !target.startsWith(root)) return null;
  // O_NONBLOCK: opening a pipe would block. The path may have changed since, so the opened file is checked.
  const handle = await open(full, O_RDONLY | O_NONBLOCK).catch(() => null);
  if (handle === null) return null;
  const opened = process.platform === 'linux' ? await readlink(pathOf(handle, full)).catch(() => '') : target;
  if (opened.startsWith(root) && (await handle.stat()).isFile()) return handle;
  await handle.close();
  return null;
}
