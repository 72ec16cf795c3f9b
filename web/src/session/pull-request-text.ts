import { common } from '../texts/common.ts';
import { pullRequestText as texts } from '../texts/session-pull-requests.ts';

type Tone = 'plain' | 'info' | 'good' | 'warn' | 'bad';

/** A fact about a pull request, as text and colour. */
export interface PullRequestFact {
  readonly text: string;
  readonly tone: Tone;
}

const mergeabilities: Readonly<Record<string, PullRequestFact>> = {
  MERGEABLE: { text: texts.canBeMerged, tone: 'good' },
  CONFLICTING: { text: texts.conflicts, tone: 'bad' },
  BLOCKED: { text: texts.blocked, tone: 'warn' },
};

/** Says if an open pull request can be merged; null: the forge has not said, or it is merged or closed. */
export function mergeabilityOf(state: string, mergeability: string | null | undefined): PullRequestFact | null {
  return state === 'OPEN' ? (mergeabilities[mergeability ?? ''] ?? null) : null;
}

const checkStates: Readonly<Record<string, PullRequestFact>> = {
  FAILED: { text: texts.failed, tone: 'bad' },
  ACTION_REQUIRED: { text: texts.needsAPerson, tone: 'warn' },
  CANCELLED: { text: texts.cancelled, tone: 'warn' },
  RUNNING: { text: texts.running, tone: 'info' },
  QUEUED: { text: texts.queued, tone: 'info' },
  PASSED: { text: texts.passed, tone: 'good' },
  NEUTRAL: { text: texts.neutral, tone: 'plain' },
  SKIPPED: { text: texts.skipped, tone: 'plain' },
};

const toText = (state: string) => state.toLowerCase().replaceAll('_', ' ');

/** Names the state of a check. */
export const checkStateOf = (state: string): PullRequestFact =>
  checkStates[state] ?? { text: toText(state), tone: 'plain' };

/** Sums up checks in one line, the failed ones first, with the colour of the most urgent one; null: there are none. */
export function checksOf(checks: readonly { readonly state: string }[]): PullRequestFact | null {
  if (checks.length === 0) return null;
  const counts = new Map<string, number>(Object.keys(checkStates).map((state) => [state, 0]));
  for (const { state } of checks) counts.set(state, (counts.get(state) ?? 0) + 1);
  const present = [...counts].filter(([, count]) => count > 0);
  const [first] = present;
  return {
    text: texts.checks({ states: present.map(([state, count]) => `${count} ${checkStateOf(state).text}`).join(', ') }),
    tone: first === undefined ? 'plain' : checkStateOf(first[0]).tone,
  };
}

const reviewStates: Readonly<Record<string, PullRequestFact>> = {
  APPROVED: { text: texts.approved, tone: 'good' },
  CHANGES_REQUESTED: { text: texts.requestedChanges, tone: 'bad' },
  COMMENTED: { text: texts.commented, tone: 'plain' },
  DISMISSED: { text: texts.reviewDismissed, tone: 'plain' },
};

/** A review in words. */
export interface ReviewText extends PullRequestFact {
  readonly author: string;
  readonly url: string | null;
}

interface Review {
  readonly author: string | null | undefined;
  readonly state: string;
  readonly url: string | null | undefined;
}

/**
 * Returns the newest review of each reviewer. A comment does not replace an earlier decision, and a review that is not
 * submitted is left out.
 */
export function reviewsOf(reviews: readonly Review[]): readonly ReviewText[] {
  const latest = new Map<string, Review>();
  // Newest first.
  for (const review of reviews) {
    if (review.state === 'PENDING') continue;
    const author = review.author ?? texts.somebody;
    const known = latest.get(author);
    if (known === undefined || (known.state === 'COMMENTED' && review.state !== 'COMMENTED'))
      latest.set(author, review);
  }
  return [...latest].map(([author, { state, url }]) => ({
    ...(reviewStates[state] ?? { text: toText(state), tone: 'plain' as const }),
    author,
    url: url ?? null,
  }));
}

const events: Readonly<Record<string, string>> = texts.events;

/** Says what happened to a pull request of a session, before its name. */
export const pullRequestEventText = (state: string, isReviewed: boolean): string =>
  isReviewed && state === 'OPEN' ? texts.reviews : (events[state] ?? common.pullRequest);
