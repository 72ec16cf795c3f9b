import type { AgentProfile, Agents } from '../../../agents/agent.ts';
import { DomainError } from '../../../common/errors.ts';
import { RepositoryError } from '../../../git/repository-error.ts';
import type { Context } from '../../context.ts';
import { readEnvironmentAt } from '../../environments/environment-at.ts';
import { beginWithCopy, lockCheckpoints } from '../../sessions/checkpoints/copy-checkpoint.ts';
import { openForClone, requestedStateOf } from '../repositories/prepare-repositories.ts';
import { readSessionRepositories, type SessionRepositoryRow } from '../repositories/session-repositories.ts';
import type { ClaimedRun } from '../runs/claims.ts';
import type { RequestedBuild } from '../runs/launch.ts';
import { lockRun } from '../runs/turns.ts';
import { findReadyBuild, hasReadyBuild, type ReadyBuild } from './builds.ts';
import { hashOf, machineOf, readStoredEnvironments } from './run-environment.ts';

/** Options of {@link beginWithBuild}. */
export interface BeginOptions {
  readonly organizationId: string;
  readonly profile: AgentProfile;
  readonly driver: ReturnType<Agents['driverOf']>;
  /** The set-up for which the session exists; null: it has an agent. One that a user requested begins with nothing. */
  readonly build: Pick<RequestedBuild, 'trigger'> | null;
  readonly signal: AbortSignal;
}

/**
 * Lets a session that has never run begin with the stored result of its repository's set-up, if there is one: of exactly this set-up, or of the
 * newest earlier one, on top of which the set-up runs again. Returns the run as it has to start. A failure is logged, and the session
 * begins without the result. Throws FencedError.
 */
export async function beginWithBuild(context: Context, run: ClaimedRun, options: BeginOptions): Promise<ClaimedRun> {
  const { driver, organizationId } = options;
  const { sessionId } = run;
  const isNew = run.checkpointId === null && run.agentSessionId === null && !run.isRestoreRequested && !run.isTurnOpen;
  if (
    !isNew ||
    options.build?.trigger === 'REQUEST' ||
    !context.checkpoints.isOn ||
    driver.openRepositoryFiles === undefined
  )
    return run;
  if (driver.restoreWorkspace === undefined || (await driver.workspaces.has(sessionId))) return run;
  const { enterpriseId, repositories } = await readSessionRepositories(context, sessionId);
  const [row, ...others] = repositories;
  if (row === undefined || others.length > 0) return run;
  if (!(await hasReadyBuild(context, { organizationId, repositoryId: row.repositoryId }))) return run;
  try {
    const build = await findBuild(context, { ...options, enterpriseId }, row);
    return build === null ? run : await copyBuild(context, run, build, options.build === null);
  } catch (error) {
    // The clone reports the same with a sentence for users.
    if (!(error instanceof RepositoryError || error instanceof DomainError)) throw error;
    context.log.warn({ err: error, sessionId }, 'A session begins without the stored result of its set-up.');
    return run;
  }
}

async function findBuild(
  context: Context,
  { organizationId, enterpriseId, profile, driver, signal }: BeginOptions & { readonly enterpriseId: string },
  row: SessionRepositoryRow,
): Promise<ReadyBuild | null> {
  const remote = await openForClone(context, { organizationId, enterpriseId }, row);
  if (remote === null) return null;
  const at = { ...requestedStateOf(row), branch: row.branch, openRemote: remote.open };
  const files = await driver.openRepositoryFiles?.({ repository: remote.repository, at, signal });
  if (!files) return null;
  const stored = await readStoredEnvironments(context, [row.repositoryId]);
  const environment = await readEnvironmentAt(files, stored.get(row.repositoryId) ?? null);
  if (!environment?.definition || environment.definition.setup.length === 0) return null;
  const machine = machineOf(profile, driver, row.directory);
  const key = { organizationId, repositoryId: row.repositoryId, hash: hashOf(environment, machine) };
  return findReadyBuild(context, key, machine);
}

const use = `
  update environment_build set used_at = case when $4::boolean then $3::timestamptz else used_at end
   where id = $1 and checkpoint_id = $2 and state = 'READY' returning id`;

// The build may be deleted meanwhile: then its checkpoint is no longer there.
async function copyBuild(context: Context, run: ClaimedRun, build: ReadyBuild, isUse: boolean): Promise<ClaimedRun> {
  const { sessionId, generation } = run;
  const now = context.now();
  return context.store.transact(async (tx) => {
    await lockCheckpoints(tx, build.sessionId);
    await lockRun(tx, run);
    if ((await tx.query(use, [build.id, build.checkpointId, now, isUse])).length === 0) return run;
    const copy = { from: { id: build.checkpointId }, sessionId, generation, turn: 0, seq: 0, now } as const;
    const checkpointId = await beginWithCopy(tx, { ...copy, kind: 'ENVIRONMENT', withAgentSession: false });
    return { ...run, checkpointId, isRestoreRequested: true };
  });
}
