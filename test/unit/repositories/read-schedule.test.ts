import { expect, it } from 'vitest';
import { targetsOf } from '../../../src/domain/followed-pull-requests/event-targets.ts';
import { nextPollAt, type ReadFacts, retryAt } from '../../../src/domain/followed-pull-requests/read-schedule.ts';

const now = new Date('2026-11-24T00:00:00Z');
const ago = (days: number) => new Date(now.getTime() - days * 86_400_000);
const facts = { now, isOpen: true, webhookAt: null, hasActiveSession: true, sessionsChangedAt: now };
const secondsUntil = (change: Partial<ReadFacts>) => {
  const at = nextPollAt({ ...facts, ...change });
  return at === null ? null : (at.getTime() - now.getTime()) / 1_000;
};

it('polls open pull requests of active sessions within a minute, and less where that is enough', () => {
  expect(secondsUntil({})).toBe(55);
  expect(secondsUntil({ webhookAt: ago(1) })).toBe(600);
  expect(secondsUntil({ webhookAt: ago(8) })).toBe(55);
  expect(secondsUntil({ sessionsChangedAt: ago(8) })).toBe(900);
  expect(secondsUntil({ hasActiveSession: false })).toBe(900);
  expect(secondsUntil({ hasActiveSession: false, webhookAt: ago(1) })).toBe(900);
});

it('stops for a pull request that is over, and a week after its sessions', () => {
  expect(secondsUntil({ isOpen: false })).toBeNull();
  expect(secondsUntil({ isOpen: false, webhookAt: now })).toBeNull();
  expect(secondsUntil({ hasActiveSession: false, sessionsChangedAt: ago(8) })).toBeNull();
  expect(secondsUntil({ sessionsChangedAt: null })).toBeNull();
});

it('doubles the pause after each failure up to an hour, and waits as long as the forge says', () => {
  const pauses = [1, 2, 3, 6, 7, 100].map((count) => (retryAt(now, count, null).getTime() - now.getTime()) / 60_000);
  expect(pauses).toEqual([1, 2, 4, 32, 60, 60]);
  expect(retryAt(now, 1, ago(-1))).toEqual(ago(-1));
  expect(retryAt(now, 2, ago(1)).getTime() - now.getTime()).toBe(120_000);
});

it('selects the pull requests of an event by number, commit and branch', () => {
  const before = 'a'.repeat(40);
  const push = (ref: string) => targetsOf({ type: 'push', ref, before, after: null });
  expect(push('refs/heads/feature/x')).toMatchObject({
    headBranches: ['feature/x'],
    baseBranches: ['feature/x'],
    pace: 'frequent',
  });
  expect(push('refs/tags/v1')).toMatchObject({ headBranches: [], baseBranches: [], pace: 'now' });
  const check = {
    id: '1',
    name: 'x',
    state: 'failed',
    summary: null,
    url: null,
    hasLog: false,
    completedAt: null,
  } as const;
  expect(targetsOf({ type: 'check', commit: before, branch: null, check, pullRequests: [3] })).toEqual({
    ...{ numbers: [3], commits: [before], headBranches: [], baseBranches: [], pace: 'prompt' },
  });
});
