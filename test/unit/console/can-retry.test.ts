import { expect, it } from 'vitest';
import { canRetry } from '../../../web/src/session/can-retry.ts';
import type { Entry } from '../../../web/src/session/entry.ts';

const turn = (seq: number, phase: string, stopReason: string | null = null) =>
  ({ __typename: 'TurnEvent', id: `t${seq}`, seq, phase, stopReason }) as Entry;
const notice = (seq: number) => ({ __typename: 'NoticeEvent', id: `n${seq}`, seq }) as Entry;

it('offers to retry a turn that was stopped or in which the session failed, and no other', () => {
  const started = [turn(1, 'STARTED'), notice(2)];
  expect(canRetry([...started, turn(3, 'STOPPED', 'CANCELLED'), notice(4)], 'RUNNING')).toBe(true);
  expect(canRetry([...started, turn(3, 'STOPPED', 'END_TURN')], 'RUNNING')).toBe(false);
  expect(canRetry(started, 'ERROR')).toBe(true);
  expect(canRetry(started, 'RUNNING')).toBe(false);
  expect(canRetry([notice(1)], 'ERROR')).toBe(false);
});
