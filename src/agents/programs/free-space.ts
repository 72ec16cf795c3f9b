import { statfs } from 'node:fs/promises';
import { ProgramError } from './program-error.ts';

/** The message of NO_SPACE. */
export const noSpace = 'There is not enough disk space in AGENTS_DIR. Free some, and try again.';
const noFiles =
  'The file system of AGENTS_DIR cannot hold enough files: it has too few free inodes. Delete some files, and try again.';

/** Free space below which a failure is blamed on it. */
const low = { bytes: 2_000_000, files: 1_000 };
/** Time between two readings: npm deletes a part of what it has written when it fails. */
const readMs = 200;

/** The values of statfs that count. */
export interface FreeSpace {
  readonly bsize: number;
  readonly bavail: number;
  /** The number of files that the file system can hold; 0: it has no limit. */
  readonly files: number;
  readonly ffree: number;
}

/** Returns NO_SPACE if a file system is full, else null. */
export function describeFullness({ bsize, bavail, files, ffree }: FreeSpace): ProgramError | null {
  if (files > 0 && ffree < low.files) return new ProgramError('NO_SPACE', noFiles);
  return bavail * bsize < low.bytes ? new ProgramError('NO_SPACE', noSpace) : null;
}

/** A watch over the free space of a file system. */
export interface SpaceWatch {
  /** Ends the watch. Returns NO_SPACE if the file system was full meanwhile. */
  end(): Promise<ProgramError | null>;
}

/** Watches the free space: npm and file systems do not always report that there is none. */
export function watchSpace(directory: string): SpaceWatch {
  let fullness: ProgramError | null = null;
  const read = async () => {
    const space = await statfs(directory).catch(() => null);
    fullness ??= space && describeFullness(space);
  };
  const timer = setInterval(() => void read(), readMs).unref();
  return {
    async end() {
      clearInterval(timer);
      await read();
      return fullness;
    },
  };
}

/** Returns true for an error of a full file system. */
export const isFullError = (error: unknown): boolean =>
  ['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException).code ?? '');
