import { opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { emptyDirectory } from '../../../agents/safe-directory.ts';
import { secretsDirectory, sessionDirectory } from '../prompts/session-files.ts';
import { sessionsIn } from '../workspaces/session-directories.ts';
import { workspaceIn } from './launch.ts';

/** Minimum age of a file that is removed while its session may just have been claimed. */
const freshMs = 60_000;

/** Options for removing the files of secrets without a run. */
export interface LeftSecretsOptions {
  /** True if this worker runs the session. */
  isLeased(sessionId: string): boolean;
  /** True if sessions may be claimed meanwhile: then new files stay, because they may belong to such a run. */
  readonly isClaiming: boolean;
}

/**
 * Removes the files of secrets (cookies) that killed runs have left in the workspaces of a data directory. Returns
 * their number. Rejects if a directory cannot be read.
 */
export async function clearLeftSecrets(dataDir: string, { isLeased, isClaiming }: LeftSecretsOptions): Promise<number> {
  const root = sessionsIn(dataDir);
  const sessions = await opendir(root).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  let taken = 0;
  for await (const { name } of sessions) {
    const beforeMs = isClaiming ? Date.now() - freshMs : Number.POSITIVE_INFINITY;
    // Beside the sessions are directories that are being deleted, and the file that names the owner.
    if (name.startsWith('.') || isLeased(name)) continue;
    taken += await emptyDirectory(workspaceIn(join(root, name)), [sessionDirectory, secretsDirectory], beforeMs);
  }
  return taken;
}
