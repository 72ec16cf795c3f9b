import type { Context } from '../context.ts';
import type { SessionRecord } from './session.ts';

/** Sizes of a session by the ACUs that it used: see {@link sessionSize}. */
export const sessionSizes = ['xs', 's', 'm', 'l', 'xl'] as const;
/** See {@link sessionSizes}. */
export type SessionSize = (typeof sessionSizes)[number];

// Upper bounds in ACUs, exclusive; xl has none (docs/wire/v3.md#insights).
const bounds = { xs: 1, s: 3, m: 6, l: 12, xl: Number.POSITIVE_INFINITY } as const satisfies Record<
  SessionSize,
  number
>;

/** Returns the size of a session by the ACUs that it used. */
export function sessionSize(acus: number): SessionSize {
  return sessionSizes.find((size) => acus < bounds[size]) ?? 'xl';
}

/** Figures about a session that its log yields. Withdrawn messages do not count. */
export interface SessionInsights {
  readonly userMessageCount: number;
  readonly agentMessageCount: number;
  readonly size: SessionSize;
}

const counts = `
  select e.session_id as "sessionId",
         count(*) filter (where e.message_type <> 'agent_message')::int as "userMessageCount",
         count(*) filter (where e.message_type = 'agent_message')::int as "agentMessageCount"
    from log_entry e left join message_change c on c.session_id = e.session_id and c.seq = e.seq
   where e.session_id = any($1::text[]) and e.message_type is not null and c.is_withdrawn is not true
   group by e.session_id`;

/**
 * Reads the insights of sessions that the caller has read, in their order, in one statement. The caller checks the
 * viewer's permission to view them.
 */
export async function readInsights(
  context: Context,
  sessions: readonly Pick<SessionRecord, 'id' | 'acusConsumed'>[],
): Promise<SessionInsights[]> {
  const ids = sessions.map(({ id }) => id);
  const rows = await context.store.query<Omit<SessionInsights, 'size'> & { sessionId: string }>(counts, [ids]);
  const found = new Map(rows.map((row) => [row.sessionId, row]));
  return sessions.map(({ id, acusConsumed }) => {
    const { userMessageCount = 0, agentMessageCount = 0 } = found.get(id) ?? {};
    return { userMessageCount, agentMessageCount, size: sessionSize(acusConsumed) };
  });
}
