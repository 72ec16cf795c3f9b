import { plainLine } from '../../common/plain-text.ts';
import { type ForgeError, isForgeError } from '../../forges/interface/errors.ts';
import type { Forge } from '../../forges/interface/forge.ts';
import type { PullRequestStatus, PullRequests } from '../../forges/interface/pull-requests.ts';
import type { Services } from '../context.ts';
import { openConnection } from '../git-connections/open-connection.ts';
import { applyAnswer } from '../pull-requests/apply-answer.ts';
import { usableRepository } from '../repositories/resolve-repositories.ts';
import { asSystem } from '../sessions/as-system.ts';
import { lockRunAndSession } from '../sessions/suspend-session.ts';
import { archiveMerged } from './archive-merged.ts';
import type { ClaimedRead } from './claim-reads.ts';
import { isOfConnection, nextPollAt, promptMs, retryAt } from './read-schedule.ts';

/** Failures of a pull request in a row after which it is read only when an event asks for it. */
const maxFailures = 50;

/** A pull request that was read, for the session's follow-ups. */
export interface FollowedRead {
  readonly claimed: ClaimedRead;
  readonly forge: Forge;
  readonly pullRequests: PullRequests;
  /** Null: nothing has changed but perhaps the comments. */
  readonly status: PullRequestStatus | null;
  /** The sessions whose organization may still use the repository. */
  readonly sessions: readonly FollowingSession[];
}

/** Handles a read beyond the state of the pull request. It may run again for the same state, and rejects with ForgeError. */
export type OnRead = (read: FollowedRead) => Promise<ReadOutcome>;

/** The values that the next read needs. */
export interface ReadOutcome {
  /** True: the state may not be final, and one more read soon decides. */
  readonly isUnsettled: boolean;
  /** The comments that changed before this time at the forge have been read; null: as before. */
  readonly commentsSince: Date | null;
}

/**
 * Reads a claimed pull request from its forge once, and applies its state to its sessions. A process that dies meanwhile
 * repeats nothing that shows: states that are equal are not written again.
 */
export async function readFollowed(
  services: Services,
  claimed: ClaimedRead,
  onRead: OnRead,
  isStopped: () => boolean = () => false,
): Promise<void> {
  let status: PullRequestStatus | null;
  let outcome: ReadOutcome;
  try {
    const forge = await openConnection(services, claimed.gitConnectionId);
    const { pullRequests } = forge;
    if (!pullRequests) return await endReads(services, claimed);
    status = await pullRequests.read(claimed.path, claimed.number, claimed.validator ?? undefined);
    const sessions = await findSessions(services, claimed);
    if (status !== null) await applyStatus(services, sessions, status);
    outcome = await onRead({ claimed, forge, pullRequests, status, sessions });
  } catch (error) {
    if (!isForgeError(error)) throw error;
    // The request was aborted.
    if (isStopped()) return await release(services, claimed);
    return await (isOfConnection(error) ? pause(services, claimed, error) : recordFailure(services, claimed, error));
  }
  await complete(services, claimed, status, outcome);
}

/** A session that follows a pull request. Ids are unprefixed. */
export interface FollowingSession {
  readonly id: string;
  readonly organizationId: string;
  readonly enterpriseId: string;
  readonly repositoryId: string;
  readonly url: string;
  /** The read before this one found a conflict. */
  readonly wasConflicting: boolean;
}

/** Finds the sessions of a pull request whose organization may still use the repository. */
async function findSessions(services: Services, { id }: ClaimedRead): Promise<FollowingSession[]> {
  const sessions = await services.store.query<FollowingSession>(
    `select s.id, s.organization_id as "organizationId", o.enterprise_id as "enterpriseId",
            l.repository_id as "repositoryId", l.url, coalesce(p.mergeability = 'conflicting', false) as "wasConflicting"
       from following_session l join session s on s.id = l.session_id
       left join pull_request p on p.session_id = l.session_id and p.url = l.url
       join organization o on o.id = s.organization_id and o.deleted_at is null
      where l.followed_pull_request_id = $1
      order by s.id limit 1000`,
    [id],
  );
  const usable: FollowingSession[] = [];
  for (const session of sessions) {
    const found = await usableRepository(services, session.organizationId, session.repositoryId);
    if (found !== null) usable.push(session);
  }
  return usable;
}

async function applyStatus(
  services: Services,
  sessions: readonly FollowingSession[],
  answer: PullRequestStatus,
): Promise<void> {
  for (const { id, enterpriseId, repositoryId, url } of sessions) {
    const context = asSystem(services, enterpriseId);
    await services.store.transact(async (tx) => {
      const session = await lockRunAndSession(tx, id);
      await applyAnswer(context, tx, session, { url, repositoryId, answer, generation: null });
      await archiveMerged(context, tx, session, { url, repositoryId, state: answer.state });
    });
  }
}

async function complete(
  services: Services,
  claimed: ClaimedRead,
  status: PullRequestStatus | null,
  { commentsSince, isUnsettled: isDoubted }: ReadOutcome,
): Promise<void> {
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
  const isUncomputed = status?.mergeable === 'unknown' && !isOver && (claimed.isWanted || claimed.validator !== null);
  const isUnsettled = isUncomputed || isDoubted;
  const nextAt = nextPollAt({
    now,
    isOpen: !isOver,
    webhookAt: isMissed || isUnsettled ? null : claimed.webhookAt,
    hasActiveSession: facts?.isActive ?? false,
    sessionsChangedAt: facts?.changedAt ?? null,
  });
  const isFailing = status === null ? claimed.isFailing : status.checks.some(({ state }) => state === 'failed');
  // Without a validator the next read is applied: to a session that has followed the pull request since this read began, too.
  await services.store.execute(
    `update followed_pull_request set claimed_until_at = null, read_at = $3::timestamptz, failure_count = 0, error = null,
            due_at = case when wanted_at is null then $4::timestamptz when $12::bool then least(wanted_at, $13::timestamptz) else wanted_at end,
            wanted_at = case when $12::bool then least(wanted_at, case when wanted_at is not null then $13::timestamptz end) else wanted_at end,
            is_failing = $12::bool, comments_since = coalesce($14::timestamptz, comments_since),
            webhook_at = case when $5::bool and wanted_at is null then null else webhook_at end,
            is_over = $6::bool, head_branch = coalesce($8, head_branch), head_commit = coalesce($9, head_commit),
            base_branch = coalesce($10, base_branch),
            validator = case when wanted_at is null and not $11::bool then coalesce($7, validator) end
      where id = $1 and claimed_until_at = $2::timestamptz returning id`,
    [
      ...[claimed.id, claimed.claimedUntilAt, now, nextAt, isMissed, isOver, status?.validator ?? null],
      ...[status?.headBranch ?? null, status?.headCommit ?? null, status?.baseBranch ?? null, isUnsettled],
      ...[isFailing, new Date(now.getTime() + promptMs), commentsSince],
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
