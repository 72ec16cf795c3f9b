import { stat } from 'node:fs/promises';

/**
 * Returns an identity of a file that a copy does not have: its inode and its creation time. Renaming or changing the
 * file keeps it. Null if there is no such file.
 */
export async function readFileIdentity(path: string): Promise<string | null> {
  const found = await stat(path, { bigint: true }).catch(() => null);
  return found === null ? null : `file:${found.ino}:${found.birthtimeNs}`;
}

/**
 * Returns true if two identities of {@link readFileIdentity} belong to one file. On Linux the creation time decides,
 * because some file systems number their inodes again at each mount. Elsewhere a copy may have the original's creation
 * time, and some file systems have none: there the inode decides.
 */
export function isSameFile(one: string, other: string): boolean {
  const [, inode, bornAt] = one.split(':');
  const [, otherInode, otherBornAt] = other.split(':');
  const isTimed = process.platform === 'linux' && Number(bornAt) > 0 && Number(otherBornAt) > 0;
  return isTimed ? bornAt === otherBornAt : inode === otherInode;
}
