import { plainLine } from '../../common/plain-text.ts';
import { type ForgeError, isForgeError } from '../../forges/interface/errors.ts';
import type { PullRequestStatus } from '../../forges/interface/pull-requests.ts';
import type { Services } from '../context.ts';
import { openConnection } from '../git-connections/open-connection.ts';
import { applyAnswer } from '../pull-requests/apply-answer.ts';
import { usableRepository } from '../repositories/resolve-repositories.ts';
import { asSystem } from '../sessions/as-system.ts';
import { lockSession } from '../sessions/change-session.ts';
import type { ClaimedRead } from './claim-reads.ts';
import { isOfConnection, nextPollAt, retryAt } from './read-schedule.ts';

/** Failures of a pull request in a row after which it is read only when an event asks for it. */
const maxFailures = 50;

/**
 * Reads a claimed pull request from its forge once, and applies its state to its sessions. A process that dies meanwhile
 * repeats nothing that shows: states that are equal are not written again.
 */
export async function readFollowed(
  services: Services,
  claimed: ClaimedRead,
  isStopped: () => boolean = () => false,
): Promise<void> {
  let status: PullRequestStatus | null;
  try {
    const forge = await openConnection(services, claimed.gitConnectionId);
    if (!forge.pullRequests) return await endReads(services, claimed);
    status = await forge.pullRequests.read(claimed.path, claimed.number, claimed.validator ?? undefined);
  } catch (error) {
    if (!isForgeError(error)) throw error;
    // The request was aborted.
    if (isStopped()) return await release(services, claimed);
    return await (isOfConnection(error) ? pause(services, claimed, error) : recordFailure(services, claimed, error));
  }
  if (status !== null) await applyStatus(services, claimed, status);
  await complete(services, claimed, status);
}

interface FollowingSession {
  readonly id: string;
  readonly organizationId: string;
  readonly enterpriseId: string;
  readonly repositoryId: string;
  readonly url: string;
}

/** Writes the answer to the sessions whose organization may still use the repository. */
async function applyStatus(services: Services, { id }: ClaimedRead, answer: PullRequestStatus): Promise<void> {
  const sessions = await services.store.query<FollowingSession>(
    `select s.id, s.organization_id as "organizationId", o.enterprise_id as "enterpriseId",
            l.repository_id as "repositoryId", l.url
       from following_session l join session s on s.id = l.session_id
       join organization o on o.id = s.organization_id and o.deleted_at is null
      where l.followed_pull_request_id = $1
      order by s.id limit 1000`,
    [id],
  );
  for (const { id: sessionId, organizationId, enterpriseId, repositoryId, url } of sessions) {
    if ((await usableRepository(services, organizationId, repositoryId)) === null) continue;
    await services.store.transact(async (tx) => {
      const session = await lockSession(tx, sessionId, null);
      await applyAnswer(asSystem(services, enterpriseId), tx, session, { url, repositoryId, answer, generation: null });
    });
  }
}

