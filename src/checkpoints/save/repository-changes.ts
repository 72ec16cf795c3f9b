import type { FoundChanges } from './scan-changes.ts';

/** Git changed a repository while it was read: its refs could name objects that were not seen. */
export class RepositoryChanged extends Error {}

const ownFile = /\/\.git\/(?!objects\/)/;
const objectFile = /\/\.git\/.*?objects\//;

/** The clock of file systems is behind by up to one tick of the kernel. */
const clockTickMs = 20;

/**
 * Returns true if a repository may be torn after its files were read. Git writes objects before the refs and the index that name
 * them, so these must be older than the search for objects; and it writes a pack before it deletes the objects in it. `isFirst`:
 * objects that are gone may be in a pack that was written after the search for packs, so another save must look.
 */
export function isRepositoryTorn(changes: FoundChanges, scannedAtMs: number, isFirst: boolean): boolean {
  if (isFirst && changes.removed.files.some((path) => objectFile.test(path))) return true;
  const fromMicroseconds = (scannedAtMs - clockTickMs) * 1_000;
  return changes.reads.some(({ path }) => {
    const entry = changes.entries.files.get(path);
    if (objectFile.test(path)) return isFirst && entry === undefined;
    return ownFile.test(path) && entry !== undefined && entry.mtime >= fromMicroseconds;
  });
}
