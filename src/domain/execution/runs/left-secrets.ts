import { opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { emptyDirectory } from '../../../agents/safe-directory.ts';
import { secretsDirectory, sessionDirectory } from '../prompts/session-files.ts';
import { sessionsIn } from '../workspaces/session-directories.ts';
import { workspaceIn } from './launch.ts';

/** How long a file is spared while its session may just have been taken up. */
const freshMs = 60_000;

/** Which files of secrets are nobody's. */
export interface LeftSecretsOptions {
  /** Whether this worker runs the session. */
  isLeased(sessionId: string): boolean;
  /** Whether sessions may be taken up meanwhile: then what is new stays, it may be of such a run. */
  readonly isClaiming: boolean;
}

/**
 * Takes away the files of secrets (cookies) that runs which were killed have left in the workspaces of a data directory. Gives
 * how many. Rejects when a directory cannot be read.
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
    // Beside the sessions lie what is being deleted and a note of the owner.
    if (name.startsWith('.') || isLeased(name)) continue;
    taken += await emptyDirectory(workspaceIn(join(root, name)), [sessionDirectory, secretsDirectory], beforeMs);
  }
  return taken;
}
