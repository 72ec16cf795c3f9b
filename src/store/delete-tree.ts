import { constants } from 'node:fs';
import { chmod, lstat, open, opendir, rename, rmdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Number of names of one directory that are deleted concurrently: few, so that other work of the process gets file
 * access.
 */
const concurrency = 8;
/** Maximum number of times that a directory is read again because an entry was added or could not be deleted. */
const maxRounds = 3;

/** Outcome of a deletion. */
export interface DeletedTree {
  readonly files: number;
  /**
   * Errors of entries that could not be deleted, at most ten: a mount point, an immutable file, a file of another user.
   */
  readonly problems: readonly string[];
}

/** Linux: opens a directory without following a link and without needing permission to read it. */
const pathOnly = 0x20_0000;

/**
 * Deletes everything below a directory that nothing else uses, and keeps the directory. The names below may be hostile:
 * symbolic links are removed and never followed; directories without permissions are opened up; a mount point is never
 * entered; names need not be UTF-8. Each subdirectory moves up to the top before it is read. Therefore no path is long,
 * however deep the tree is, and no process can replace a part of a path with a link meanwhile. Stops early when
 * `isStopped` returns true.
 */
export async function emptyTree(root: string, isStopped: () => boolean = () => false): Promise<DeletedTree> {
  let files = 0;
  let lifted = 0;
  let names = 0;
  const problems = new Set<string>();
  const recordProblem = (error: unknown) => {
    const { code = 'error', syscall = '' } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT' && problems.size < 10) problems.add(`${code} ${syscall}`.trim());
  };

  const lift = async (path: Buffer): Promise<boolean> => {
    const target = join(root, `up-${process.pid}-${Date.now().toString(36)}-${names++}`);
    const move = async () => {
      await rename(path, target);
      lifted += 1;
      return true;
    };
    return move()
      .catch(async (error: NodeJS.ErrnoException) => {
        // Only an owner without write permission on the directory itself gets this error.
        if (error.code !== 'EACCES') throw error;
        await openUp(path);
        return move();
      })
      .catch((error) => {
        recordProblem(error);
        return false;
      });
  };
  const remove = async (path: Buffer, isTop: boolean): Promise<boolean> => {
    try {
      await unlink(path);
      files += 1;
      return true;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // A directory is EISDIR on Linux and EPERM elsewhere.
      if (code !== 'EISDIR' && code !== 'EPERM') {
        recordProblem(error);
        return code === 'ENOENT';
      }
      const found = await lstat(path).catch(() => null);
      if (found === null) return true;
      if (!found.isDirectory()) {
        recordProblem(error);
        return false;
      }
      return isTop ? removeDirectory(path) : lift(path);
    }
  };
  /** Deletes the entries of a directory; its subdirectories are moved to the top, where the next round finds them. */
  const removeEntries = async (path: string | Buffer, isTop: boolean): Promise<void> => {
    for await (const batch of batches(path)) {
      if (isStopped()) return;
      // At the top, one after another: each is a directory with many names of its own.
      if (isTop) for (const name of batch) await remove(inside(path, name), true);
      else await Promise.all(batch.map((name) => remove(inside(path, name), false)));
    }
  };
  const removeDirectory = async (path: Buffer): Promise<boolean> => {
    // Other processes cannot reach its name at the top.
    await chmod(path, 0o700).catch(recordProblem);
    for (let round = 0; round < maxRounds && !isStopped(); round++) {
      const isEmptied = await removeEntries(path, false).then(
        () => true,
        (error) => {
          recordProblem(error);
          return false;
        },
      );
      if (!isEmptied) return false;
      const isGone = await rmdir(path).then(
        () => true,
        (error: NodeJS.ErrnoException) => error.code === 'ENOENT',
      );
      if (isGone) return true;
    }
    return false;
  };

  // Each round reads the subdirectories that the previous round has moved up.
  let before = -1;
  while (!isStopped() && lifted !== before) {
    before = lifted;
    await removeEntries(root, true).catch(recordProblem);
  }
  return { files, problems: [...problems] };
}

/**
 * Deletes a directory that nothing else uses, with everything below it, as {@link emptyTree} does. A link or a file at
 * the path itself is unlinked, and a missing path is not an error. Rejects with the first problem as the error's
 * `code`.
 */
export async function removeTree(path: string): Promise<void> {
  const found = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (found === null) return;
  if (!found.isDirectory()) return unlink(path);
  await chmod(path, 0o700);
  const [problem] = (await emptyTree(path)).problems;
  if (problem !== undefined) throw Object.assign(new Error(`A directory was left: ${problem}.`), { code: problem });
  await rmdir(path);
}

/**
 * Gives its owner all permissions on a directory whose path a hostile process may replace with a link at any moment.
 */
async function openUp(path: Buffer): Promise<void> {
  if (process.platform !== 'linux') return chmod(path, 0o700);
  const handle = await open(path, pathOnly | constants.O_NOFOLLOW | constants.O_DIRECTORY);
  try {
    await chmod(`/proc/self/fd/${handle.fd}`, 0o700);
  } finally {
    await handle.close();
  }
}

function inside(path: string | Buffer, name: string): Buffer {
  return Buffer.concat([Buffer.from(path), Buffer.from('/'), Buffer.from(name, 'latin1')]);
}

/** Yields the names of a directory, one character per byte, a few at a time: there may be millions. */
async function* batches(path: string | Buffer): AsyncGenerator<string[]> {
  const directory = await opendir(path as string, { encoding: 'latin1' as BufferEncoding, bufferSize: 256 });
  let batch: string[] = [];
  for await (const { name } of directory) {
    batch.push(name);
    if (batch.length < concurrency) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
