import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { type Identity, identityOf, isSame } from './identity.ts';
import { type IgnorePattern, matches, maxIgnoreFileBytes, parseIgnoreFile } from './ignore-patterns.ts';

/** A file with patterns. */
export interface IgnoreFile {
  readonly identity: Identity;
  readonly patterns: readonly IgnorePattern[];
}

/** The patterns that apply in a directory of a repository: those of its own files, then those of the directories above it. */
export interface IgnoreRules {
  readonly parent: IgnoreRules | null;
  /** `.gitignore` and, in the first directory of a repository, `.git/info/exclude`, which is weaker. */
  readonly files: readonly IgnoreFile[];
  /** The position in a path of the first name below the directory. */
  readonly from: number;
}

/** Reads a file with patterns in the current directory; the known object if it has not changed; null: there is none. */
export function readIgnoreFile(name: string, known: readonly IgnoreFile[]): IgnoreFile | null {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  let fd: number;
  try {
    fd = openSync(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch {
    return null;
  }
  try {
    const nowMs = Date.now();
    const stats = fstatSync(fd);
    if (!stats.isFile()) return null;
    const same = known.find(({ identity }) => isSame(identity, stats));
    if (same !== undefined) return same;
    const buffer = Buffer.allocUnsafe(Math.min(stats.size, maxIgnoreFileBytes));
    const length = readSync(fd, buffer, 0, buffer.length, 0);
    const patterns = parseIgnoreFile(buffer.toString('latin1', 0, length));
    return { identity: identityOf(stats, nowMs), patterns };
  } catch {
    return null;
  } finally {
    closeSync(fd);
  }
}

/** Returns true if git ignores a path. The directory above it is not ignored. */
export function isIgnored(rules: IgnoreRules, names: readonly string[], isDirectory: boolean): boolean {
  for (let level: IgnoreRules | null = rules; level !== null; level = level.parent) {
    for (const { patterns } of level.files) {
      for (let index = patterns.length - 1; index >= 0; index--) {
        const pattern = patterns[index] as IgnorePattern;
        if (matches(pattern, names, level.from, isDirectory)) return !pattern.isNegated;
      }
    }
  }
  return false;
}

/** Returns true if two lists have the same files. */
export function isSameList(files: readonly IgnoreFile[], others: readonly IgnoreFile[]): boolean {
  return files.length === others.length && files.every((file, index) => file === others[index]);
}
