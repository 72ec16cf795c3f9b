import type { Context } from '../context.ts';
import type { ClaimedRun } from '../runs/claims.ts';
import type { LaunchPlan } from '../runs/launch.ts';

/**
 * Makes attachments of what the agent left in `.session/outputs/`; what has not changed since it was collected is not
 * collected again. To be called when a turn has ended, before that is written. FencedError when the run is lost; whatever
 * else goes wrong with a file is a notice in the log. Gives how many there were.
 */
export async function collectOutputs(_context: Context, _run: ClaimedRun, _plan: LaunchPlan): Promise<number> {
  return 0;
}
