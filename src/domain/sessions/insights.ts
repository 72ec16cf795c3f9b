import type { Context } from '../context.ts';
import type { SessionRecord } from './session.ts';

/** How much a session used, by {@link sessionSize}. */
export const sessionSizes = ['xs', 's', 'm', 'l', 'xl'] as const;
/** See {@link sessionSizes}. */
export type SessionSize = (typeof sessionSizes)[number];

// Pinned 2: below each so many ACUs; xl has no bound.
const bounds = { xs: 1, s: 3, m: 6, l: 12, xl: Number.POSITIVE_INFINITY } as const satisfies Record<
  SessionSize,
  number
>;

/** The size of a session by the ACUs that it used. */
export function sessionSize(acus: number): SessionSize {
  return sessionSizes.find((size) => acus < bounds[size]) ?? 'xl';
}

/** What can be said of a session from its log. */
export interface SessionInsights {
  readonly userMessageCount: number;
  readonly agentMessageCount: number;
  readonly size: SessionSize;
}

const counts = `
  select e.session_id as "sessionId",
         count(*) filter (where e.message_type <> 'agent_message')::int as "userMessageCount",
         count(*) filter (where e.message_type = 'agent_message')::int as "agentMessageCount"
    from log_entry e where e.session_id = any($1::text[]) and e.message_type is not null group by e.session_id`;

/**
 * The insights of sessions that the caller has read, in their order, by one statement for all. The viewer's permission to
 * view them is the caller's to ask for.
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