async function complete(services: Services, claimed: ClaimedRead, status: PullRequestStatus | null): Promise<void> {
  const now = services.now();
  const [facts] = await services.store.query<{ isActive: boolean | null; changedAt: Date | null }>(
    `select bool_or(not s.is_archived and coalesce(s.ended_by, '') not in ('terminated', 'expired')) as "isActive",
            max(s.updated_at) as "changedAt"
       from following_session l join session s on s.id = l.session_id
       join organization o on o.id = s.organization_id and o.deleted_at is null
      where l.followed_pull_request_id = $1`,
    [claimed.id],
  );
  // A poll found a change that no webhook announced.
  const isMissed = status !== null && claimed.validator !== null && !claimed.isWanted;
  const isOver = status === null ? claimed.isOver : status.state === 'merged' || status.state === 'closed';
  // Forges compute it after they are asked, and announce no result. One more read soon is enough.
  const isUnsettled = status?.mergeable === 'unknown' && !isOver && (claimed.isWanted || claimed.validator !== null);
  const nextAt = nextPollAt({
    now,
    isOpen: !isOver,
    webhookAt: isMissed || isUnsettled ? null : claimed.webhookAt,
    hasActiveSession: facts?.isActive ?? false,
    sessionsChangedAt: facts?.changedAt ?? null,
  });
  // Without a validator the next read is applied: to a session that has followed the pull request since this read began, too.
  await services.store.execute(
    `update followed_pull_request set claimed_until_at = null, read_at = $3::timestamptz, failure_count = 0, error = null,
            due_at = case when wanted_at is null then $4::timestamptz else wanted_at end,
            webhook_at = case when $5::bool and wanted_at is null then null else webhook_at end,
            is_over = $6::bool, head_branch = coalesce($8, head_branch), head_commit = coalesce($9, head_commit),
            base_branch = coalesce($10, base_branch),
            validator = case when wanted_at is null and not $11::bool then coalesce($7, validator) end
      where id = $1 and claimed_until_at = $2::timestamptz returning id`,
    [
      ...[claimed.id, claimed.claimedUntilAt, now, nextAt, isMissed, isOver, status?.validator ?? null],
      ...[status?.headBranch ?? null, status?.headCommit ?? null, status?.baseBranch ?? null, isUnsettled],
    ],
  );
  // A read that was claimed before the pause says nothing about what follows it: the pause stays.
  await services.store.execute(
    `delete from git_connection_pause where git_connection_id = $1 and paused_at < $2::timestamptz
     returning failure_count`,
    [claimed.gitConnectionId, claimed.claimedAt],
  );
}

/** Ends the polls of a pull request of a connection without pull requests. */
async function endReads({ store }: Services, { id, claimedUntilAt }: ClaimedRead): Promise<void> {
  await store.execute(
    `update followed_pull_request set claimed_until_at = null, due_at = null
      where id = $1 and claimed_until_at = $2::timestamptz returning id`,
    [id, claimedUntilAt],
  );
}

/** Records a failure of this pull request alone, which is tried again later. */
async function recordFailure({ store, now }: Services, claimed: ClaimedRead, error: ForgeError): Promise<void> {
  const count = claimed.failureCount + 1;
  const nextAt = count >= maxFailures ? null : retryAt(now(), count, error.retryAt);
  await store.execute(
    `update followed_pull_request set claimed_until_at = null, failure_count = $3, error = $4, due_at = $5::timestamptz
      where id = $1 and claimed_until_at = $2::timestamptz returning id`,
    [claimed.id, claimed.claimedUntilAt, count, plainLine(error.message, 500), nextAt],
  );
}

/** Pauses all reads of the connection: until the forge says, or for a minute, doubled with each failure up to an hour. */
async function pause({ store, now }: Services, claimed: ClaimedRead, error: ForgeError): Promise<void> {
  const at = now();
  const message = plainLine(error.message, 500);
  const [earlier] = await store.query<{ failureCount: number }>(
    'select failure_count as "failureCount" from git_connection_pause where git_connection_id = $1',
    [claimed.gitConnectionId],
  );
  const count = (earlier?.failureCount ?? 0) + 1;
  // Reads that ran beside this one fail alike: they are one failure.
  await store.execute(
    `insert into git_connection_pause as p (git_connection_id, paused_at, paused_until_at, failure_count, error)
     values ($1, $2::timestamptz, $3::timestamptz, $4, $5)
     on conflict (git_connection_id) do update set paused_at = excluded.paused_at,
       paused_until_at = excluded.paused_until_at, failure_count = excluded.failure_count, error = excluded.error
      where p.paused_until_at <= excluded.paused_at or p.paused_until_at < excluded.paused_until_at
        and p.failure_count = excluded.failure_count
     returning failure_count`,
    [claimed.gitConnectionId, at, retryAt(at, count, error.retryAt), count, message],
  );
  await release({ store, now }, claimed, message);
}

/** Ends a claim without a result: the read is due at once, after a pause. */
async function release(
  { store, now }: Pick<Services, 'store' | 'now'>,
  claimed: ClaimedRead,
  error: string | null = null,
): Promise<void> {
  await store.execute(
    `update followed_pull_request set claimed_until_at = null, error = coalesce($3, error),
            wanted_at = case when $4::bool then coalesce(wanted_at, $5::timestamptz) else wanted_at end
      where id = $1 and claimed_until_at = $2::timestamptz returning id`,
    [claimed.id, claimed.claimedUntilAt, error, claimed.isWanted, now()],
  );
}
