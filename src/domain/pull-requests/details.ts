import { plainLine } from '../../common/plain-text.ts';
import type {
  Check,
  CheckState,
  PullRequest as ForgePullRequest,
  Mergeability,
  PullRequestStatus,
  Review,
  ReviewState,
} from '../../forges/interface/pull-requests.ts';
import { fieldsOf, type Narrowed } from '../../store/tables.ts';
import type { PullRequest } from '../sessions/session.ts';

/** A check of the head commit of a pull request, as it is stored. */
export interface StoredCheck {
  readonly id: string;
  readonly name: string;
  readonly state: CheckState;
  readonly url: string | null;
}

/** A review of a pull request, as it is stored. */
export interface StoredReview {
  /** The login; null: unknown. */
  readonly author: string | null;
  readonly state: ReviewState;
  readonly url: string | null;
  /** ISO 8601. */
  readonly submittedAt: string | null;
}

/** The fields of the details of a pull request. */
export const detailFields = fieldsOf('PullRequest');

interface Values {
  readonly mergeability: Mergeability;
  readonly checks: readonly StoredCheck[];
  readonly reviews: readonly StoredReview[];
}

/** The details of a session's pull request, as its forge last described them. */
export type PullRequestDetails = Narrowed<'PullRequest', (typeof detailFields)[number], Values> & {
  /** The stored settings of the repository; null: it has no row. */
  readonly settings: unknown;
  /** The session was started to review it. */
  readonly isReviewed: boolean;
};

/** The condition that a session was started to review its pull request, for a `pull_request` of this alias. */
export const isReviewedIn = (alias: string): string =>
  `exists (select 1 from session_review v where v.session_id = ${alias}.session_id and v.url = ${alias}.url)`;

/** Maximum number of checks, and of reviews, that are stored. */
const maxEach = 50;

/** The states of checks in the order in which they are stored. */
const checkOrder: readonly CheckState[] = [
  'failed',
  'action_required',
  'cancelled',
  'running',
  'queued',
  'passed',
  'neutral',
  'skipped',
];

/** The states of a session's pull request, by the forge's: a draft is open. */
export const sessionStates: Readonly<Record<ForgePullRequest['state'], PullRequest['state']>> = {
  draft: 'open',
  open: 'open',
  merged: 'merged',
  closed: 'closed',
};

/** The stored details of what a forge answered. Null members stay as they are: the answer to a creation has no checks. */
export function detailsOf(answer: ForgePullRequest | PullRequestStatus) {
  const status = 'mergeable' in answer ? answer : null;
  return {
    number: answer.number,
    title: plainLine(answer.title, 1_000),
    isDraft: answer.state === 'draft',
    headBranch: plainLine(answer.headBranch, 500),
    headCommit: answer.headCommit,
    baseBranch: plainLine(answer.baseBranch, 500),
    mergeability: status?.mergeable ?? null,
    checks: status ? storedChecks(status.checks) : null,
    reviews: status ? storedReviews(status.reviews) : null,
    isTruncated: status
      ? status.isTruncated || status.checks.length > maxEach || status.reviews.length > maxEach
      : null,
    openedAt: answer.createdAt,
    mergedAt: answer.mergedAt,
    closedAt: answer.closedAt,
  };
}

function storedChecks(checks: readonly Check[]): StoredCheck[] {
  return [...checks]
    .sort((one, other) => checkOrder.indexOf(one.state) - checkOrder.indexOf(other.state))
    .slice(0, maxEach)
    .map(({ id, name, state, url }) => ({ id, name: plainLine(name, 200), state, url }));
}

function storedReviews(reviews: readonly Review[]): StoredReview[] {
  return [...reviews]
    .sort((one, other) => (other.submittedAt?.getTime() ?? 0) - (one.submittedAt?.getTime() ?? 0))
    .slice(0, maxEach)
    .map(({ author, state, url, submittedAt }) => ({
      ...{ author: author === null ? null : plainLine(author.login, 100), state, url },
      submittedAt: submittedAt?.toISOString() ?? null,
    }));
}
