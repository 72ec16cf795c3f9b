import type { FoundChanges, PendingRead } from './scan-changes.ts';

/** Git changed a repository while it was read: its refs could name objects that were not seen. */
export class RepositoryChanged extends Error {}

/** Returns true if a directory with these names is the directory of a repository: `.git`, one of a submodule, or a bare one. */
export function isGitDirectory(names: { has(name: string): boolean }): boolean {
  return ['HEAD', 'objects', 'refs', 'config'].every((name) => names.has(name));
}

/**
 * The names of a git directory, and of its directory `objects`, that are visited after all others have been visited and read, with their
 * pass. Git writes objects before the refs and the index that name them, a pack before it deletes the objects in it, and `packed-refs`
 * before it deletes the refs in it. So what is read later is complete, whatever git does meanwhile.
 */
const lateNames = {
  repository: [
    ['packed-refs', 0],
    ['objects', 1],
  ],
  objects: [['pack', 2]],
} as const;

/** The number of passes after the first one. */
export const latePasses = 3;

/** Returns the names of a directory that are visited in later passes, with their pass. */
export function lateNamesOf(directory: keyof typeof lateNames): readonly (readonly [name: string, pass: number])[] {
  return lateNames[directory];
}

/** Returns true for a file of a git directory that a process of git needs only while it runs: locks, and drafts of objects. */
export function isGitRemnant(path: string, name: string): boolean {
  if (name.endsWith('.lock')) return !path.includes('/hooks/');
  return path.includes('/objects/') && (name.startsWith('tmp_') || name.startsWith('.tmp-'));
}

/** Larger files of a repository are read after the limits are known, and with the files of the workspace. */
const earlyBytes = 2 ** 20;

/** Returns true if a file must be read before the next pass. */
export function isReadEarly({ slot, size }: PendingRead): boolean {
  return slot.isGit && size < earlyBytes;
}

/** The clock of file systems is behind by up to one tick of the kernel. */
const clockTickMs = 20;

/**
 * Returns true if a repository may be torn after its files were read, despite the order of the passes: an object or a ref is gone, or a
 * large file or one that names objects for speed only was written since the scan began.
 */
export function isRepositoryTorn(changes: FoundChanges, scannedAtMs: number): boolean {
  const fromMicroseconds = (scannedAtMs - clockTickMs) * 1_000;
  return changes.reads.some((read) => {
    if (!read.slot.isGit || read.slot.layer !== 'files') return false;
    if (read.isGone) return /\/(?:objects|refs)\//.test(read.path);
    const entry = changes.entries.files.get(read.path);
    const isObject = read.path.includes('/objects/') && !read.path.includes('/objects/info/');
    const isLate = !isReadEarly(read) || read.path.includes('/objects/info/');
    return !isObject && isLate && entry !== undefined && entry.mtime >= fromMicroseconds;
  });
}
