import { measureMirror } from './mirror-files.ts';

/** A mirror to maintain. */
export interface MaintainedMirror {
  readonly directory: string;
  git(args: readonly string[], options: { signal: AbortSignal }): Promise<unknown>;
  /** Runs a git that changes refs, while nothing is fetched. */
  write(args: readonly string[], options: { signal: AbortSignal }): Promise<unknown>;
}

/** More packs make each search for an object slower. */
const maxPacks = 10;
/** The same for loose refs and objects, which also take a block of the disk each. */
const maxFiles = 1_000;
/** A small repository needs no commit graph. */
const minGraphBytes = 4 * 1_048_576;

/**
 * Combines the packs, refs and loose objects of a mirror if it has many, and writes its commit graph. Every object stays,
 * also those that no ref reaches, because clones borrow them. Clones and fetches may run meanwhile. Returns true if
 * there was something to do. Rejects with RepositoryError.
 */
export async function maintainMirror(mirror: MaintainedMirror, signal: AbortSignal): Promise<boolean> {
  const { bytes, packs, others, hasCommitGraph } = await measureMirror(mirror.directory);
  const isScattered = packs >= maxPacks || others >= maxFiles;
  if (!isScattered && (hasCommitGraph || bytes < minGraphBytes)) return false;
  if (isScattered) {
    await mirror.write(['pack-refs', '--all'], { signal });
    // Only packs of which one has less than twice the objects of all smaller ones: most runs rewrite a few small packs.
    await mirror.git([...cheaply, 'repack', '-q', '-d', '-n', '--geometric=2', '--no-write-bitmap-index'], { signal });
  }
  await mirror.git(['commit-graph', 'write', '--reachable', '--no-progress'], { signal });
  return true;
}

// Sessions need the processor and the memory more.
const cheaply = ['-c', 'pack.threads=1', '-c', 'pack.windowMemory=128m', '-c', 'pack.deltaCacheSize=64m'];
