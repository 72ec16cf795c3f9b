import type { Transaction } from '../../store/store.ts';
import type { Context } from '../context.ts';
import { notifySession } from './change-session.ts';
import { appendEntries, type NewEntry } from './log.ts';
import type { PullRequest, SessionRecord } from './session.ts';

/** Maximum number of pull requests of a session. */
const maxPullRequests = 200;

/** A change of a session's pull requests. */
export interface PullRequestWrite {
  readonly pullRequest: PullRequest;
  /** Of the worker that writes; null: the writer is not a worker. */
  readonly generation: number | null;
}

/** Adds a pull request to a locked session, or changes its state. False: nothing was new, or there are too many. */
export async function writePullRequest(
  context: Context,
  tx: Transaction,
  session: SessionRecord,
  { pullRequest, generation }: PullRequestWrite,
): Promise<boolean> {
  const known = session.pullRequests.find(({ url }) => url === pullRequest.url);
  if (known?.state === pullRequest.state) return false;
  if (!known && session.pullRequests.length >= maxPullRequests) return false;
  const all = known
    ? session.pullRequests.map((each) => (each === known ? pullRequest : each))
    : [...session.pullRequests, pullRequest];
  await tx.query('update session set pull_requests = $2::jsonb where id = $1', [session.id, JSON.stringify(all)]);
  const { url, state } = pullRequest;
  const reviews = await tx.query('select 1 from session_review v where v.session_id = $1 and v.url = $2', [
    session.id,
    url,
  ]);
  const data = { url, state, ...(reviews.length > 0 && { isReviewed: true }) };
  const entry: NewEntry = { kind: 'PULL_REQUEST', body: url, data };
  await appendEntries(tx, session.id, generation, [entry], context.now());
  notifySession(context, tx, session);
  return true;
}

/**
 * Counts a change of what the service shows of a locked session's pull requests, which are their details and their follow-ups, and
 * notifies its subscribers. `sessionUpdated` compares sessions, and a session has no other trace of such a change.
 */
export async function notifyPullRequests(
  context: Pick<Context, 'notifier'>,
  tx: Transaction,
  session: Pick<SessionRecord, 'id' | 'organizationId'>,
): Promise<void> {
  await tx.query('update session set pull_requests_version = pull_requests_version + 1 where id = $1', [session.id]);
  notifySession(context, tx, session);
}
