import type { Agents } from '../../../agents/agent.ts';
import { CheckpointError } from '../../../checkpoints/driver.ts';
import { openCheckpointKey } from '../../checkpoints/checkpoint-key.ts';
import { segmentSource } from '../../checkpoints/segment-source.ts';
import type { Context } from '../../context.ts';
import { changeSession, lockSession } from '../../sessions/change-session.ts';
import type { NewEntry } from '../../sessions/log.ts';
import { forgetBuild } from '../environments/builds.ts';
import type { ClaimedRun } from '../runs/claims.ts';
import type { Mask } from '../runs/masking.ts';
import { lockRun } from '../runs/turns.ts';
import { type RestorableCheckpoint, readRestoreCandidates } from './restore-candidates.ts';
import { emptyNotice, restoredNotice } from './restore-notice.ts';
import { createRestoreProgress } from './restore-progress.ts';
import { RestoreDelay } from './restore-waits.ts';
import { clearSavedRecord, readSavedRecord } from './saved-record.ts';

/** The files with which a run starts. */
export interface WorkspaceStart {
  /**
   * `kept`: as its last agent left them. `restored`: from a checkpoint. `deleted`: none, they were deleted. `lost`: none, although
   * there were some.
   */
  readonly state: 'kept' | 'restored' | 'deleted' | 'lost';
  /** The agent's own session to take up; null: none. */
  readonly agentSessionId: string | null;
}

/** Options of {@link prepareWorkspace}. */
export interface PrepareWorkspaceOptions {
  readonly organizationId: string;
  readonly driver: Pick<ReturnType<Agents['driverOf']>, 'workspaces' | 'restoreWorkspace'>;
  readonly mask: Mask;
  readonly signal: AbortSignal;
}

/**
 * Makes the workspace and home of a run the right ones before its sandbox is opened: keeps those of this worker, or restores the
 * newest checkpoint that is not damaged, or discards remains of an earlier time. Throws FencedError, and RestoreDelay while no
 * checkpoint can be read or the storage has none.
 */
export async function prepareWorkspace(
  context: Context,
  run: ClaimedRun,
  options: PrepareWorkspaceOptions,
): Promise<WorkspaceStart> {
  const { sessionId, checkpointId, agentSessionId } = run;
  const { workspaces } = options.driver;
  const has = await workspaces.has(sessionId);
  if (!run.isRestoreRequested && (has || checkpointId === null)) {
    if (has) await clearSavedRecord(workspaces.files(sessionId));
    return { state: 'kept', agentSessionId };
  }
  const candidates = checkpointId === null ? [] : await readRestoreCandidates(context, { sessionId, checkpointId });
  const [newest] = candidates;
  if (newest !== undefined && has && (await readSavedRecord(workspaces.files(sessionId))) === newest.id) {
    // The session was handed over, and no other worker has changed it since.
    await clearSavedRecord(workspaces.files(sessionId));
    await recordStart(context, run, newest, null);
    return { state: 'kept', agentSessionId: newest.agentSessionId };
  }
  const tried = await tryCandidates(context, run, options, candidates);
  if (tried.restored !== null) {
    const { restored, files } = tried;
    const damaged = candidates.indexOf(restored);
    // The log has the environment when it is prepared.
    const isBeginning = restored.kind === 'ENVIRONMENT';
    const notice = isBeginning
      ? null
      : restoredNotice({ ...restored, files, damaged, isMoved: run.isMoved }, options.mask);
    await clearSavedRecord(workspaces.files(sessionId));
    await recordStart(context, run, restored, notice);
    context.log.info({ sessionId, checkpointId: restored.id, files, skipped: damaged }, 'A workspace was restored.');
    return { state: 'restored', agentSessionId: restored.agentSessionId };
  }
  await workspaces.discard(sessionId);
  if (tried.hasNoResult) {
    context.log.warn(
      { sessionId, reason: tried.reason },
      'The stored result of a set-up cannot be restored, so it was deleted.',
    );
    if (newest?.parentId != null) await forgetBuild(context, newest.parentId);
    await recordStart(context, run, null, null);
    return { state: 'lost', agentSessionId };
  }
  await recordStart(context, run, null, run.isWorkspaceDeleted ? null : emptyNotice(tried.reason));
  return { state: run.isWorkspaceDeleted ? 'deleted' : 'lost', agentSessionId };
}

type Tried =
  | { readonly restored: RestorableCheckpoint; readonly files: number }
  | {
      readonly restored: null;
      readonly reason: string;
      /** The session has not begun: it can do without the stored result of a set-up. */
      readonly hasNoResult?: true;
    };

async function tryCandidates(
  context: Context,
  run: ClaimedRun,
  { driver, organizationId, signal }: PrepareWorkspaceOptions,
  candidates: readonly RestorableCheckpoint[],
): Promise<Tried> {
  const { sessionId, checkpointId } = run;
  if (checkpointId === null)
    return { restored: null, reason: 'another worker has taken it over, and no state of its workspace was saved.' };
  if (driver.restoreWorkspace === undefined)
    return { restored: null, reason: 'the sandbox of this agent cannot restore the saved state of a workspace.' };
  if (candidates.length === 0) return { restored: null, reason: 'the saved state of its workspace was deleted.' };
  const key = await openCheckpointKey(context, organizationId);
  let missing: CheckpointError | null = null;
  for (const candidate of candidates) {
    const progress = createRestoreProgress(context, run, candidate);
    const { content } = candidate;
    try {
      const segments = progress.watch(segmentSource(context));
      const { files } = await driver.restoreWorkspace({ sessionId, content, key, segments, signal });
      await progress.end();
      return { restored: candidate, files };
    } catch (error) {
      await progress.end();
      if (signal.aborted) throw error;
      const isMissing = error instanceof CheckpointError && error.code === 'MISSING';
      const isDamaged = error instanceof CheckpointError && error.code === 'DAMAGED';
      if (!isMissing && !isDamaged)
        throw new RestoreDelay('The workspace of a session cannot be restored now.', { cause: error });
      if (isMissing) missing = error;
      // A missing one is tried again every 15 seconds, and the log has the wait.
      else context.log.error({ err: error, sessionId, checkpointId: candidate.id }, 'A checkpoint is damaged.');
    }
  }
  if (candidates[0]?.kind === 'ENVIRONMENT')
    return { restored: null, reason: missing?.message ?? 'It is damaged.', hasNoResult: true };
  // Perhaps the storage is the wrong one, such as an empty directory instead of a share that is not mounted.
  if (missing !== null)
    throw new RestoreDelay('The file storage has no files of a session.', { cause: missing, isMissing: true });
  const what = candidates.length === 1 ? 'its saved state is' : `all ${candidates.length} saved states are`;
  return { restored: null, reason: `${what} damaged and could not be restored.` };
}

// A later start finds the workspace as it should be.
async function recordStart(
  context: Context,
  run: ClaimedRun,
  restored: RestorableCheckpoint | null,
  notice: NewEntry | null,
): Promise<void> {
  await context.store.transact(async (tx) => {
    await lockRun(tx, run);
    const session = await lockSession(tx, run.sessionId, run.generation);
    await tx.query(
      `update run set is_restore_requested = false, checkpoint_id = $2,
              agent_session_id = case when $2::text is null then agent_session_id else $3 end where session_id = $1`,
      [run.sessionId, restored?.id ?? null, restored?.agentSessionId ?? null],
    );
    await changeSession(context, tx, session, {}, notice === null ? [] : [notice]);
  });
}
