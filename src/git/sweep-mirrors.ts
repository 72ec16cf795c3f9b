import { unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { removeTree } from '../store/delete-tree.ts';
import { lastUseOf, measureMirror, namesIn, removeLeftovers } from './mirror-files.ts';

/** Limits of the mirrors of a worker. */
export interface SweepLimits {
  /** The size of all mirrors together, in bytes. */
  readonly maxTotalBytes: number;
  /** The size of one mirror, in bytes. */
  readonly maxMirrorBytes: number;
  /** The maximum duration of one git command. */
  readonly commandMs: number;
  /** The time without use after which a mirror without borrowers is deleted. */
  readonly unusedMs: number;
}

/** A sweep of mirrors. */
export interface SweepOptions {
  readonly directory: string;
  readonly limits: SweepLimits;
  readonly now: number;
  /** Returns true while a borrower has a clone. */
  isBorrowing(borrowerId: string): Promise<boolean>;
  /** Runs work while nothing is fetched into the mirror. */
  lock(directory: string, work: () => Promise<void>): Promise<void>;
}

/** The result of a sweep. */
export interface SweepReport {
  /** The number of deleted mirrors, and of clones and snapshots that a crash left. */
  readonly deleted: number;
  /** The mirrors that are left. */
  readonly mirrors: number;
  /** Their size together. */
  readonly bytes: number;
}

interface Found {
  readonly path: string;
  readonly lastUse: number;
  readonly isBorrowed: boolean;
  readonly bytes: number;
}

const leftMs = 86_400_000;

/**
 * Deletes mirrors that nobody has used for a long time, and then the longest unused ones until the others keep to the
 * limits. Never deletes a mirror that is borrowed, or that somebody may be cloning from. Also deletes what a crash left.
 */
export async function sweepMirrors(options: SweepOptions): Promise<SweepReport> {
  const { directory, limits, now } = options;
  const inUseMs = 2 * limits.commandMs;
  const found: Found[] = [];
  let deleted = 0;
  for (const owner of await namesIn(directory)) {
    for (const name of await namesIn(join(directory, owner))) {
      const path = join(directory, owner, name);
      // A mirror, clone or snapshot that was never completed.
      if (name.endsWith('.git')) found.push(await inspect(path, options, now - inUseMs));
      else if ((await lastUseOf(path)) <= now - leftMs) {
        await removeTree(path);
        deleted += 1;
      }
    }
  }
  let total = found.reduce((sum, { bytes }) => sum + bytes, 0);
  let mirrors = found.length;
  for (const { path, bytes, lastUse, isBorrowed } of found.sort((a, b) => a.lastUse - b.lastUse)) {
    const isUnused = lastUse <= now - limits.unusedMs;
    if (!isUnused && bytes <= limits.maxMirrorBytes && total <= limits.maxTotalBytes) continue;
    if (isBorrowed || lastUse > now - inUseMs) continue;
    await options.lock(path, async () => {
      // Somebody may have begun to use it.
      if ((await lastUseOf(path)) > now - Math.min(inUseMs, limits.unusedMs) || (await isLent(path, options))) return;
      await removeTree(path);
      deleted += 1;
      mirrors -= 1;
      total -= bytes;
    });
  }
  return { deleted, mirrors, bytes: total };
}

async function inspect(path: string, options: SweepOptions, leftBefore: number): Promise<Found> {
  await removeLeftovers(path, leftBefore);
  const { bytes } = await measureMirror(path);
  return { path, bytes, lastUse: await lastUseOf(path), isBorrowed: await isLent(path, options) };
}

// Forgets the borrowers that have no clone any longer.
async function isLent(path: string, { isBorrowing }: SweepOptions): Promise<boolean> {
  let isBorrowed = false;
  for (const id of await namesIn(join(path, 'borrowers'))) {
    if (await isBorrowing(id)) isBorrowed = true;
    else await unlink(join(path, 'borrowers', id)).catch(() => undefined);
  }
  return isBorrowed;
}
