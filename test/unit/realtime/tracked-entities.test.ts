import { expect, it } from 'vitest';
import { createTrackedEntities, type TrackedEntity } from '../../../src/domain/changes/tracked-entities.ts';

const horizon = new Date('2026-01-01T00:00:10Z');
const session = (id: string, startedAfterMs: number, scopeId = 'one'): TrackedEntity => ({
  ...{ kind: 'session', id, scopeId },
  createdAt: new Date(horizon.getTime() + startedAfterMs),
});

it('reports that a session left once until it matches again', () => {
  const tracked = createTrackedEntities(horizon);
  const judge = (isMatch: boolean) => tracked.track(session('a', -1), isMatch, true);
  expect([false, false, true, true, false, false, true].map(judge)).toEqual([
    'LEFT',
    null,
    'ADDED',
    'UPDATED',
    'LEFT',
    null,
    'ADDED',
  ]);
});

it('reports no exit of a session that started later, or can never have matched, until it was reported', () => {
  const tracked = createTrackedEntities(horizon);
  expect(tracked.track(session('late', 1), false, true)).toBe(null);
  expect(tracked.track(session('late', 1), true, true)).toBe('ADDED');
  expect(tracked.track(session('late', 1), false, true)).toBe('LEFT');
  expect(tracked.track(session('other', -1), false, false)).toBe(null);
  tracked.moveHorizon(new Date(horizon.getTime() + 5));
  expect(tracked.track(session('later', 5), false, true)).toBe('LEFT');
});

it('loses no LEFT of a forgotten session, and remembers a thousand', () => {
  const tracked = createTrackedEntities(horizon);
  for (let n = 0; n < 1_001; n++) expect(tracked.track(session(`s${n}`, 1_000 + n), true, true)).toBe('ADDED');
  expect(tracked.track(session('s0', 1_000), false, true)).toBe('LEFT');
  expect(tracked.removeWhere(() => true)).toHaveLength(999);
});

it('removes matching sessions of organizations out of sight', () => {
  const tracked = createTrackedEntities(horizon);
  tracked.track(session('in', -1, 'gone'), true, true);
  tracked.track(session('out', -1, 'gone'), false, true);
  tracked.track(session('stays', -1, 'here'), true, true);
  const isGone = ({ scopeId }: { readonly scopeId: string }) => scopeId === 'gone';
  expect(tracked.removeWhere(isGone)).toEqual([{ kind: 'session', id: 'in' }]);
  expect(tracked.removeWhere(isGone)).toEqual([]);
  expect(tracked.track(session('stays', -1, 'here'), true, true)).toBe('UPDATED');
});

it('reports a removal unless the object was reported as left', () => {
  const tracked = createTrackedEntities(horizon);
  tracked.track(session('in', -1), true, true);
  tracked.track(session('out', -1), false, true);
  expect(['in', 'out', 'unknown'].map((id) => tracked.remove(id))).toEqual([true, false, true]);
  expect(tracked.track(session('in', -1), true, true)).toBe('ADDED');
});
