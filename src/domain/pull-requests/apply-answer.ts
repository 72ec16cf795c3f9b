import type { PullRequest as ForgePullRequest, PullRequestStatus } from '../../forges/interface/pull-requests.ts';
import type { Transaction } from '../../store/store.ts';
import type { Context } from '../context.ts';
import type { SessionRecord } from '../sessions/session.ts';
import { notifyPullRequests, writePullRequest } from '../sessions/write-pull-request.ts';
import { detailsOf, sessionStates } from './details.ts';

/** An answer of a forge about a session's pull request. */
export interface ForgeAnswer {
  /** The address under which the session has the pull request. */
  readonly url: string;
  /** Unprefixed id. */
  readonly repositoryId: string;
  readonly answer: ForgePullRequest | PullRequestStatus;
  /** True if the service opened the pull request just now. */
  readonly isOpenedByService?: boolean;
  /** Of the worker that writes; null: the writer is not a worker. */
  readonly generation: number | null;
}

// A row that would not change is not written, except for the time of the read.
const write = `
  with earlier as (select * from pull_request p where p.session_id = $1 and p.url = $2)
  insert into pull_request as p (session_id, url, repository_id, number, title, is_draft, head_branch, head_commit, base_branch,
    mergeability, checks, reviews, is_truncated, opened_at, merged_at, closed_at, is_opened_by_service, read_at)
  values ($1, $2, $3, $4, $5, $6::boolean, $7, $8, $9, coalesce($10, 'unknown'), coalesce($11::jsonb, '[]'), coalesce($12::jsonb, '[]'),
    coalesce($13::boolean, false), $14::timestamptz, $15::timestamptz, $16::timestamptz, $17::boolean, $18::timestamptz)
  on conflict (session_id, url) do update set
    title = excluded.title, is_draft = excluded.is_draft, head_branch = excluded.head_branch, head_commit = excluded.head_commit,
    base_branch = excluded.base_branch, mergeability = coalesce($10, p.mergeability), checks = coalesce($11::jsonb, p.checks),
    reviews = coalesce($12::jsonb, p.reviews), is_truncated = coalesce($13::boolean, p.is_truncated),
    opened_at = excluded.opened_at, merged_at = excluded.merged_at, closed_at = excluded.closed_at,
    is_opened_by_service = p.is_opened_by_service or excluded.is_opened_by_service, read_at = excluded.read_at
  returning not exists (select 1 from earlier e where
    (e.title, e.is_draft, e.head_branch, e.head_commit, e.base_branch, e.mergeability, e.checks, e.reviews, e.is_truncated,
      e.is_opened_by_service)
      is not distinct from
    (p.title, p.is_draft, p.head_branch, p.head_commit, p.base_branch, p.mergeability, p.checks, p.reviews, p.is_truncated,
      p.is_opened_by_service)) as "isChanged"`;

/**
 * Writes what a forge answered about a pull request of a locked session: its state to the session, with an entry in the log if it is
 * new, and its details. Subscribers learn of either.
 */
export async function applyAnswer(
  context: Context,
  tx: Transaction,
  session: SessionRecord,
  { url, repositoryId, answer, isOpenedByService = false, generation }: ForgeAnswer,
): Promise<void> {
  const pullRequest = { url, state: sessionStates[answer.state] };
  const isNew = await writePullRequest(context, tx, session, { pullRequest, generation });
  const { checks, reviews, ...details } = detailsOf(answer);
  const json = (value: unknown) => (value === null ? null : JSON.stringify(value));
  const [row] = await tx.query<{ isChanged: boolean }>(write, [
    ...[session.id, url, repositoryId, details.number, details.title, details.isDraft, details.headBranch],
    ...[details.headCommit, details.baseBranch, details.mergeability, json(checks), json(reviews), details.isTruncated],
    ...[details.openedAt, details.mergedAt, details.closedAt, isOpenedByService, context.now()],
  ]);
  if (!isNew && row?.isChanged) await notifyPullRequests(context, tx, session);
}
