import type { Context } from '../../context.ts';
import { lockSession, notifySession } from '../../sessions/change-session.ts';
import { appendEntries } from '../../sessions/log.ts';
import type { ClaimedRun } from '../runs/claims.ts';
import { type Mask, maskDeep } from '../runs/masking.ts';

/** Stores a valid structured output, masked. It is visible at once, even while the agent works. Throws FencedError. */
export async function storeOutput(context: Context, run: ClaimedRun, output: unknown, mask: Mask): Promise<void> {
  const masked = maskDeep(output, mask);
  await context.store.transact(async (tx) => {
    const session = await lockSession(tx, run.sessionId, run.generation);
    await tx.query('update session set structured_output = $2::jsonb where id = $1', [
      run.sessionId,
      JSON.stringify(masked),
    ]);
    const entry = { kind: 'STRUCTURED_OUTPUT', data: { output: masked } } as const;
    await appendEntries(tx, run.sessionId, run.generation, [entry], context.now());
    notifySession(context, tx, session);
  });
}
