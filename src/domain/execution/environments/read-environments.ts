import type { Agents } from '../../../agents/agent.ts';
import { plainLine } from '../../../common/plain-text.ts';
import { RepositoryError } from '../../../git/repository-error.ts';
import type { Context } from '../../context.ts';
import { startBuild } from '../../environment-builds/start-build.ts';
import { inUseMs } from '../../environment-builds/want-reads.ts';
import { type EnvironmentAt, readEnvironmentAt } from '../../environments/environment-at.ts';
import { findOrganizations } from '../../identity/organizations/use-organization.ts';
import { readEnvironmentSettings } from '../../repositories/environment-settings.ts';
import { asSystem } from '../../sessions/as-system.ts';
import { openForClone } from '../repositories/prepare-repositories.ts';
import type { SessionRepositoryRow } from '../repositories/session-repositories.ts';
import { hashOf, machineOf } from './run-environment.ts';

/** The time after which another worker reads an environment whose worker has not finished, in ms. */
const claimMs = 5 * 60_000;
/** The time of a read, which is shorter. */
const readMs = 4 * 60_000;
/** The time after which a build that could not start is tried again, in ms: another one of the repository runs. */
const retryMs = 60_000;
/** Maximum number of agents for which the set-up of a repository is built in advance. */
const maxAgents = 3;

interface ClaimedEnvironment {
  readonly organizationId: string;
  readonly enterpriseId: string;
  readonly repositoryId: string;
  readonly host: string;
  readonly path: string;
  /** The definition that is stored in Switchyard; null: none is. */
  readonly stored: string | null;
  readonly settings: unknown;
  /** Identifies the claim. */
  readonly dueAt: Date;
}

const claim = `
  update environment_read e set due_at = $2::timestamptz
    from (select d.organization_id, d.repository_id from environment_read d where d.due_at <= $1::timestamptz
           order by d.due_at limit 1 for update skip locked) due, repository r, organization o
   where e.organization_id = due.organization_id and e.repository_id = due.repository_id and r.id = e.repository_id and o.id = e.organization_id
  returning e.organization_id as "organizationId", o.enterprise_id as "enterpriseId", e.repository_id as "repositoryId", r.host, r.path,
            r.environment as stored, e.due_at as "dueAt", r.settings`;

// A push that arrived meanwhile has set another time, which stays.
const finish = `
  update environment_read set environment = case when $7::text is null then $4::jsonb else environment end,
         commit = case when $7::text is null then $5 else commit end, error = $7, read_at = $6::timestamptz,
         due_at = case when due_at = $3::timestamptz then $8::timestamptz else due_at end
   where organization_id = $1 and repository_id = $2 returning repository_id`;

/**
 * Reads the environment that has been due the longest from its forge, and starts the set-ups whose results are in use and out of date. Returns false
 * if none is due. Any number of workers may do it at once: one reads each.
 */
export async function readDueEnvironment(context: Context, agents: Agents, signal: AbortSignal): Promise<boolean> {
  const at = context.now();
  const [claimed] = await context.store.execute<ClaimedEnvironment>(claim, [at, new Date(at.getTime() + claimMs)]);
  if (claimed === undefined) return false;
  const { organizationId, repositoryId, dueAt } = claimed;
  const { isEnvironmentBuiltOnPush: isBuilt } = readEnvironmentSettings(claimed.settings);
  let environment: EnvironmentAt | null = null;
  let error: string | null = null;
  let isLeft = false;
  try {
    const limited = AbortSignal.any([signal, AbortSignal.timeout(readMs)]);
    environment = await readEnvironment(context, agents, claimed, limited);
    if (environment !== null && isBuilt) isLeft = await buildOutdated(context, agents, claimed, environment);
  } catch (failure) {
    if (signal.aborted) return false;
    context.log.warn(
      { err: failure, organizationId, repositoryId },
      'The environment of a repository could not be read.',
    );
    error = failure instanceof RepositoryError ? plainLine(failure.message, 500) : 'The service could not read it.';
  }
  const { source, definition, problems, commit = null } = environment ?? {};
  const json = environment === null || source === undefined ? null : JSON.stringify({ source, definition, problems });
  const now = context.now();
  const next = isLeft ? new Date(now.getTime() + retryMs) : null;
  await context.store.execute(finish, [organizationId, repositoryId, dueAt, json, commit, now, error, next]);
  return true;
}

