import { expect, it } from 'vitest';
import {
  checksOf,
  mergeabilityOf,
  pullRequestEventText,
  reviewsOf,
} from '../../../web/src/session/pull-request-text.ts';

it('sums up checks, with the most urgent state first', () => {
  const checks = (...states: string[]) => checksOf(states.map((state) => ({ state })));
  expect(checks()).toBeNull();
  expect(checks('PASSED', 'PASSED')).toEqual({ text: 'Checks: 2 passed', tone: 'good' });
  expect(checks('PASSED', 'RUNNING', 'FAILED')).toEqual({ text: 'Checks: 1 failed, 1 running, 1 passed', tone: 'bad' });
  // A newer service.
  expect(checks('STALE')?.text).toBe('Checks: 1 stale');
});

it('says if an open pull request can be merged', () => {
  expect(mergeabilityOf('OPEN', 'CONFLICTING')?.tone).toBe('bad');
  expect(mergeabilityOf('OPEN', 'UNKNOWN')).toBeNull();
  expect(mergeabilityOf('OPEN', null)).toBeNull();
  expect(mergeabilityOf('MERGED', 'MERGEABLE')).toBeNull();
});

it('keeps the last decision of each reviewer', () => {
  const review = (author: string | null, state: string) => ({ author, state, url: null });
  const texts = reviewsOf([
    review('ann', 'COMMENTED'),
    review('ann', 'CHANGES_REQUESTED'),
    review('ann', 'APPROVED'),
    review('bob', 'PENDING'),
    review('bob', 'APPROVED'),
    review(null, 'COMMENTED'),
  ]).map(({ author, text }) => `${author} ${text}`);
  expect(texts).toEqual(['ann requested changes', 'bob approved', 'Someone commented']);
});

it('does not say that a session opened the pull request that it reviews', () => {
  expect(pullRequestEventText('OPEN', false)).toBe('Opened pull request');
  expect(pullRequestEventText('OPEN', true)).toBe('Reviewing pull request');
  expect(pullRequestEventText('MERGED', true)).toBe('Merged pull request');
});
