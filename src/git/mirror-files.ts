import { lstat, readdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';

/** The files of a mirror. */
export interface MirrorFiles {
  readonly bytes: number;
  readonly packs: number;
  /** Loose objects, loose refs and everything else that is no pack. */
  readonly others: number;
  readonly hasCommitGraph: boolean;
}

/** Counts the files of a mirror. Files that disappear meanwhile do not count. */
export async function measureMirror(directory: string): Promise<MirrorFiles> {
  let [bytes, packs, others, hasCommitGraph] = [0, 0, 0, false];
  for await (const { path, size } of filesIn(directory)) {
    bytes += size;
    if (path.endsWith('.pack')) packs += 1;
    else others += 1;
    if (path.endsWith('/commit-graph')) hasCommitGraph = true;
  }
  return { bytes, packs, others, hasCommitGraph };
}

/** Returns the bytes of a mirror's packs. */
export async function measurePacks(directory: string): Promise<number> {
  let bytes = 0;
  for await (const { size } of filesIn(join(directory, 'objects', 'pack'))) bytes += size;
  return bytes;
}

// Temporary files of packs, indexes, objects and graphs, and locks.
const leftover = /\/(?:tmp_[^/]+|\.tmp-[^/]+|[^/]+\.lock)$/;

/** Deletes the files that a git that was killed before `time` left. Returns their number. */
export async function removeLeftovers(directory: string, time: number): Promise<number> {
  let removed = 0;
  for await (const { path, mtimeMs } of filesIn(directory)) {
    if (!leftover.test(path) || mtimeMs > time) continue;
    await unlink(path).catch(() => undefined);
    removed += 1;
  }
  return removed;
}

/** Returns the time of the last use of a mirror, or that of any other directory. */
export async function lastUseOf(directory: string): Promise<number> {
  const { mtimeMs } = await stat(join(directory, 'description')).catch(() => stat(directory));
  return mtimeMs;
}

/** Returns the paths of the mirrors below a directory. */
export async function listMirrors(directory: string): Promise<string[]> {
  const paths: string[] = [];
  for (const owner of await namesIn(directory)) {
    const names = await namesIn(join(directory, owner));
    paths.push(...names.filter((name) => name.endsWith('.git')).map((name) => join(directory, owner, name)));
  }
  return paths;
}

/** Returns the names in a directory; none if it does not exist. */
export async function namesIn(directory: string): Promise<string[]> {
  return readdir(directory).catch(() => []);
}

async function* filesIn(directory: string): AsyncGenerator<{ path: string; size: number; mtimeMs: number }> {
  for (const entry of await readdir(directory, { withFileTypes: true }).catch(() => [])) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) yield* filesIn(path);
    else {
      const found = await lstat(path).catch(() => null);
      if (found !== null) yield { path, size: found.size, mtimeMs: found.mtimeMs };
    }
  }
}

/** Tells if there is something at a path. */
export async function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
