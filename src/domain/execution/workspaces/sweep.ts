import { mkdir, opendir } from 'node:fs/promises';
import { findInDirectories, killProcesses } from '../../../agents/orphan-processes.ts';
import { emptyTree } from '../../../store/delete-tree.ts';
import type { Context } from '../../context.ts';
import { findUnknownSessions, keepWorkspace, takeDueWorkspaces, type WorkspaceTimes } from './deletable.ts';
import { isOwnDirectory, isUntouchedSince } from './orphans.ts';
import { deletedIn, discardDirectory, isSessionDirectory, sessionsIn } from './session-directories.ts';

/** Maximum number of directories in one statement. */
const batchSize = 100;

/** Options of a sweep. */
export interface SweepOptions extends WorkspaceTimes {
  readonly dataDir: string;
  readonly workerId: string;
  /** True if this worker runs the session now. */
  isLeased(sessionId: string): boolean;
}

/** Moves away the directories that are due. Returns their number. */
export async function discardDue(
  context: Context,
  options: SweepOptions,
  sessionIds: readonly string[],
): Promise<number> {
  const { dataDir, workerId, isLeased } = options;
  const idle = sessionIds.filter((id) => !isLeased(id));
  const due = await takeDueWorkspaces(context, workerId, options, idle);
  let count = 0;
  // Synchronous between the check and the move: a session that was resumed meanwhile has discarded its directory
  // itself.
  const failed = due.filter(({ sessionId }) => {
    if (isLeased(sessionId)) return false;
    try {
      if (discardDirectory(dataDir, sessionId)) count += 1;
      return false;
    } catch (error) {
      context.log.warn({ err: error, sessionId }, 'The workspace of a session could not be deleted.');
      return true;
    }
  });
  for (const { sessionId, isHome } of failed) if (isHome) await keepWorkspace(context, sessionId);
  return count;
}

/**
 * Deletes the workspaces and homes in a worker's data directory whose sessions are over, and those whose sessions the
 * database does not know. Returns their number. Rejects if the directory or the database cannot be read.
 */
export async function sweepWorkspaces(
  context: Context,
  options: SweepOptions,
  isStopped: () => boolean,
): Promise<number> {
  const { dataDir, workspaceRetentionMs, isLeased } = options;
  let count = 0;
  let known = 0;
  const unknown: string[] = [];
  for await (const ids of sessionBatches(dataDir)) {
    if (isStopped()) return count;
    count += await discardDue(context, options, ids);
    const unknownInBatch = await findUnknownSessions(context, ids);
    known += ids.length - unknownInBatch.length;
    unknown.push(...unknownInBatch);
  }
  const isOwn = await isOwnDirectory(context, dataDir, { known, unknown: unknown.length });
  if (unknown.length > 0 && !isOwn) {
    const message = 'The data directory has sessions of another database: their directories are left alone.';
    context.log.warn({ count: unknown.length }, message);
  } else if (workspaceRetentionMs !== null) {
    const before = new Date(context.now().getTime() - workspaceRetentionMs);
    for (const id of unknown) {
      if (isStopped()) return count;
      if (isLeased(id) || !(await isUntouchedSince(dataDir, id, before))) continue;
      // Created, with its session, since the database was read.
      if ((await findUnknownSessions(context, [id])).length > 0 && discardDirectory(dataDir, id)) count += 1;
    }
  }
  return count;
}

/** Deletes the moved directories, including those of a process that was killed during the deletion. */
export async function emptyDeleted(
  { log }: Pick<Context, 'log'>,
  dataDir: string,
  isStopped: () => boolean,
): Promise<void> {
  const directory = deletedIn(dataDir);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  // A process that an agent has left running there could add files as fast as they are deleted.
  await killProcesses(findInDirectories([directory], '0'));
  const { files, problems } = await emptyTree(directory, isStopped);
  if (files > 0) log.info({ files }, 'Files of deleted workspaces were deleted.');
  if (problems.length > 0)
    log.warn({ directory, problems }, 'Parts of deleted workspaces could not be deleted. The next sweep tries again.');
}

async function* sessionBatches(dataDir: string): AsyncGenerator<string[]> {
  const directory = await opendir(sessionsIn(dataDir)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  let batch: string[] = [];
  for await (const { name } of directory) {
    if (!isSessionDirectory(name)) continue;
    batch.push(name);
    if (batch.length < batchSize) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
