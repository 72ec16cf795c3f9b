import { isForgeError } from '../../forges/interface/errors.ts';
import type { CommentPage, PullRequestComment, PullRequestStatus } from '../../forges/interface/pull-requests.ts';
import type { Services } from '../context.ts';
import type { FollowedRead, ReadOutcome } from '../followed-pull-requests/read-pull-request.ts';
import { asSystem } from '../sessions/as-system.ts';
import { type CountsAs, createAuthorCheck } from './authors.ts';
import {
  conflictKeyOf,
  discussionOf,
  type FailedChecks,
  failedChecksOf,
  haveChecksPassed,
  type ReviewWithComments,
} from './derive.ts';
import type { FoundFollowUp } from './follow-up.ts';
import {
  type FollowUpSession,
  readFollowUpSessions,
  readKnownKeys,
  writeChecksPassed,
  writeSince,
} from './follow-up-sessions.ts';
import { sessionMask } from './session-mask.ts';
import { checksMessage, checksSummary, conflictMessage, type FailedCheck, type Subject } from './texts.ts';
import { writeFollowUps } from './write-follow-ups.ts';

/** Comments that changed this long before the newest one are read again: lists of a forge may lag behind. */
const overlapMs = 10 * 60_000;
/** The times of a forge have seconds only. */
const clockMs = 60_000;
/** Maximum number of failed checks whose logs are read. */
const maxLogs = 3;

/**
 * Finds the follow-ups of a pull request that was read, and writes the new ones to its sessions. They are derived from the
 * state of the pull request, and each has a key that is unique in its session: reads that are repeated, and events that
 * arrive twice or in another order, add nothing. Rejects with ForgeError if the comments could not be read.
 */
export async function followRead(services: Services, read: FollowedRead): Promise<ReadOutcome> {
  const { store, now } = services;
  const sessions = await readFollowUpSessions(store, read.sessions);
  await passOver(
    services,
    sessions.filter(({ isOff }) => isOff),
    read.status,
  );
  const on = sessions.filter(({ isOff }) => !isOff);
  if (on.length === 0 || isOver(read)) return { commentsSince: null, isUnsettled: false };
  const { claimed } = read;
  const since = claimed.commentsSince ?? earliest(on.map((session) => session.since));
  const page = await readComments(services, read, since);
  const status = await fullStatus(read, on, page.comments);
  const begun = status === null ? on : await begin(services, on, status, page.comments);
  const counts = createAuthorCheck(read.forge, claimed.path);
  if (status !== null && haveChecksPassed(status)) await writeChecksPassed(store, begun, now());
  const isWaiting = await writeAll(services, read, { status, comments: page.comments, sessions: begun, counts });
  const isUnsettled = isWaiting || (status !== null && isDoubtfulConflict(status, read));
  return { commentsSince: isWaiting ? null : nextSince(page.comments, page.isTruncated), isUnsettled };
}

/** While follow-ups are off, all that happens is old once they are on. */
async function passOver(
  { store }: Services,
  sessions: readonly FollowUpSession[],
  status: PullRequestStatus | null,
): Promise<void> {
  const at = status?.updatedAt ?? null;
  if (at === null) return;
  const since = new Date(at.getTime() + 1);
  await writeSince(
    store,
    sessions.filter((session) => session.since === null || session.since < since).map((each) => ({ ...each, since })),
  );
}

/** Reads the comments since a time. A connection that may not read them has none, and its checks still count. */
async function readComments(
  { log }: Services,
  { claimed, pullRequests }: FollowedRead,
  since: Date | null,
): Promise<CommentPage> {
  try {
    return await pullRequests.comments(claimed.path, claimed.number, since ?? undefined);
  } catch (error) {
    if (!isForgeError(error, 'MISSING_PERMISSION', 'NOT_FOUND', 'UNSUPPORTED', 'REJECTED')) throw error;
    log.debug({ err: error, followedPullRequestId: claimed.id }, 'The comments of a pull request could not be read.');
    return { comments: [], isTruncated: false };
  }
}

const isOver = ({ claimed, status }: FollowedRead) =>
  status === null ? claimed.isOver : status.state === 'merged' || status.state === 'closed';

/** Returns the first of these times; null if one is unknown. */
function earliest(times: readonly (Date | null)[]): Date | null {
  const known = times.filter((time) => time !== null).map((time) => time.getTime());
  return known.length < times.length || known.length === 0 ? null : new Date(Math.min(...known));
}

function nextSince(comments: readonly PullRequestComment[], isTruncated: boolean): Date | null {
  const newest = Math.max(0, ...comments.map(({ updatedAt }) => updatedAt?.getTime() ?? 0));
  if (newest === 0) return null;
  return new Date(newest - (isTruncated ? 0 : overlapMs));
}

/** Reads the state again that has not changed, if the comments cannot be understood without it. */
async function fullStatus(
  { status, claimed, pullRequests }: FollowedRead,
  sessions: readonly FollowUpSession[],
  comments: readonly PullRequestComment[],
): Promise<PullRequestStatus | null> {
  if (status !== null) return status;
  const isNeeded = sessions.some(({ since }) => since === null) || comments.some(({ reviewId }) => reviewId !== null);
  return isNeeded ? await pullRequests.read(claimed.path, claimed.number) : null;
}

