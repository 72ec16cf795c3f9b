import type { Narrowed } from '../../store/tables.ts';
import { fieldsOf, selectFields } from '../../store/tables.ts';
import type { Services } from '../context.ts';

/** Duration of a claim: longer than the requests to the forge take. */
const leaseMs = 2 * 60_000;
/** Number of attempts, with pauses of 10 s, 20 s, 40 s and so on. */
const maxAttempts = 8;
const firstPauseMs = 10_000;

const fields = fieldsOf('Mention');

/** The states of a mention: `answering` has reached a session, or been refused, and its answer is not written yet. */
export type MentionStatus = 'pending' | 'answering' | 'done' | 'ignored' | 'failed';

/** A mention that this process has claimed. */
export type ClaimedMention = Narrowed<'Mention', (typeof fields)[number], { readonly status: MentionStatus }>;

/** Claims mentions that are due, the longest waiting first. May run in several processes at once. */
export async function claimMentions({ store, now }: Services, limit: number): Promise<ClaimedMention[]> {
  const at = now();
  return store.execute<ClaimedMention>(
    `update mention m set next_attempt_at = $2::timestamptz
      where m.id in (select d.id from mention d where d.next_attempt_at <= $1::timestamptz
                      order by d.next_attempt_at limit $3::int for update skip locked)
     returning ${selectFields('Mention', 'm', fields)}`,
    [at, new Date(at.getTime() + leaseMs), limit],
  );
}

/** Returns the time when the next mention is due; null: there is none. */
export async function nextMentionAt({ store }: Pick<Services, 'store'>): Promise<Date | null> {
  const [row] = await store.query<{ at: Date | null }>(
    'select min(m.next_attempt_at) as at from mention m where m.next_attempt_at is not null',
  );
  return row?.at ?? null;
}

/**
 * Ends a mention. Its texts are deleted; the row stays, so that the same text is not taken again. If it reached no session, the
 * text may be a follow-up: reads of its pull request that have left it out are repeated.
 */
export async function finishMention(
  { store, now, notifier }: Pick<Services, 'store' | 'now' | 'notifier'>,
  id: string,
  status: 'done' | 'ignored' | 'failed',
  error: string | null = null,
): Promise<void> {
  const repeated = await store.execute(
    `with finished as (
       update mention set status = $2, error = $3, next_attempt_at = null, body = '', title = '', description = '', answer = null
        where id = $1 returning enterprise_id, host, path_key, number, is_pull_request, session_id)
     update followed_pull_request f
        set validator = null, wanted_at = least(f.wanted_at, $4::timestamptz), due_at = least(f.due_at, $4::timestamptz)
       from finished m join git_connection c on c.enterprise_id = m.enterprise_id and c.host_key = m.host
      where f.git_connection_id = c.id and f.path_key = m.path_key and f.number = m.number and m.is_pull_request
        and m.session_id is null and not f.is_over and (f.validator is null or f.claimed_until_at is not null)
     returning f.id`,
    [id, status, error, now()],
  );
  if (repeated.length > 0) notifier.notify('pull-requests');
}

/** Leaves a mention for a later attempt, or gives it up after the last. `retryAt`: the forge answers no earlier. */
export async function postponeMention(
  services: Services,
  { id, attemptCount }: ClaimedMention,
  error: string,
  retryAt: Date | null,
): Promise<void> {
  const count = attemptCount + 1;
  if (count >= maxAttempts) return await finishMention(services, id, 'failed', error);
  const nextMs = services.now().getTime() + firstPauseMs * 2 ** (count - 1);
  await services.store.execute(
    'update mention set attempt_count = $2, error = $3, next_attempt_at = $4::timestamptz where id = $1 returning id',
    [id, count, error, new Date(Math.max(nextMs, retryAt?.getTime() ?? 0))],
  );
}
