import { lstat, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Context } from '../../context.ts';
import { sessionsIn } from './session-directories.ts';

/** The file that names the enterprise of the sessions in a data directory. */
const ownerFile = '.enterprise';

/**
 * Returns true if directories of unknown sessions may be deleted: the directory must belong to this database's
 * enterprise. A directory without an owner gets this one when it contains a session of the database, or no session at
 * all.
 */
export async function isOwnDirectory(
  { viewer }: Pick<Context, 'viewer'>,
  dataDir: string,
  { known, unknown }: { readonly known: number; readonly unknown: number },
): Promise<boolean> {
  const directory = sessionsIn(dataDir);
  const path = join(directory, ownerFile);
  const owner = await readFile(path, 'utf8').catch(() => null);
  if (owner !== null) return owner.trim() === viewer.enterpriseId;
  if (known === 0 && unknown > 0) return false;
  // A worker without sessions has no such directory yet.
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await writeFile(path, `${viewer.enterpriseId}\n`, { mode: 0o600 });
  return true;
}

/** Returns true if nothing was added to a session's directory, its workspace and its home since a time. */
export async function isUntouchedSince(dataDir: string, sessionId: string, time: Date): Promise<boolean> {
  const root = join(sessionsIn(dataDir), sessionId);
  for (const path of [root, join(root, 'ws'), join(root, 'home')]) {
    const found = await lstat(path).catch(() => null);
    if (found !== null && found.mtime > time) return false;
  }
  return true;
}
