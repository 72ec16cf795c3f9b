type Tone = 'plain' | 'info' | 'good' | 'warn' | 'bad';

/** A fact about a pull request, as text and colour. */
export interface PullRequestFact {
  readonly text: string;
  readonly tone: Tone;
}

const mergeabilities: Readonly<Record<string, PullRequestFact>> = {
  MERGEABLE: { text: 'Can be merged', tone: 'good' },
  CONFLICTING: { text: 'Conflicts with its base', tone: 'bad' },
  BLOCKED: { text: 'The forge blocks the merge', tone: 'warn' },
};

/** Says if an open pull request can be merged; null: the forge has not said, or it is merged or closed. */
export function mergeabilityOf(state: string, mergeability: string | null | undefined): PullRequestFact | null {
  return state === 'OPEN' ? (mergeabilities[mergeability ?? ''] ?? null) : null;
}

const checkStates: Readonly<Record<string, PullRequestFact>> = {
  FAILED: { text: 'failed', tone: 'bad' },
  ACTION_REQUIRED: { text: 'needs a person', tone: 'warn' },
  CANCELLED: { text: 'cancelled', tone: 'warn' },
  RUNNING: { text: 'running', tone: 'info' },
  QUEUED: { text: 'queued', tone: 'info' },
  PASSED: { text: 'passed', tone: 'good' },
  NEUTRAL: { text: 'neutral', tone: 'plain' },
  SKIPPED: { text: 'skipped', tone: 'plain' },
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
    text: `Checks: ${present.map(([state, count]) => `${count} ${checkStateOf(state).text}`).join(', ')}`,
    tone: first === undefined ? 'plain' : checkStateOf(first[0]).tone,
  };
}

const reviewStates: Readonly<Record<string, PullRequestFact>> = {
  APPROVED: { text: 'approved', tone: 'good' },
  CHANGES_REQUESTED: { text: 'asked for changes', tone: 'bad' },
  COMMENTED: { text: 'commented', tone: 'plain' },
  DISMISSED: { text: 'review dismissed', tone: 'plain' },
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
    const author = review.author ?? 'Somebody';
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

const events: Readonly<Record<string, string>> = {
  OPEN: 'Opened pull request',
  MERGED: 'Merged pull request',
  CLOSED: 'Closed pull request',
};

/** Says what happened to a pull request of a session, before its name. */
export const pullRequestEventText = (state: string, isReviewed: boolean): string =>
  isReviewed && state === 'OPEN' ? 'Reviews pull request' : (events[state] ?? 'Pull request');
