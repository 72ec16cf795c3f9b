import type { Context } from '../../context.ts';
import { budgetStart } from '../../library/provider-keys/stored-key.ts';
import { lockRunAndSession, resumeLocked } from '../../sessions/suspend-session.ts';

/** Maximum number of sessions that are read at once. */
const batchSize = 100;

const waiting = `
  select r.session_id as "sessionId"
    from run r join provider_key k on k.id = r.budget_key_id
    cross join lateral (select k.monthly_budget_usd - coalesce(sum(u.cost_usd), 0) as usd from provider_key_usage u
                         where u.provider_key_id = k.id and u.day >= $1::date) as rest
   where r.budget_key_id is not null and r.session_id > $2 and k.deleted_at is null and k.is_enabled
     and (rest.usd is null or (rest.usd > 0 and rest.usd >= r.budget_needed_usd))
   order by r.session_id limit ${batchSize}`;

const take = `update run set budget_key_id = null, budget_needed_usd = 0 where session_id = $1 and budget_key_id is not null returning session_id`;

/**
 * Continues the sessions that were suspended because of the budget of a key, if what they need is left again: it was raised or
 * removed, or a month has begun. Returns their number. Other processes may do the same at the same time. A session that cannot
 * be continued is logged, and tried again at the next call.
 */
export async function continueAfterBudgets(context: Context): Promise<number> {
  let continued = 0;
  let after = '';
  for (;;) {
    const rows = await context.store.query<{ sessionId: string }>(waiting, [budgetStart(context), after]);
    for (const { sessionId } of rows) {
      after = sessionId;
      try {
        if (await continueSession(context, sessionId)) continued += 1;
      } catch (error) {
        context.log.error(
          { err: error, sessionId },
          'A session that waited for the budget of a key could not be continued.',
        );
      }
    }
    if (rows.length < batchSize) return continued;
  }
}

function continueSession(context: Context, sessionId: string): Promise<boolean> {
  return context.store.transact(async (tx) => {
    const session = await lockRunAndSession(tx, sessionId);
    if ((await tx.query(take, [sessionId])).length === 0) return false;
    const isSuspended = session.status === 'suspended' && session.statusDetail === 'out_of_credits';
    if (!isSuspended || session.isArchived) return false;
    await resumeLocked(context, tx, session);
    return true;
  });
}
