import type { Transaction } from '../../store/store.ts';
import type { SessionRecord } from '../sessions/session.ts';
import type { PullRequestFacts, UnsettledFollowUp } from './follow-up.ts';

interface LastCheck {
  readonly chain: number | null;
  readonly key: string;
  readonly settledAt: Date;
}

/**
 * Returns the position of failed checks in a chain of failures: 1 more than that of the last ones that were sent, and 1 if
 * that chain has ended. A chain ends when all checks pass, and when a person writes to the session, pushes a commit, or lets
 * the follow-ups continue.
 */
export async function checkChain(
  tx: Transaction,
  { id }: Pick<SessionRecord, 'id'>,
  { url, key }: Pick<UnsettledFollowUp, 'url' | 'key'>,
  { resumedAt, checksPassedAt }: PullRequestFacts,
): Promise<number> {
  const [last] = await tx.query<LastCheck>(
    `select f.chain, f.key, f.settled_at as "settledAt" from follow_up f
      where f.session_id = $1 and f.url = $2 and f.kind = 'checks' and f.state = 'sent'
      order by f.settled_at desc, f.id desc limit 1`,
    [id, url],
  );
  if (!last) return 1;
  const isLater = (at: Date | null) => at !== null && at >= last.settledAt;
  if (isLater(resumedAt) || isLater(checksPassedAt)) return 1;
  if (await hasPersonWritten(tx, id, last.settledAt)) return 1;
  const commit = commitOf(key);
  if (commit !== commitOf(last.key) && !(await isOwnCommit(tx, id, commit))) return 1;
  return (last.chain ?? 0) + 1;
}

const commitOf = (key: string): string => key.split(':')[1] ?? '';

async function hasPersonWritten(tx: Transaction, sessionId: string, after: Date): Promise<boolean> {
  const rows = await tx.query(
    `select 1 from log_entry e where e.session_id = $1 and e.message_type = 'user_message' and e.created_at > $2::timestamptz
        and num_nonnulls(e.user_id, e.service_user_id, e.service_key_id) > 0 limit 1`,
    [sessionId, after],
  );
  return rows.length > 0;
}

async function isOwnCommit(tx: Transaction, sessionId: string, commit: string): Promise<boolean> {
  const rows = await tx.query(
    `select 1 from log_entry e where e.session_id = $1 and e.kind = 'PUSH' and e.data->>'new' = $2 limit 1`,
    [sessionId, commit],
  );
  return rows.length > 0;
}
