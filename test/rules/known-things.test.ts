import { expect, it } from 'vitest';
import { createKnownThings, type KnownThing } from '../../src/domain/changes/known-things.ts';

const horizon = new Date('2026-01-01T00:00:10Z');
const session = (id: string, startedAfterMs: number, placeId = 'one'): KnownThing => ({
  ...{ kind: 'session', id, placeId },
  createdAt: new Date(horizon.getTime() + startedAfterMs),
});

it('reports that a session left once until it matches again', () => {
  const known = createKnownThings(horizon);
  const judge = (isMatch: boolean) => known.judge(session('a', -1), isMatch, true);
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

it('reports nothing of a session that was started later, or can never have matched, until it was reported', () => {
  const known = createKnownThings(horizon);
  expect(known.judge(session('late', 1), false, true)).toBe(null);
  expect(known.judge(session('late', 1), true, true)).toBe('ADDED');
  expect(known.judge(session('late', 1), false, true)).toBe('LEFT');
  expect(known.judge(session('other', -1), false, false)).toBe(null);
  known.moveHorizon(new Date(horizon.getTime() + 5));
  expect(known.judge(session('later', 5), false, true)).toBe('LEFT');
});

it('loses no LEFT of a session that it has forgotten, and remembers a thousand', () => {
  const known = createKnownThings(horizon);
  for (let n = 0; n < 1_001; n++) expect(known.judge(session(`s${n}`, 1_000 + n), true, true)).toBe('ADDED');
  expect(known.judge(session('s0', 1_000), false, true)).toBe('LEFT');
  expect(known.removeWhere(() => true)).toHaveLength(999);
});

it('removes the sessions that match, of organizations out of sight', () => {
  const known = createKnownThings(horizon);
  known.judge(session('in', -1, 'gone'), true, true);
  known.judge(session('out', -1, 'gone'), false, true);
  known.judge(session('stays', -1, 'here'), true, true);
  const isGone = ({ placeId }: { readonly placeId: string }) => placeId === 'gone';
  expect(known.removeWhere(isGone)).toEqual([{ kind: 'session', id: 'in' }]);
  expect(known.removeWhere(isGone)).toEqual([]);
  expect(known.judge(session('stays', -1, 'here'), true, true)).toBe('UPDATED');
});

it('reports that a thing was removed unless it was reported as left', () => {
  const known = createKnownThings(horizon);
  known.judge(session('in', -1), true, true);
  known.judge(session('out', -1), false, true);
  expect(['in', 'out', 'unknown'].map((id) => known.remove(id))).toEqual([true, false, true]);
  expect(known.judge(session('in', -1), true, true)).toBe('ADDED');
});
