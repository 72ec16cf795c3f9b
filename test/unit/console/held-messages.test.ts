import { describe, expect, it } from 'vitest';
import type { Entry } from '../../../web/src/session/entry.ts';
import { withoutShown } from '../../../web/src/session/held-messages.ts';
import { transcriptRows } from '../../../web/src/session/transcript-rows.ts';

type Delivery = 'QUEUED' | 'DELIVERED';
const base = (seq: number) => ({ id: `e${seq}`, seq, createdAt: '2026-01-01T00:00:00Z' });
const message = (seq: number, delivery: Delivery | null, type = 'USER_MESSAGE') =>
  ({ __typename: 'SessionMessage', ...base(seq), type, body: `m${seq}`, delivery, answer: null }) as unknown as Entry;
const turn = (seq: number, phase: 'STARTED' | 'STOPPED') =>
  ({ __typename: 'TurnEvent', ...base(seq), phase, stopReason: null, stoppedBy: null }) as unknown as Entry;
const status = (seq: number, to: string) =>
  ({ __typename: 'StatusEvent', ...base(seq), status: to, isArchived: false }) as unknown as Entry;
const withdrawn = (seq: number, of: number) =>
  ({
    ...{ __typename: 'MessageChangedEvent', ...base(seq) },
    ...{ change: 'WITHDRAWN', editedBody: null, message: { id: `e${of}` } },
  }) as unknown as Entry;

/** The messages that the transcript shows, and those that the queue shows if all of `waiting` wait. */
const shown = (entries: readonly Entry[], ...waiting: readonly number[]) => [
  transcriptRows(entries).map(({ key }) => key),
  withoutShown(waiting.map(base), entries).map(({ id }) => id),
];

describe('the messages that wait for the agent', () => {
  it('are in the queue, apart from the first one of a turn that has not started', () => {
    const start = [message(1, 'QUEUED'), message(2, 'QUEUED')];
    expect(shown(start, 1, 2)).toEqual([['e1'], ['e2']]);
    expect(shown([...start, turn(3, 'STARTED')])).toEqual([['e1', 'e2'], []]);
    const idle = [message(1, 'DELIVERED'), turn(2, 'STARTED'), turn(3, 'STOPPED'), message(4, 'QUEUED')];
    expect(shown(idle, 4)).toEqual([['e1', 'e4'], []]);
  });

  it('move to the turn in which the agent receives them, after a stop too', () => {
    const working = [message(1, 'DELIVERED'), turn(2, 'STARTED'), message(3, 'QUEUED')];
    const answer = message(4, null, 'AGENT_MESSAGE');
    expect(shown([...working, answer], 3)).toEqual([['e1', 'e4'], ['e3']]);
    const stopped = [...working, answer, turn(5, 'STOPPED')];
    expect(shown(stopped, 3)).toEqual([['e1', 'e4'], ['e3']]);
    expect(shown([...stopped, message(6, 'QUEUED')], 3, 6)).toEqual([
      ['e1', 'e4'],
      ['e3', 'e6'],
    ]);
    expect(shown([...stopped, message(6, 'QUEUED'), turn(7, 'STARTED')])).toEqual([['e1', 'e4', 'e3', 'e6'], []]);
  });

  it('leave the queue with the turn after a failed one', () => {
    const failed = [message(1, 'DELIVERED'), turn(2, 'STARTED'), message(3, 'QUEUED'), status(4, 'ERROR')];
    expect(shown(failed, 3)).toEqual([['e1', 'e4'], ['e3']]);
    expect(shown([...failed, message(5, 'QUEUED'), turn(6, 'STARTED')])).toEqual([['e1', 'e4', 'e3', 'e5'], []]);
    const idle = [message(1, 'DELIVERED'), turn(2, 'STARTED'), status(3, 'ERROR'), message(4, 'QUEUED')];
    expect(shown(idle, 4)).toEqual([['e1', 'e3', 'e4'], []]);
  });

  it('stay in the transcript when the session fails before their turn', () => {
    const failed = [message(1, 'QUEUED'), status(2, 'ERROR')];
    expect(shown(failed, 1)).toEqual([['e1', 'e2'], []]);
    expect(shown([...failed, message(3, 'QUEUED')], 1, 3)).toEqual([['e1', 'e2', 'e3'], []]);
    const later = [message(1, 'DELIVERED'), turn(2, 'STARTED'), turn(3, 'STOPPED'), message(4, 'QUEUED')];
    expect(shown([...later, message(5, 'QUEUED'), status(6, 'ERROR')], 4, 5)).toEqual([['e1', 'e4', 'e6'], ['e5']]);
  });

  it('stay in the queue when the turn is interrupted and continues, and leave it when they are withdrawn', () => {
    const working = [message(1, 'DELIVERED'), turn(2, 'STARTED'), message(3, 'QUEUED'), turn(4, 'STARTED')];
    expect(shown(working, 3)).toEqual([['e1'], ['e3']]);
    expect(shown([...working, withdrawn(5, 3)])).toEqual([['e1', 'e3'], []]);
  });

  it('are in the queue if the beginning of the log is not loaded', () => {
    expect(shown([message(101, 'QUEUED')], 101)).toEqual([[], ['e101']]);
    expect(shown([message(101, 'DELIVERED')])).toEqual([['e101'], []]);
  });
});