async function readEnvironment(
  context: Context,
  agents: Agents,
  { organizationId, enterpriseId, repositoryId, host, path, stored }: ClaimedEnvironment,
  signal: AbortSignal,
): Promise<EnvironmentAt | null> {
  const profile = context.agentProfiles.get(context.defaultAgent);
  const driver = profile && agents.driverOf(profile);
  const row: SessionRepositoryRow = {
    ...{ position: 0, repositoryId, host, path, address: host, requestedRef: null, baseRef: null, baseCommit: null },
    ...{ branch: '', pullRequestNumber: null, directory: '.', isReadOnly: true, state: 'PENDING', pendingPushes: {} },
  };
  const remote = await openForClone(context, { organizationId, enterpriseId }, row);
  if (remote === null) throw new RepositoryError('REMOTE', 'The organization may no longer use it.');
  const at = { ref: null, pullRequest: null, branch: '', openRemote: remote.open };
  const files = await driver?.openRepositoryFiles?.({ repository: remote.repository, at, signal });
  return files ? readEnvironmentAt(files, stored) : null;
}

interface UsedResult {
  readonly machine: string;
  readonly agent: string | null;
  readonly secretIds: readonly string[] | null;
  readonly directory: string;
  readonly usedAt: Date;
}

// The newest result of each agent and sandbox, with the choices of the session that built it.
const used = `
  select u.* from (
    select distinct on (b.machine) b.machine, s.agent, s.secret_ids as "secretIds", p.directory, b.used_at as "usedAt"
      from environment_build b join session s on s.id = b.session_id
      join session_repository p on p.session_id = b.session_id and p.repository_id = b.repository_id
     where b.organization_id = $1 and b.repository_id = $2 and b.state = 'READY' and b.used_at > $3::timestamptz
     order by b.machine, b.used_at desc, b.created_at desc) u
   order by u."usedAt" desc limit $4::int`;

// A set-up of this commit or with this key runs, or failed and would fail again: the next session tries.
const known = `
  select 1 from environment_build where organization_id = $1 and repository_id = $2
     and (hash = $3 or (trigger = 'PUSH' and commit = $4 and machine = $5)) limit 1`;

/** Starts the set-ups of results that are in use and out of date. Returns true if one could not start now. */
async function buildOutdated(
  context: Context,
  agents: Agents,
  { organizationId, enterpriseId, repositoryId, host, path }: ClaimedEnvironment,
  { commit, definition, digest }: EnvironmentAt,
): Promise<boolean> {
  if (definition === null || definition.setup.length === 0) return false;
  const since = new Date(context.now().getTime() - inUseMs);
  const results = await context.store.query<UsedResult>(used, [organizationId, repositoryId, since, maxAgents]);
  const system = asSystem(context, enterpriseId);
  const [organization] = await findOrganizations(system, [organizationId]);
  if (!organization) return false;
  let isLeft = false;
  for (const { machine, agent, secretIds, directory, usedAt } of results) {
    const profile = context.agentProfiles.get(agent ?? context.defaultAgent);
    // A worker with other agents or another platform made it.
    if (profile === undefined || machineOf(profile, agents.driverOf(profile), directory) !== machine) continue;
    const hash = hashOf({ digest }, machine);
    if ((await context.store.query(known, [organizationId, repositoryId, hash, commit, machine])).length > 0) continue;
    const repository = { id: repositoryId, host, path };
    const build = {
      repository,
      trigger: 'PUSH',
      definition: null,
      agent,
      secretIds,
      directory,
      commit,
      machine,
      usedAt,
    } as const;
    const started = await context.store.transact((tx) => startBuild(system, tx, organization, build));
    isLeft ||= started === null;
  }
  return isLeft;
}
