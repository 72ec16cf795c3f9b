import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { type DirectoryVisitor, type Location, locationBelow } from './directory-visitor.ts';
import { type Identity, identityOf, isSame } from './identity.ts';
import { type IgnorePattern, matches, maxIgnoreBytes, parseIgnoreFile } from './ignore-patterns.ts';

/** A file with patterns. */
export interface IgnoreFile {
  readonly identity: Identity;
  readonly patterns: readonly IgnorePattern[];
  /** The bytes that were read. */
  readonly bytes: number;
}

/** The patterns that apply in a directory of a repository: those of its own files, then those of the directories above it. */
export interface IgnoreRules {
  readonly parent: IgnoreRules | null;
  /** `.gitignore` and, in the first directory of a repository, `.git/info/exclude`, which is weaker. */
  readonly files: readonly IgnoreFile[];
  /** The position in a path of the first name below the directory. */
  readonly from: number;
  /** The bytes of the files, with those of the directories above. */
  readonly bytes: number;
}

/** A directory whose rules are read. */
interface RuledDirectory {
  readonly location: Location;
  /** Its last saved state. */
  readonly old: { readonly rules: IgnoreRules | null } | null;
  /** The rules of the directory above it. */
  readonly rules: IgnoreRules | null;
}

/**
 * Reads the patterns that apply in the current directory, which has these names. The known object if they have not changed; null: there
 * are none. A repository begins with the patterns of its own: those of a directory above it do not apply.
 */
export function rulesIn(
  visitor: DirectoryVisitor,
  { location, old, rules }: RuledDirectory,
  names: { has(name: string): boolean },
): IgnoreRules | null {
  if (!location.path.startsWith('workspace')) return null;
  const isRepository = names.has('.git');
  const parent = isRepository ? null : rules;
  if (!isRepository && parent === null) return null;
  const known = old?.rules?.files ?? [];
  const files: IgnoreFile[] = [];
  let bytes = parent?.bytes ?? 0;
  const add = (name: string) => {
    const file = readIgnoreFile(name, known, maxIgnoreBytes - bytes);
    if (file === null) return;
    files.push(file);
    bytes += file.bytes;
  };
  if (names.has('.gitignore')) add('.gitignore');
  if (isRepository) inGitDirectory(visitor, location, () => add('exclude'));
  if (old?.rules?.parent === parent && isSameList(files, known)) return old.rules;
  if (files.length === 0 && parent !== null) return parent;
  return { parent, files, from: location.depth, bytes };
}

function inGitDirectory(visitor: DirectoryVisitor, location: Location, work: () => void): void {
  try {
    visitor.enter(locationBelow(locationBelow(location, '.git'), 'info'));
    work();
  } catch {
    // There is none.
  } finally {
    visitor.enter(location);
  }
}

/**
 * Reads at most `maxBytes` of a file with patterns in the current directory; the known object if it has not changed; null: there is none.
 */
function readIgnoreFile(name: string, known: readonly IgnoreFile[], maxBytes: number): IgnoreFile | null {
  if (maxBytes <= 0) return null;
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
    const buffer = Buffer.allocUnsafe(Math.min(stats.size, maxBytes));
    const length = readSync(fd, buffer, 0, buffer.length, 0);
    const patterns = parseIgnoreFile(buffer.toString('latin1', 0, length));
    return { identity: identityOf(stats, nowMs), patterns, bytes: length };
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

function isSameList(files: readonly IgnoreFile[], others: readonly IgnoreFile[]): boolean {
  return files.length === others.length && files.every((file, index) => file === others[index]);
}
