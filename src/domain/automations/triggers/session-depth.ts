import type { Transaction } from '../../../store/store.ts';

/** Maximum length of a chain of automations, each started by a session of the one before. */
export const maxChainLength = 5;
/** Maximum number of ancestors of a session that are read. */
const maxAncestors = 10;

/** A session, by its unprefixed id, that an automation on session events writes to. */
export interface MessagedSession {
  readonly sessionId: string;
  readonly automationId: string;
}

/**
 * Returns the number of automations before each of these sessions: the one that started it or wrote to it last, or
 * started its parent session, and those before that. 0: only people. A message of a user or a service user to a session
 * without a parent resets the number to 0.
 */
export async function depthsOf(
  tx: Transaction,
  sessionIds: readonly string[],
  messagedSessions: readonly MessagedSession[],
): Promise<ReadonlyMap<string, number>> {
  // A run stores the session that it started; the other sessions that it wrote to are known from the automation alone.
  const rows = await tx.query<{ id: string; depth: number }>(
    `with recursive up(root, id, n) as (
       select w.id, w.id, 0 from unnest($1::text[]) w(id)
       union all
       select up.root, s.parent_id, up.n + 1 from up join session s on s.id = up.id
        where s.parent_id is not null and up.n < ${maxAncestors})
     select up.root as id, max(found.depth) + 1 as depth from up cross join lateral (
         select r.depth, coalesce(r.started_at, r.created_at) as at from automation_run r where r.session_id = up.id
         union all
         select last.depth, last.at from unnest($2::text[], $3::text[]) t(session_id, automation_id) cross join lateral (
             select r.depth, coalesce(r.started_at, r.created_at) as at from automation_run r where r.automation_id = t.automation_id and r.status = 'started'
              order by r.created_at desc, r.id desc limit 1) last
          where t.session_id = up.id) found
      where up.n > 0 or not exists (
        select 1 from session s join log_entry e on e.session_id = s.id
         where s.id = up.id and s.parent_id is null and e.message_type = 'user_message' and e.created_at > found.at
           and (e.user_id is not null or e.service_user_id is not null))
      group by up.root`,
    [
      sessionIds,
      messagedSessions.map(({ sessionId }) => sessionId),
      messagedSessions.map(({ automationId }) => automationId),
    ],
  );
  return new Map(rows.map(({ id, depth }) => [id, depth]));
}
