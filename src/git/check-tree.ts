import { statfs } from 'node:fs/promises';
import { diskFull } from './git-errors.ts';
import { RepositoryError } from './repository-error.ts';

/** A repository whose trees are read. */
export interface TreeSource {
  readonly directory: string;
  /** Runs git in it. Rejects with RepositoryError if git fails. */
  git(args: readonly string[], options: { signal: AbortSignal; onOutput(chunk: Buffer): void }): Promise<unknown>;
}

/** Limits of the files that a clone checks out. */
export interface TreeLimits {
  /** Files and directories. */
  readonly maxTreeEntries: number;
  /** Bytes of all files. */
  readonly maxTreeBytes: number;
  /** The free space that must remain on the disk, in bytes. */
  readonly minFreeBytes: number;
}

/** Linux allows 4,096 bytes for a path; the directory of the workspace needs some of them. */
const maxPathBytes = 3_500;
const maxNameBytes = 255;

// The bytes of commits that this process has read, by mirror and commit, the least recently used first.
const known = new Map<string, number>();
const maxKnown = 1_000;

/**
 * Refuses a commit whose files do not fit on the disk or exceed the limits. A few objects can name any number of files,
 * so git would not end before the disk or the memory is full. Rejects with RepositoryError.
 */
export async function checkTree(
  mirror: TreeSource,
  commit: string,
  limits: TreeLimits,
  signal: AbortSignal,
): Promise<void> {
  const key = `${mirror.directory} ${commit}`;
  const bytes = known.get(key) ?? (await readTree(mirror, commit, limits, signal));
  known.delete(key);
  known.set(key, bytes);
  const oldest = known.keys().next().value;
  if (known.size > maxKnown && oldest !== undefined) known.delete(oldest);
  const { bavail, bsize } = await statfs(mirror.directory);
  if (bavail * bsize - bytes < limits.minFreeBytes) throw diskFull();
}

async function readTree(
  mirror: TreeSource,
  commit: string,
  { maxTreeEntries, maxTreeBytes }: TreeLimits,
  signal: AbortSignal,
): Promise<number> {
  let [rest, entries, bytes] = ['', 0, 0];
  let failure: RepositoryError | null = null;
  const stop = new AbortController();
  const refuse = (code: 'TOO_LARGE' | 'REFUSED_CONTENT', message: string) => {
    failure ??= new RepositoryError(code, message);
    stop.abort();
  };
  const onOutput = (chunk: Buffer) => {
    if (failure !== null) return;
    const lines = (rest + chunk.toString('latin1')).split('\0');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const tab = line.indexOf('\t');
      const path = line.slice(tab + 1);
      const size = line.slice(0, tab).split(' ').at(-1);
      entries += 1;
      bytes += Number(size) || 0;
      if (path.length > maxPathBytes) return refuse('REFUSED_CONTENT', 'It has a path that is too long.');
      if (path.length - path.lastIndexOf('/') > maxNameBytes + 1)
        return refuse('REFUSED_CONTENT', `It has a name of more than ${maxNameBytes} bytes.`);
    }
    if (entries > maxTreeEntries)
      refuse('TOO_LARGE', `It has more than ${maxTreeEntries.toLocaleString('en')} files and directories.`);
    if (bytes > maxTreeBytes) refuse('TOO_LARGE', `Its files have more than ${inGigabytes(maxTreeBytes)} GB.`);
  };
  const args = ['ls-tree', '-r', '-t', '-l', '-z', '--full-tree', commit];
  try {
    await mirror.git(args, { signal: AbortSignal.any([signal, stop.signal]), onOutput });
  } catch (error) {
    throw failure ?? error;
  }
  if (failure !== null) throw failure as RepositoryError;
  return bytes;
}

/** Returns a number of bytes in gigabytes, with at most one decimal. */
export function inGigabytes(bytes: number): number {
  return Math.round((bytes / 1_024 ** 3) * 10) / 10;
}
