import { randomBytes } from 'node:crypto';
import { mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Returns the directory of a data directory that contains one directory for each session, named by its unprefixed id.
 */
export function sessionsIn(dataDir: string): string {
  return join(dataDir, 'sessions');
}

/** Returns the directory of a session: its workspace, its agent's home, and records that the agent does not see. */
export function sessionIn(dataDir: string, sessionId: string): string {
  return join(sessionsIn(dataDir), sessionId);
}

/** Returns the workspace in the directory of a session. */
export function workspaceIn(sessionDir: string): string {
  return join(sessionDir, 'ws');
}

/** Returns the agent's home in the directory of a session. */
export function homeIn(sessionDir: string): string {
  return join(sessionDir, 'home');
}

/** Returns the directory of the service's records that are saved with the workspace, in the directory of a session. */
export function recordsIn(sessionDir: string): string {
  return join(sessionDir, 'records');
}

/** Returns true if a name in {@link sessionsIn} is the directory of a session. */
export function isSessionDirectory(name: string): boolean {
  return /^[0-9a-f]{32}$/.test(name);
}

/**
 * Returns the directory to which deleted directories are moved. It is beside them, because a move must stay on one file
 * system.
 */
export function deletedIn(dataDir: string): string {
  return join(sessionsIn(dataDir), '.deleted');
}

/**
 * Returns the directory in which workspaces are restored until they are complete. It is beside the sessions, because a move must stay on
 * one file system.
 */
export function restoringIn(dataDir: string): string {
  return join(sessionsIn(dataDir), '.restoring');
}

/** Returns the directory for the new segments of checkpoints until they are stored. */
export function segmentSpoolIn(dataDir: string): string {
  return join(dataDir, 'checkpoint-spool');
}

/**
 * Moves the directory of a session to {@link deletedIn}, from where a sweep deletes it. Does nothing if there is none.
 * It is synchronous, so that the session cannot change between the caller's check and the move.
 */
export function discardDirectory(dataDir: string, sessionId: string): boolean {
  const target = deletedIn(dataDir);
  mkdirSync(target, { recursive: true, mode: 0o700 });
  try {
    renameSync(sessionIn(dataDir, sessionId), join(target, `${sessionId}-${randomBytes(6).toString('hex')}`));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}
