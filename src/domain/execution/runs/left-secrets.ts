import type { Workspaces } from '../../../agents/sandbox/workspaces.ts';
import { secretsDirectory, sessionDirectory } from '../prompts/session-files.ts';

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
 * Removes the files of secrets (cookies) that killed runs have left in workspaces. Returns their number. Rejects if a
 * directory cannot be read.
 */
export async function clearLeftSecrets(
  workspaces: Workspaces,
  { isLeased, isClaiming }: LeftSecretsOptions,
): Promise<number> {
  let taken = 0;
  for await (const sessionId of workspaces.ids()) {
    const beforeMs = isClaiming ? Date.now() - freshMs : Number.POSITIVE_INFINITY;
    if (isLeased(sessionId)) continue;
    taken += await workspaces.files(sessionId).empty([sessionDirectory, secretsDirectory], beforeMs);
  }
  return taken;
}
