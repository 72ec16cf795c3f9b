import type { Context } from '../../context.ts';
import { lockSession } from '../../sessions/change-session.ts';
import { FencedError } from '../../sessions/log.ts';
import { sleepLocked } from '../../sessions/suspend-session.ts';
import type { ClaimedRun } from '../runs/claims.ts';
import type { LimitReached } from './limits.ts';

/**
 * Suspends a session because a limit is reached, with a message for the user. The turn stays open: when the limit has
 * been raised, a message wakes the session and the turn resumes. The generation is incremented, so that nothing more
 * from the agent is accepted; the notification of `command:` makes the worker stop the agent. A session that has ended
 * meanwhile does not change. Throws FencedError if the run is no longer this worker's.
 */
export async function suspendForLimit(
  context: Context,
  run: Pick<ClaimedRun, 'sessionId' | 'generation'>,
  reached: LimitReached,
): Promise<void> {
  const { sessionId, generation } = run;
  await context.store.transact(async (tx) => {
    const lockedRuns = await tx.query('select 1 from run where session_id = $1 and generation = $2::int for update', [
      sessionId,
      generation,
    ]);
    if (lockedRuns.length === 0) throw new FencedError(sessionId);
    const session = await lockSession(tx, sessionId, generation);
    const isOver = session.status === 'exit' || session.status === 'error' || session.status === 'suspended';
    if (isOver) return;
    const { statusDetail, message } = reached;
    const isBudget = statusDetail === 'out_of_credits';
    await tx.query('update run set budget_key_id = $2, budget_needed_usd = $3 where session_id = $1', [
      sessionId,
      isBudget ? reached.providerKeyId : null,
      isBudget ? reached.neededUsd : 0,
    ]);
    await sleepLocked(context, tx, session, { statusDetail, requestFrom: null, endsTurn: false }, [
      { kind: 'LIMIT', body: message, data: { limit: statusDetail, ...figuresOf(reached) } },
      { kind: 'MESSAGE', messageType: 'agent_message', body: message },
    ]);
  });
}

function figuresOf(reached: LimitReached) {
  if (reached.statusDetail === 'out_of_credits') {
    const { providerKeyId, budgetUsd, spentUsd } = reached;
    return { providerKeyId, budgetUsd, spentUsd };
  }
  if ('tokenLimit' in reached) return { tokenLimit: reached.tokenLimit, tokensUsed: reached.tokensUsed };
  return { acuLimit: reached.limit, acusUsed: reached.used };
}
