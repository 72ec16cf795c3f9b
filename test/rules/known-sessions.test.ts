import { expect, it } from 'vitest';
import { createKnownSessions } from '../../src/domain/sessions/known-sessions.ts';
import type { SessionRecord } from '../../src/domain/sessions/session.ts';

const horizon = new Date('2026-01-01T00:00:10Z');
const session = (id: string, startedAfterMs: number, organizationId = 'one') =>
  ({ id, organizationId, createdAt: new Date(horizon.getTime() + startedAfterMs) }) as SessionRecord;

it('reports that a session left once until it matches again', () => {
  const known = createKnownSessions(horizon);
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
  const known = createKnownSessions(horizon);
  expect(known.judge(session('late', 1), false, true)).toBe(null);
  expect(known.judge(session('late', 1), true, true)).toBe('ADDED');
  expect(known.judge(session('late', 1), false, true)).toBe('LEFT');
  expect(known.judge(session('other', -1), false, false)).toBe(null);
  known.moveHorizon(new Date(horizon.getTime() + 5));
  expect(known.judge(session('later', 5), false, true)).toBe('LEFT');
});

it('loses no LEFT of a session that it has forgotten, and remembers a thousand', () => {
  const known = createKnownSessions(horizon);
  for (let n = 0; n < 1_001; n++) expect(known.judge(session(`s${n}`, 1_000 + n), true, true)).toBe('ADDED');
  expect(known.judge(session('s0', 1_000), false, true)).toBe('LEFT');
  expect(known.removeWhere(() => true)).toHaveLength(999);
});

it('removes the sessions that match, of organizations out of sight', () => {
  const known = createKnownSessions(horizon);
  known.judge(session('in', -1, 'gone'), true, true);
  known.judge(session('out', -1, 'gone'), false, true);
  known.judge(session('stays', -1, 'here'), true, true);
  expect(known.removeWhere((id) => id === 'gone')).toEqual(['in']);
  expect(known.removeWhere((id) => id === 'gone')).toEqual([]);
  expect(known.judge(session('stays', -1, 'here'), true, true)).toBe('UPDATED');
});
