import type { Sandbox } from '../../../agents/sandbox/driver.ts';
import { readNewestCheckpoint } from '../../checkpoints/checkpoint.ts';
import { missingText } from '../../checkpoints/missing-text.ts';
import type { Context } from '../../context.ts';
import type { NewEntry } from '../../sessions/log.ts';
import type { CheckpointRecorder } from '../checkpoints/checkpoint-recorder.ts';
import { mayBeOfStranger } from '../repositories/session-repositories.ts';
import type { ClaimedRun } from '../runs/claims.ts';
import { claimBuild, completeBuild, failBuild } from './builds.ts';
import { notStoredNotice } from './environment-log.ts';
import { type RecordedEnvironment, writeEnvironmentRecord } from './environment-record.ts';
import { type BegunBuild, recordNoResult, recordResult } from './requested-builds.ts';
import type { RepositoryEnvironment } from './run-environment.ts';

/** The outcome of one set-up. */
export interface SetUpResult {
  readonly outcome: 'DONE' | 'FAILED';
  /** The masked commands and the ends of their outputs. */
  readonly log: string;
}

/** The parts of a run that save its workspace. */
export interface StoreParts {
  readonly organizationId: string;
  readonly sandbox: Pick<Sandbox, 'files'>;
  readonly checkpoints: CheckpointRecorder;
  /** Aborts when the run ends. */
  readonly signal: AbortSignal;
  /** The build for which the session exists; missing: it has an agent. */
  readonly begun?: BegunBuild;
}

/** A set-up whose result may be stored. */
export interface ResultToStore {
  readonly each: RepositoryEnvironment;
  readonly result: SetUpResult;
  readonly clones: Readonly<Record<string, RecordedEnvironment>>;
  /** True if the session works on this repository alone: otherwise its files are of several. */
  readonly isOnly: boolean;
  append(entry: NewEntry): Promise<void>;
}

/** The time in which a result must be saved. */
const saveMs = 5 * 60_000;

// A session that began with the files of another one could store what belongs to that session's user.
const began = `select 1 from log_entry where session_id = $1 and kind = 'NOTICE' and data ? 'beginning' limit 1`;

/**
 * Stores the workspace and home as the result of a set-up, before any agent has run in them: unless there is such a result, another session is
 * about to store it, or anybody may have written the code. Throws FencedError. Any other failure is
 * logged: the next session sets up again.
 */
export async function storeResult(
  context: Context,
  run: ClaimedRun,
  { organizationId, sandbox, checkpoints, signal, begun }: StoreParts,
  { each, result, clones, isOnly, append }: ResultToStore,
): Promise<void> {
  const { row, hash, machine, commit } = each;
  const { sessionId } = run;
  const { log } = result;
  const fail = async (reason: string, buildId: string) => {
    if (begun === undefined) await failBuild(context, run, buildId, log);
    else await recordNoResult(context, run, begun, `${log}${reason}`);
  };
  if (begun && !checkpoints.isOn)
    return fail('The result is not stored, because checkpoints are switched off.\n', begun.buildId);
  if (!isOnly || mayBeOfStranger(row) || run.agentSessionId !== null || !checkpoints.isOn) return;
  if ((await context.store.query(began, [sessionId])).length > 0) return;
  const key = { organizationId, repositoryId: row.repositoryId, hash };
  const buildId = begun?.buildId ?? (await claimBuild(context, key, { machine, sessionId, commit }));
  if (buildId === null) return;
  if (result.outcome === 'FAILED') return fail('', buildId);
  const lent = { directory: row.directory, commit };
  await writeEnvironmentRecord(sandbox.files, { clones, lent });
  const isSaved = await checkpoints.saveAll(saveMs);
  await writeEnvironmentRecord(sandbox.files, { clones });
  signal.throwIfAborted();
  const saved = isSaved ? await readNewestCheckpoint(context, sessionId) : null;
  const lost = saved?.missing.filter(({ reason }) => reason === 'TOO_LARGE' || reason === 'UNREADABLE') ?? [];
  if (saved !== null && saved.content.ignored !== null && lost.length === 0)
    return begun ? recordResult(context, run, begun, log) : completeBuild(context, run, buildId, log);
  const parts = missingText(lost);
  const reason = parts === null ? 'it could not be saved.' : `these parts cannot be saved:\n${parts}`;
  await fail(`The result is not stored: ${reason}\n`, buildId);
  await append(notStoredNotice(row, reason));
}
