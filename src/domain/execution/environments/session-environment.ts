import type { Agents } from '../../../agents/agent.ts';
import type { Context } from '../../context.ts';
import type { PreparedRepositories } from '../repositories/prepare-repositories.ts';
import type { ClaimedRun } from '../runs/claims.ts';
import { identityVariables } from '../runs/git-identity.ts';
import { type LaunchPlan, withRepositories } from '../runs/launch.ts';
import { agentVariables, readSetUpSecrets, withEnvironment } from './environment-variables.ts';
import { type BuildParts, runBuild } from './run-build.ts';
import { readRunEnvironment } from './run-environment.ts';
import { prepareEnvironment, type SetUpParts } from './set-up.ts';

/** The environment of a run: of its repositories, of which there may be none. */
export interface SessionEnvironment {
  /** The launch plan with the repositories, and with the values to mask. */
  readonly plan: LaunchPlan;
  /** Variables of the agent: for its git, and those that the definitions set. */
  readonly variables: Readonly<Record<string, string>>;
  /**
   * Runs the set-ups and the start commands; or the set-up for which the session exists, which ends the session. Returns the functions that end what the start commands left running. Throws FencedError, and
   * rejects when the run ends.
   */
  prepare(parts: PartsOfRun): Promise<readonly (() => Promise<void>)[]>;
}

type PartsOfRun = Pick<
  BuildParts,
  'profile' | 'sandbox' | 'mask' | 'safeLength' | 'recorder' | 'drafts' | 'checkpoints'
>;

/** Options of {@link openSessionEnvironment}. */
export interface OpenEnvironmentOptions {
  readonly driver: ReturnType<Agents['driverOf']>;
  readonly sandbox: SetUpParts['sandbox'];
  /** Null: the session has no repositories. */
  readonly prepared: PreparedRepositories | null;
  readonly plan: LaunchPlan;
  readonly signal: AbortSignal;
}

/** Reads the environment of a run. Nothing runs yet: the masks of the run need the values of its secrets first. */
export async function openSessionEnvironment(
  context: Context,
  run: ClaimedRun,
  { driver, sandbox, prepared, plan: launchPlan, signal }: OpenEnvironmentOptions,
): Promise<SessionEnvironment> {
  const { profile, organizationId } = launchPlan;
  const gitVariables = (base: Readonly<Record<string, string>>) => {
    const identity = identityVariables(profile, sandbox, base);
    return { ...identity, ...prepared?.env({ ...base, ...identity }) };
  };
  const agentEnv = (plan: LaunchPlan) => ({ ...profile.env, ...plan.env });
  if (prepared === null)
    return { plan: launchPlan, variables: gitVariables(agentEnv(launchPlan)), prepare: async () => [] };
  const environment = await readRunEnvironment(context, run, {
    driver,
    files: sandbox.files,
    prepared,
    profile,
    build: launchPlan.build,
    signal,
  });
  const secrets = await readSetUpSecrets(context, launchPlan, environment.environments);
  const plan = withEnvironment(withRepositories(launchPlan, prepared), environment, secrets);
  return {
    plan,
    variables: { ...agentVariables(environment, profile, plan), ...gitVariables(agentEnv(plan)) },
    async prepare(parts) {
      const { build } = launchPlan;
      const all = { ...parts, organizationId, environment, secrets, gitVariables, signal, build };
      if (build !== null) return runBuild(context, run, all, build);
      return (await prepareEnvironment(context, run, all)).map(({ stop }) => stop);
    },
  };
}
