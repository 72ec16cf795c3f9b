import { expect, it } from 'vitest';
import { canRetry, hasNewMessage, isBeforeTurn } from '../../../web/src/session/can-retry.ts';
import type { Entry } from '../../../web/src/session/entry.ts';

const turn = (seq: number, phase: string, stopReason: string | null = null) =>
  ({ __typename: 'TurnEvent', id: `t${seq}`, seq, phase, stopReason }) as Entry;
const notice = (seq: number, isStop = false) => ({ __typename: 'NoticeEvent', id: `n${seq}`, seq, isStop }) as Entry;
const message = (seq: number) =>
  ({ __typename: 'SessionMessage', id: `m${seq}`, seq, type: 'USER_MESSAGE', answer: null }) as Entry;

it('offers to retry a turn that was stopped or in which the session failed, and no other', () => {
  const started = [turn(1, 'STARTED'), notice(2)];
  expect(canRetry([...started, turn(3, 'STOPPED', 'CANCELLED'), notice(4)], 'RUNNING', false)).toBe(true);
  expect(canRetry([...started, turn(3, 'STOPPED', 'END_TURN')], 'RUNNING', false)).toBe(false);
  expect(canRetry(started, 'ERROR', false)).toBe(true);
  expect(canRetry(started, 'RUNNING', false)).toBe(false);
  expect(canRetry([notice(1)], 'ERROR', false)).toBe(false);
  // The agent could not be started for the first message.
  expect(canRetry([notice(1)], 'ERROR', true)).toBe(true);
  expect(canRetry([notice(1)], 'NEW', true)).toBe(false);
});

it('tells a failure before a turn from one in a turn', () => {
  expect(isBeforeTurn([notice(1)], 'ERROR', true)).toBe(true);
  expect(isBeforeTurn([turn(1, 'STARTED'), turn(2, 'STOPPED', 'END_TURN')], 'ERROR', true)).toBe(true);
  expect(isBeforeTurn([turn(1, 'STARTED')], 'ERROR', true)).toBe(false);
});

it('finds a message that was sent after a stop, unless it was withdrawn', () => {
  const stopped = [turn(1, 'STARTED'), message(2), turn(3, 'STOPPED', 'CANCELLED')];
  expect(hasNewMessage(stopped)).toBe(false);
  expect(hasNewMessage([...stopped, message(4)])).toBe(true);
  const withdrawal = {
    __typename: 'MessageChangedEvent',
    id: 'c5',
    seq: 5,
    change: 'WITHDRAWN',
    message: { id: 'm4' },
  };
  expect(hasNewMessage([...stopped, message(4), withdrawal as Entry])).toBe(false);
  expect(hasNewMessage([...stopped, message(4), turn(5, 'STARTED')])).toBe(false);
});

it('offers to send the messages that wait after a stop before their turn', () => {
  const over = [turn(1, 'STARTED'), turn(2, 'STOPPED', 'END_TURN'), message(3)];
  expect(hasNewMessage(over)).toBe(true);
  const stopped = [...over, notice(4, true)];
  expect(hasNewMessage(stopped)).toBe(false);
  expect(canRetry(stopped, 'RUNNING', true)).toBe(true);
  expect(isBeforeTurn(stopped, 'RUNNING', true)).toBe(true);
  expect(canRetry([message(1), notice(2, true)], 'RUNNING', true)).toBe(true);
  // The messages were withdrawn, or another one continues the session.
  expect(canRetry(stopped, 'RUNNING', false)).toBe(false);
  expect(canRetry([...stopped, message(5)], 'RUNNING', true)).toBe(false);
  // A retry sends those of the stopped turn too.
  const twice = [turn(1, 'STARTED'), turn(2, 'STOPPED', 'CANCELLED'), message(3), notice(4, true)];
  expect(canRetry(twice, 'RUNNING', true)).toBe(true);
  expect(isBeforeTurn(twice, 'RUNNING', true)).toBe(false);
});
