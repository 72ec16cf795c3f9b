import type { Workspaces } from '../../../agents/sandbox/workspaces.ts';
import type { Context } from '../../context.ts';
import {
  deleteDueCheckpoints,
  findUnknownSessions,
  keepWorkspace,
  takeDueWorkspaces,
  type WorkspaceTimes,
} from './deletable.ts';
import { isOwnStorage } from './orphans.ts';
import { releaseDue } from './release.ts';

/** Maximum number of sessions in one statement. */
const batchSize = 100;

/** Options of a sweep. */
export interface SweepOptions extends WorkspaceTimes {
  /** Those of all machines where the worker runs agents. */
  readonly workspaces: readonly Workspaces[];
  readonly workerId: string;
  /** True if this worker runs the session now. */
  isLeased(sessionId: string): boolean;
}

/** Discards the workspaces that are due. Returns the number of sessions. */
export async function discardDue(
  context: Context,
  options: SweepOptions,
  sessionIds: readonly string[],
): Promise<number> {
  const { workspaces, workerId, isLeased } = options;
  const idle = sessionIds.filter((id) => !isLeased(id));
  const due = await takeDueWorkspaces(context, workerId, options, idle);
  // Without waiting between the check and the calls: a session that was resumed meanwhile has discarded its workspace
  // itself, and one that is resumed later gets a new one.
  const discarded = due
    .filter(({ sessionId }) => !isLeased(sessionId))
    .map(async ({ sessionId, isHome }) => {
      try {
        return (await Promise.all(workspaces.map((each) => each.discard(sessionId)))).some(Boolean);
      } catch (error) {
        context.log.warn({ err: error, sessionId }, 'The workspace of a session could not be deleted.');
        if (isHome) await keepWorkspace(context, sessionId);
        return false;
      }
    });
  return (await Promise.all(discarded)).filter(Boolean).length;
}

/**
 * Discards the workspaces whose sessions are over, and those whose sessions the database does not know. Returns their
 * number. Rejects if a storage or the database cannot be read.
 */
export async function sweepWorkspaces(
  context: Context,
  options: SweepOptions,
  isStopped: () => boolean,
): Promise<number> {
  let count = 0;
  for (const storage of options.workspaces) count += await sweepStorage(context, options, storage, isStopped);
  if (isStopped()) return count;
  const deleted = await deleteDueCheckpoints(context, options);
  if (deleted > 0) context.log.info({ count: deleted }, 'Checkpoints of sessions without a workspace were deleted.');
  return count;
}

async function sweepStorage(
  context: Context,
  options: SweepOptions,
  storage: Workspaces,
  isStopped: () => boolean,
): Promise<number> {
  const { workspaceRetentionMs, isLeased } = options;
  let count = 0;
  let known = 0;
  const unknown: string[] = [];
  for await (const ids of batchesOf(storage.ids())) {
    if (isStopped()) return count;
    count += await discardDue(context, options, ids);
    await releaseDue(context, options, storage, ids);
    const unknownInBatch = await findUnknownSessions(context, ids);
    known += ids.length - unknownInBatch.length;
    unknown.push(...unknownInBatch);
  }
  const isOwn = await isOwnStorage(context, storage, { known, unknown: unknown.length });
  if (unknown.length > 0 && !isOwn) {
    const message = 'The data directory has sessions of another database: their directories are left alone.';
    context.log.warn({ count: unknown.length, location: storage.location }, message);
  } else if (workspaceRetentionMs !== null) {
    const before = new Date(context.now().getTime() - workspaceRetentionMs);
    for (const id of unknown) {
      if (isStopped()) return count;
      if (isLeased(id) || !(await storage.isUntouchedSince(id, before))) continue;
      // Created, with its session, since the database was read.
      if ((await findUnknownSessions(context, [id])).length > 0 && (await storage.discard(id))) count += 1;
    }
  }
  return count;
}

/** Reads the ids of workspaces in batches. */
export async function* batchesOf(ids: AsyncIterable<string>): AsyncGenerator<string[]> {
  let batch: string[] = [];
  for await (const id of ids) {
    batch.push(id);
    if (batch.length < batchSize) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** Deletes the discarded workspaces, including those of a process that was killed during the deletion. */
export async function deleteDiscarded(
  { log }: Pick<Context, 'log'>,
  workspaces: readonly Workspaces[],
  isStopped: () => boolean,
): Promise<void> {
  for (const storage of workspaces) {
    const { files, problems } = await storage.deleteDiscarded(isStopped);
    const { location } = storage;
    if (files > 0) log.info({ files }, 'Files of deleted workspaces were deleted.');
    if (problems.length > 0)
      log.warn({ location, problems }, 'Parts of deleted workspaces could not be deleted. The next sweep tries again.');
  }
}
