import type { AgentProfile, Agents } from '../../../agents/agent.ts';
import type { WorkspaceFiles } from '../../../agents/sandbox/workspaces.ts';
import { RepositoryError } from '../../../git/repository-error.ts';
import type { Context } from '../../context.ts';
import type { DefinitionProblem, EnvironmentDefinition } from '../../environments/definition.ts';
import { digestOf, type EnvironmentAt, readEnvironmentAt } from '../../environments/environment-at.ts';
import type { PreparedRepositories } from '../repositories/prepare-repositories.ts';
import type { SessionRepositoryRow } from '../repositories/session-repositories.ts';
import type { ClaimedRun } from '../runs/claims.ts';
import type { RequestedBuild } from '../runs/launch.ts';
import { type EnvironmentRecord, readEnvironmentRecord, type SetUpOutcome } from './environment-record.ts';

/** The environment of one repository of a run. */
export interface RepositoryEnvironment {
  readonly row: SessionRepositoryRow;
  readonly definition: EnvironmentDefinition;
  /** True if the definition is stored in Switchyard, and so written by an administrator. */
  readonly isStored: boolean;
  /** The hash of its set-up. */
  readonly hash: string;
  /** See `environment_build.machine`. */
  readonly machine: string;
  readonly commit: string;
  /** The outcome in this workspace; null: the set-up has to run. */
  readonly outcome: SetUpOutcome | null;
  /** True if the workspace has the result that another session stored, and this session has not told so yet. */
  readonly isReused: boolean;
}

/** The environments of a run, in the order of its repositories. */
export interface RunEnvironment {
  readonly environments: readonly RepositoryEnvironment[];
  /** The definitions that were read in this run and have problems. */
  readonly problems: readonly { readonly row: SessionRepositoryRow; readonly problems: readonly DefinitionProblem[] }[];
  /** The environments that are recorded in the workspace, by the directories of the clones. */
  readonly recorded: EnvironmentRecord['clones'];
}

/** Options of {@link readRunEnvironment}. */
export interface ReadEnvironmentOptions {
  readonly driver: ReturnType<Agents['driverOf']>;
  readonly files: Pick<WorkspaceFiles, 'readRecord' | 'writeRecord'>;
  readonly prepared: PreparedRepositories;
  readonly profile: AgentProfile;
  /** The set-up for which the session exists; null: it has an agent. */
  readonly build: Pick<RequestedBuild, 'definition'> | null;
  readonly signal: AbortSignal;
}

/** Returns the digest of the part of a hash that the repository does not decide: the agent, its sandbox, and the machine. */
export function machineOf(
  { id, sandbox }: AgentProfile,
  driver: Pick<ReturnType<Agents['driverOf']>, 'name'>,
  directory: string,
): string {
  return digestOf([id, sandbox, driver.name, process.platform, process.arch, directory]);
}

/** Returns the hash of a set-up; see `environment_build.hash`. */
export function hashOf({ digest }: Pick<EnvironmentAt, 'digest'>, machine: string): string {
  return digestOf([1, digest, machine]);
}

/** Reads the definitions that are stored in Switchyard, by the unprefixed ids of repositories. */
export async function readStoredEnvironments(
  { store }: Pick<Context, 'store'>,
  repositoryIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await store.query<{ id: string; environment: string }>(
    'select id, environment from repository where id = any($1::text[]) and environment is not null',
    [repositoryIds],
  );
  return new Map(rows.map(({ id, environment }) => [id, environment]));
}

/**
 * Reads the environments of a run's repositories: as they were recorded when they were prepared in this workspace, or else at the commits
 * of the clones. A definition that cannot be read is a problem of its repository, and never an error.
 */
export async function readRunEnvironment(
  context: Context,
  run: ClaimedRun,
  { driver, files, prepared, profile, build, signal }: ReadEnvironmentOptions,
): Promise<RunEnvironment> {
  const record = (await readEnvironmentRecord(files)) ?? { clones: {} };
  const environments: RepositoryEnvironment[] = [];
  const problems: { row: SessionRepositoryRow; problems: readonly DefinitionProblem[] }[] = [];
  const stored = await readStoredEnvironments(
    context,
    prepared.repositories.map(({ repositoryId }) => repositoryId),
  );
  for (const row of prepared.repositories) {
    const head = prepared.heads.get(row.position);
    const recorded = record.clones[row.directory];
    const machine = machineOf(profile, driver, row.directory);
    // A build that was interrupted has no result yet, even if its workspace has recorded one.
    if (recorded !== undefined && head === undefined && build === null) {
      const { definition, isStored, hash, outcome } = recorded;
      environments.push({ row, definition, isStored, hash, machine, outcome, commit: '', isReused: false });
      continue;
    }
    // An agent has worked here before, without an environment: a set-up could destroy its work.
    if (head === undefined && (await hasTurns(context, run))) continue;
    const commit = head ?? row.baseCommit;
    if (commit === null) continue;
    const storedText = build?.definition ?? stored.get(row.repositoryId) ?? null;
    const at = await readAt({ driver, signal }, prepared, { row, commit, storedText });
    if (at === null) continue;
    if (at.problems.length > 0) problems.push({ row, problems: at.problems });
    if (at.definition === null) continue;
    const hash = hashOf(at, machine);
    const isReused = record.result?.directory === row.directory && record.result.hash === hash;
    const isNeeded = at.definition.setup.length > 0 && !isReused;
    const outcome = isNeeded ? null : isReused ? 'DONE' : 'NONE';
    const isStored = storedText !== null;
    environments.push({ row, definition: at.definition, isStored, hash, machine, outcome, commit, isReused });
  }
  return { environments, problems, recorded: record.clones };
}

async function hasTurns({ store }: Context, { sessionId }: ClaimedRun): Promise<boolean> {
  const rows = await store.query('select 1 from run where session_id = $1 and turn_count > 0', [sessionId]);
  return rows.length > 0;
}

async function readAt(
  { driver, signal }: Pick<ReadEnvironmentOptions, 'driver' | 'signal'>,
  { keyOf }: PreparedRepositories,
  { row, commit, storedText }: { row: SessionRepositoryRow; commit: string; storedText: string | null },
): Promise<EnvironmentAt | null> {
  try {
    const files = await driver.openRepositoryFiles?.({ repository: keyOf(row), at: commit, signal });
    return files ? await readEnvironmentAt(files, storedText) : null;
  } catch (error) {
    if (!(error instanceof RepositoryError) || error.code === 'STOPPED') throw error;
    const problem = {
      severity: 'ERROR',
      file: null,
      line: null,
      message: `It cannot be read: ${error.message}`,
    } as const;
    return { commit, source: null, definition: null, problems: [problem], digest: '' };
  }
}
