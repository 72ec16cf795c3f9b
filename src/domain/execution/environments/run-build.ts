import type { Context } from '../../context.ts';
import type { DefinitionProblem } from '../../environments/definition.ts';
import type { ClaimedRun } from '../runs/claims.ts';
import type { RequestedBuild } from '../runs/launch.ts';
import { createBuildLog } from './build-log.ts';
import { problemLines } from './environment-log.ts';
import { endBuildSession, isUnsettled, recordBegin, recordNoResult, removeBuild } from './requested-builds.ts';
import { prepareEnvironment, type SetUpParts } from './set-up.ts';

/** The parts of a run that a requested build uses. */
export interface BuildParts extends Omit<SetUpParts, 'begun'> {
  safeLength(text: string): number;
}

/**
 * Runs the set-up of a requested build, stores its result, and finishes its session. Returns no processes. Throws FencedError, and rejects
 * when the run ends: the next worker then builds again.
 */
export async function runBuild(
  context: Context,
  run: ClaimedRun,
  parts: BuildParts,
  { id: buildId, trigger }: RequestedBuild,
): Promise<readonly []> {
  const { organizationId, environment } = parts;
  const [each] = environment.environments;
  if (each?.outcome === null) {
    const { hash, machine, commit, row } = each;
    const begun = { buildId, machine, commit, key: { organizationId, repositoryId: row.repositoryId, hash } };
    await recordBegin(context, run, begun);
    const log = createBuildLog(context, run, { buildId, ...parts });
    try {
      await prepareEnvironment(context, run, { ...parts, begun: { ...begun, show: log.show } });
    } finally {
      await log.close();
    }
  }
  if (await isUnsettled(context, buildId)) {
    const isBuilt = each !== undefined && each.outcome !== null;
    if (trigger === 'PUSH' && isBuilt) await removeBuild(context, buildId);
    else await recordNoResult(context, run, { buildId, key: null }, reasonOf(environment.problems, isBuilt));
  }
  await endBuildSession(context, run);
  return [];
}

function reasonOf(
  problems: readonly { readonly problems: readonly DefinitionProblem[] }[],
  hasDefinition: boolean,
): string {
  const lines = problems.flatMap(({ problems: each }) => problemLines(each));
  if (hasDefinition)
    return ['The environment has no set-up commands, so there is nothing to build.', ...lines].join('\n');
  if (lines.length > 0) return ['The environment has errors, so the repository is not set up:', ...lines].join('\n');
  return 'Nothing defines an environment of this repository.';
}
