import type { Context } from '../context.ts';
import type { ClaimedRun } from '../runs/claims.ts';
import { changeSession, lockSession } from '../sessions/change-session.ts';
import { FencedError, type NewEntry } from '../sessions/log.ts';
import type { LimitReached } from './limits.ts';

/**
 * Puts a session to sleep because a limit is reached, and says so to the user. The turn stays open: once the limit is
 * raised, a message wakes the session and it is taken up again. The generation moves, so that nothing the agent still
 * says is accepted; the ring of `command:` makes whoever runs it stop the agent. A session that has ended meanwhile stays
 * as it is. FencedError when the run is no longer this worker's.
 */
export async function suspendForLimit(
  context: Context,
  run: Pick<ClaimedRun, 'sessionId' | 'generation'>,
  reached: LimitReached,
): Promise<void> {
  const { sessionId, generation } = run;
  await context.store.transact(async (tx) => {
    const rows = await tx.query<{ generation: number }>(
      `update run set generation = generation + 1, queued_at = null where session_id = $1 and generation = $2::int
       returning generation`,
      [sessionId, generation],
    );
    if (rows.length === 0) throw new FencedError(sessionId);
    const session = await lockSession(tx, sessionId, generation);
    await tx.query('update session_head set generation = $2::int where session_id = $1', [sessionId, generation + 1]);
    tx.afterCommit(() => context.bell.ring(`command:${sessionId}`));
    const isAtWork = ['claimed', 'running', 'resuming', 'new'].includes(session.status);
    if (!isAtWork) return;
    // The table has no way from claimed to suspended: a claimed session is given back first.
    const free = session.status === 'claimed' ? await changeSession(context, tx, session, { status: 'new' }) : session;
    const { statusDetail, message, limit, used } = reached;
    const entries: NewEntry[] = [
      { kind: 'LIMIT', body: message, data: { limit: statusDetail, acuLimit: limit, acusUsed: used } },
      { kind: 'MESSAGE', messageType: 'agent_message', body: message },
    ];
    const asleep = { status: 'suspended', statusDetail, request: null, requestFrom: null, isFresh: false } as const;
    await changeSession(context, tx, free, asleep, entries);
  });
}