/** A session whose time is decided. `isJoined`: this read decided it, the pull request is older, and no person set anything. */
interface BegunSession extends FollowUpSession {
  readonly isJoined?: boolean;
}

/**
 * Decides from when on reviews and comments count for the sessions of a first read: from the beginning of a pull request
 * that was opened since the session began; otherwise, and after a person turned them on, from now on, by the forge's own times.
 */
async function begin(
  { store }: Services,
  sessions: readonly FollowUpSession[],
  { createdAt, updatedAt }: PullRequestStatus,
  comments: readonly PullRequestComment[],
): Promise<BegunSession[]> {
  const newest = Math.max(updatedAt?.getTime() ?? 0, ...comments.map((comment) => comment.createdAt?.getTime() ?? 0));
  const begun = sessions.map((session): BegunSession => {
    if (session.since !== null) return session;
    const isOwn =
      createdAt !== null &&
      !session.isSet &&
      (session.isOpenedByService || createdAt.getTime() >= session.createdAt.getTime() - clockMs);
    return isOwn
      ? { ...session, since: createdAt }
      : { ...session, since: new Date(newest + 1), isJoined: !session.isSet };
  });
  await writeSince(
    store,
    begun.filter((_, n) => sessions[n]?.since === null),
  );
  return begun;
}

interface Found {
  readonly status: PullRequestStatus | null;
  readonly comments: readonly PullRequestComment[];
  readonly sessions: readonly BegunSession[];
  readonly counts: CountsAs;
}

/** Writes what is new in each session. Returns true if a text waits until it is known if it is a mention. */
async function writeAll(services: Services, read: FollowedRead, found: Found): Promise<boolean> {
  let isWaiting = false;
  const { status, comments, sessions, counts } = found;
  const failed = status === null ? null : failedChecksOf(status);
  const conflict = status === null || isDoubtfulConflict(status, read) ? null : conflictKeyOf(status);
  const { reviews, loose } = discussionOf(status?.reviews ?? [], comments);
  const keys = [failed?.key, conflict, ...reviews.map(({ key }) => key)].filter((key) => key != null);
  const known = await readKnownKeys(services.store, sessions, keys);
  const isNewIn =
    ({ id }: FollowUpSession) =>
    (key: string) =>
      !known.has(`${id} ${key}`);
  const hasNewChecks = failed !== null && sessions.some((session) => isNewIn(session)(failed.key));
  const logs = hasNewChecks ? await readLogs(read, failed) : [];
  for (const session of sessions) {
    const isNew = isNewIn(session);
    const subject = subjectOf(read, session, status);
    const own: FoundFollowUp[] = [];
    if (failed && isNew(failed.key)) own.push(ofChecks(subject, failed, logs));
    if (conflict && isNew(conflict)) own.push(ofConflict(subject, conflict));
    const newReviews: ReviewWithComments[] = [];
    const isRecent = (at: Date | null) => session.since === null || at === null || at >= session.since;
    for (const each of reviews.filter(({ key, review }) => isNew(key) && isRecent(review.submittedAt))) {
      if (await counts(each.review, session.settings)) newReviews.push(each);
    }
    const recent: PullRequestComment[] = [];
    for (const comment of loose.filter(({ createdAt }) => isRecent(createdAt))) {
      if (await counts(comment, session.settings)) recent.push(comment);
    }
    if (own.length === 0 && newReviews.length === 0 && recent.length === 0) continue;
    const context = asSystem(services, session.enterpriseId);
    const mask = await sessionMask(context, session.id);
    const isOld = session.isJoined === true;
    const texts = { reviews: newReviews, loose: recent, pullRequest: read.claimed };
    const isDone = await writeFollowUps(context, { sessionId: session.id, subject, found: own, ...texts, isOld, mask });
    if (!isDone) isWaiting = true;
  }
  return isWaiting;
}

function subjectOf({ forge }: FollowedRead, { url }: FollowUpSession, status: PullRequestStatus | null): Subject {
  return { url, host: forge.host, baseBranch: status?.baseBranch ?? '', commit: status?.headCommit ?? null };
}

/** Gitea also says "conflicting" while it still checks: the state must be the same in a second read. */
const isDoubtfulConflict = ({ mergeable }: PullRequestStatus, { forge, sessions }: FollowedRead): boolean =>
  mergeable === 'conflicting' && forge.kind === 'gitea_token' && !sessions.some((session) => session.wasConflicting);

async function readLogs({ pullRequests, claimed }: FollowedRead, { checks }: FailedChecks): Promise<FailedCheck[]> {
  const withLogs = checks.filter(({ hasLog }) => hasLog).slice(0, maxLogs);
  const logs = await Promise.all(
    withLogs.map((check) => pullRequests.checkLogTail(claimed.path, check.id).catch(() => null)),
  );
  return checks.map((check) => ({ check, log: logs[withLogs.indexOf(check)] ?? null }));
}

function ofChecks(subject: Subject, { key, checks }: FailedChecks, logs: readonly FailedCheck[]): FoundFollowUp {
  return { key, kind: 'checks', summary: checksSummary(checks), body: checksMessage(subject, logs), commentIds: [] };
}

function ofConflict(subject: Subject, key: string): FoundFollowUp {
  const summary = 'The pull request conflicts with its base branch';
  return { key, kind: 'conflict', summary, body: conflictMessage(subject), commentIds: [] };
}
