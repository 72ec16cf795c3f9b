import { DomainError } from '../../common/errors.ts';
import type { NewPullRequest } from '../../forges/interface/pull-requests.ts';
import type { Transaction } from '../../store/store.ts';
import type { Services } from '../context.ts';
import { newId } from '../ids.ts';

/** Duration of a claim: longer than the requests to the forge take. */
const leaseMs = 2 * 60_000;
/** Time until the next attempt after a failure. */
const retryMs = 60_000;
/** Number of attempts after which an intent is given up. */
const maxAttempts = 5;

/** A pull request that is being opened. Ids are unprefixed. */
export interface Intent {
  readonly id: string;
  readonly sessionId: string;
  readonly organizationId: string;
  readonly enterpriseId: string;
  readonly repositoryId: string;
  readonly request: NewPullRequest;
  readonly attemptCount: number;
}

/**
 * Writes the intent to open a pull request, or takes over one of the same branches whose claim has ended. Throws INVALID_STATE while
 * another process opens it.
 */
export async function writeIntent(
  { now }: Pick<Services, 'now'>,
  tx: Transaction,
  { sessionId, repositoryId, request }: Pick<Intent, 'sessionId' | 'repositoryId' | 'request'>,
): Promise<string> {
  const at = now();
  const [row] = await tx.query<{ id: string }>(
    `insert into pull_request_intent as i (id, session_id, repository_id, head_branch, base_branch, request, claimed_until_at, attempt_count,
        created_at)
     values ($1, $2, $3, $4, $5, $6::jsonb, $7::timestamptz, 1, $8::timestamptz)
     on conflict (session_id, repository_id, head_branch, base_branch) do update
       set request = excluded.request, claimed_until_at = excluded.claimed_until_at, attempt_count = 1
      where i.claimed_until_at <= $8::timestamptz or i.attempt_count > 1
     returning id`,
    [
      ...[newId(), sessionId, repositoryId, request.headBranch, request.baseBranch, JSON.stringify(request)],
      ...[new Date(at.getTime() + leaseMs), at],
    ],
  );
  if (row) return row.id;
  const message = `The pull request of ${JSON.stringify(request.headBranch)} is being opened. Try again in a moment.`;
  throw new DomainError('INVALID_STATE', message);
}

/** Claims intents whose process ended, or whose forge failed. */
export async function claimIntents({ store, now }: Services, limit: number): Promise<Intent[]> {
  const at = now();
  return store.execute<Intent>(
    `update pull_request_intent i set claimed_until_at = $2::timestamptz, attempt_count = i.attempt_count + 1
       from session s, organization o
      where i.id in (select d.id from pull_request_intent d where d.claimed_until_at <= $1::timestamptz
                      order by d.claimed_until_at limit $3::int for update skip locked)
        and s.id = i.session_id and o.id = s.organization_id
     returning i.id, i.session_id as "sessionId", s.organization_id as "organizationId", o.enterprise_id as "enterpriseId",
               i.repository_id as "repositoryId", i.request, i.attempt_count as "attemptCount"`,
    [at, new Date(at.getTime() + leaseMs), limit],
  );
}

/** Deletes an intent whose result is written. */
export async function deleteIntent(tx: Pick<Transaction, 'query'>, id: string): Promise<void> {
  await tx.query('delete from pull_request_intent where id = $1', [id]);
}

/** Tells if an intent has had its last attempt. */
export const isLastAttempt = ({ attemptCount }: Pick<Intent, 'attemptCount'>): boolean => attemptCount >= maxAttempts;

/** Leaves an intent for a later attempt of any process. */
export async function postponeIntent({ store, now }: Pick<Services, 'store' | 'now'>, id: string): Promise<void> {
  await store.execute('update pull_request_intent set claimed_until_at = $2::timestamptz where id = $1 returning id', [
    id,
    new Date(now().getTime() + retryMs),
  ]);
}
