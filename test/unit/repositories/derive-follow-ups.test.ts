import fc from 'fast-check';
import { expect, it } from 'vitest';
import { commentKey, conflictKeyOf, discussionOf, failedChecksOf } from '../../../src/domain/follow-ups/derive.ts';
import type {
  Check,
  CheckState,
  PullRequestComment,
  PullRequestStatus,
  Review,
  ReviewState,
} from '../../../src/forges/interface/pull-requests.ts';
import { runs, seed } from '../../support/property-runs.ts';

/** The state of a pull request after a step of its history. The discussion only grows. */
interface Snapshot {
  readonly headCommit: string;
  readonly mergeable: PullRequestStatus['mergeable'];
  readonly checks: readonly Check[];
  readonly reviews: readonly Review[];
  readonly comments: readonly PullRequestComment[];
}

type Step =
  | { readonly type: 'push' }
  | { readonly type: 'checks'; readonly states: readonly CheckState[] }
  | { readonly type: 'review'; readonly state: ReviewState; readonly body: string; readonly comments: number }
  | { readonly type: 'comment' }
  | { readonly type: 'conflict' };

const states: readonly CheckState[] = ['queued', 'running', 'passed', 'failed', 'cancelled', 'neutral'];
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ type: fc.constant('push' as const) }),
  fc.record({
    type: fc.constant('checks' as const),
    states: fc.array(fc.constantFrom(...states), { minLength: 1, maxLength: 3 }),
  }),
  fc.record({
    type: fc.constant('review' as const),
    state: fc.constantFrom<ReviewState>('approved', 'changes_requested', 'commented', 'pending', 'dismissed'),
    body: fc.constantFrom('', ' ', 'Change it'),
    comments: fc.integer({ min: 0, max: 3 }),
  }),
  fc.record({ type: fc.constant('comment' as const) }),
  fc.record({ type: fc.constant('conflict' as const) }),
);

const author = { id: '1', login: 'ann', isBot: false };
const makeComment = (id: number, reviewId: string | null): PullRequestComment => ({
  ...{ id: String(id), threadId: reviewId === null ? null : String(id), reviewId, author, body: `Text ${id}` },
  ...{ url: null, createdAt: null, updatedAt: null, location: null },
});

/** Returns the states that a pull request has gone through. */
function historyOf(steps: readonly Step[]): Snapshot[] {
  let current: Snapshot = { headCommit: 'c0', mergeable: 'mergeable', checks: [], reviews: [], comments: [] };
  const all = [current];
  let ids = 0;
  for (const each of steps) {
    ids += 1;
    if (each.type === 'push') current = { ...current, headCommit: `c${ids}`, mergeable: 'mergeable', checks: [] };
    if (each.type === 'conflict') current = { ...current, mergeable: 'conflicting' };
    if (each.type === 'comment') current = { ...current, comments: [...current.comments, makeComment(ids, null)] };
    if (each.type === 'checks') {
      const checks = each.states.map((state, n): Check => {
        return {
          id: `${current.headCommit}-${n}`,
          name: `check ${n}`,
          state,
          url: null,
          summary: null,
          hasLog: false,
          completedAt: null,
        };
      });
      current = { ...current, checks };
    }
    if (each.type === 'review') {
      const id = String(ids);
      const review = { id, author, state: each.state, body: each.body, commit: null, submittedAt: null, url: null };
      const own = Array.from({ length: each.comments }, (_, n) => makeComment(Number(id) + n + 1, id));
      ids += each.comments;
      current = { ...current, reviews: [...current.reviews, review], comments: [...current.comments, ...own] };
    }
    all.push(current);
  }
  return all;
}

const statusOf = ({ headCommit, mergeable, checks }: Snapshot) =>
  ({ headCommit, mergeable, checks }) as unknown as PullRequestStatus;

/** A session that reads states, and gets each follow-up whose key and comments it does not have. */
function createReader() {
  const keys: string[] = [];
  const comments: string[] = [];
  const send = (key: string, commentIds: readonly string[]) => {
    if (keys.includes(key)) return;
    keys.push(key);
    comments.push(...commentIds);
  };
  return {
    keys,
    comments,
    /** `isListed`: a list of comments since a time has all that are new, and some of the others. */
    read(state: Snapshot, isListed: (comment: PullRequestComment) => boolean) {
      const failed = failedChecksOf(statusOf(state));
      if (failed !== null) send(failed.key, []);
      const conflict = conflictKeyOf(statusOf(state));
      if (conflict !== null) send(conflict, []);
      const listed = state.comments.filter((each) => !comments.includes(commentKey(each)) || isListed(each));
      const { reviews, loose } = discussionOf(state.reviews, listed);
      for (const each of reviews) send(each.key, each.comments.map(commentKey));
      for (const key of loose.map(commentKey)) if (!comments.includes(key)) comments.push(key);
    },
  };
}

const asks = ({ state, body, id }: Review, all: readonly PullRequestComment[]) => {
  const count = all.filter(({ reviewId }) => reviewId === id).length;
  if (state === 'pending' || state === 'dismissed') return false;
  if (body.trim() !== '') return true;
  return count > (state === 'commented' ? 1 : 0);
};

it('gives each failure, review, comment and conflict once, whatever the order and the number of the reads', () => {
  const input = fc.record({
    steps: fc.array(step, { maxLength: 12 }),
    order: fc.array(fc.nat(), { maxLength: 20 }),
    listed: fc.infiniteStream(fc.boolean()),
  });
  fc.assert(
    fc.property(input, ({ steps, order, listed }) => {
      const history = historyOf(steps);
      const last = history.at(-1) as Snapshot;
      const reader = createReader();
      const isListed = () => listed.next().value === true;
      const reads = [...order.map((n) => history[n % history.length] as Snapshot), last];
      for (const state of reads) reader.read(state, isListed);
      expect(new Set(reader.keys).size).toBe(reader.keys.length);
      expect([...reader.comments].sort()).toEqual(last.comments.map(commentKey).sort());
      const reviewKeys = last.reviews.filter((each) => asks(each, last.comments)).map(({ id }) => `review:${id}`);
      expect(reader.keys.filter((key) => key.startsWith('review:')).sort()).toEqual(reviewKeys.sort());
      const conflicts = reads
        .filter(({ mergeable }) => mergeable === 'conflicting')
        .map(({ headCommit }) => headCommit);
      expect(reader.keys.filter((key) => key.startsWith('conflict:'))).toHaveLength(new Set(conflicts).size);
      // A failure counts when no check is left, and a state that no read saw does not.
      const isOver = ({ checks }: Snapshot) => !checks.some(({ state }) => state === 'queued' || state === 'running');
      const failures = reads.filter((each) => isOver(each) && each.checks.some(({ state }) => state === 'failed'));
      const names = failures.map(({ headCommit, checks }) =>
        JSON.stringify([headCommit, checks.filter(({ state }) => state === 'failed').map(({ id }) => id)]),
      );
      expect(reader.keys.filter((key) => key.startsWith('checks:'))).toHaveLength(new Set(names).size);
    }),
    { ...runs(300), seed },
  );
});
