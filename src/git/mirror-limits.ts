import { statfs } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { inGigabytes, type TreeLimits } from './check-tree.ts';
import { diskFull } from './git-errors.ts';
import type { GitProgress } from './progress.ts';
import { RepositoryError } from './repository-error.ts';
import type { SpareLimits } from './spares.ts';
import type { SweepLimits } from './sweep-mirrors.ts';

/** Limits of mirrors and clones. */
export interface MirrorLimits extends TreeLimits, SweepLimits, SpareLimits {
  /** The maximum number of bytes that one fetch may receive. */
  readonly maxFetchBytes: number;
  /** The maximum duration of the checkout of a clone. */
  readonly checkoutMs: number;
  /** Address space of one git command, in bytes. */
  readonly maxMemoryBytes: number;
}

const gibibyte = 1_024 ** 3;

/** The limits of a worker without a configuration. */
export const defaultLimits: MirrorLimits = {
  maxFetchBytes: 8 * gibibyte,
  maxMirrorBytes: 16 * gibibyte,
  maxTotalBytes: 100 * gibibyte,
  minFreeBytes: gibibyte,
  maxTreeEntries: 1_000_000,
  maxTreeBytes: 16 * gibibyte,
  commandMs: 30 * 60_000,
  checkoutMs: 10 * 60_000,
  maxMemoryBytes: Math.min(8 * gibibyte, Math.max(gibibyte, totalmem() / 2)),
  unusedMs: 30 * 86_400_000,
  maxSpares: 4,
  maxSpareWorkMs: 120_000,
  spareMs: 3_600_000,
};

/** An error for a repository that is larger than a worker fetches at once, or keeps. */
export function tooLarge(maxBytes: number, verb: 'fetches' | 'keeps'): RepositoryError {
  const message = `It is larger than ${inGigabytes(maxBytes)} GB, the most that a worker ${verb}.`;
  return new RepositoryError('TOO_LARGE', message);
}

/** Rejects with RepositoryError if the disk of a directory has too little free space. */
export async function checkSpace(directory: string, { minFreeBytes }: MirrorLimits): Promise<void> {
  const { bavail, bsize } = await statfs(directory);
  if (bavail * bsize < minFreeBytes) throw diskFull();
}

/** Ends a fetch that receives too much, or that fills the disk. */
export function watchFetch(
  directory: string,
  limits: MirrorLimits,
  packBytes: () => number,
  onExceeded: (error: RepositoryError) => void,
) {
  let isChecking = false;
  return ({ bytes }: GitProgress) => {
    if (bytes !== null && bytes > limits.maxFetchBytes) onExceeded(tooLarge(limits.maxFetchBytes, 'fetches'));
    if (bytes !== null && bytes + packBytes() > limits.maxMirrorBytes)
      onExceeded(tooLarge(limits.maxMirrorBytes, 'keeps'));
    if (isChecking) return;
    isChecking = true;
    void checkSpace(directory, limits)
      .catch(onExceeded)
      .finally(() => {
        isChecking = false;
      });
  };
}
