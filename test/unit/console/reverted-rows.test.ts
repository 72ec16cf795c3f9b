import { expect, it } from 'vitest';
import type { Entry } from '../../../web/src/session/entry.ts';
import { transcriptRows } from '../../../web/src/session/transcript-rows.ts';

const base = (seq: number) => ({ id: `e${seq}`, seq, createdAt: '2026-01-01T00:00:00Z' });
const message = (seq: number, type: 'USER_MESSAGE' | 'AGENT_MESSAGE', delivery: string | null = null) =>
  ({ __typename: 'SessionMessage', ...base(seq), type, body: `m${seq}`, delivery, answer: null }) as unknown as Entry;
const turn = (seq: number, phase: 'STARTED' | 'STOPPED') =>
  ({ __typename: 'TurnEvent', ...base(seq), phase, stopReason: null, stoppedBy: null }) as unknown as Entry;
const question = (seq: number) =>
  ({
    ...{ __typename: 'QuestionEvent', ...base(seq) },
    ...{ questionId: `q${seq}`, body: 'Which?', reason: 'QUESTION', options: [] },
  }) as unknown as Entry;
const rewind = (seq: number, toSeq: number) =>
  ({ __typename: 'RewindEvent', ...base(seq), body: 'Reverted.', toSeq }) as unknown as Entry;

const reverted = (entries: readonly Entry[]) =>
  transcriptRows(entries).flatMap(({ key, isReverted }) => (isReverted ? [key] : []));

const twoTurns = [
  ...[message(1, 'USER_MESSAGE', 'DELIVERED'), turn(2, 'STARTED'), message(3, 'AGENT_MESSAGE'), turn(4, 'STOPPED')],
  ...[message(5, 'USER_MESSAGE', 'DELIVERED'), turn(6, 'STARTED'), message(7, 'AGENT_MESSAGE'), turn(8, 'STOPPED')],
];

it('marks the rows after the point of a rewind, and none after the rewind', () => {
  expect(reverted(twoTurns)).toEqual([]);
  const rewound = [...twoTurns, rewind(9, 4), message(10, 'USER_MESSAGE', 'DELIVERED'), turn(11, 'STARTED')];
  expect(reverted(rewound)).toEqual(['e5', 'e7']);
  expect(transcriptRows(rewound)).toContainEqual(
    expect.objectContaining({ key: 'e9', type: 'line', text: 'Reverted.' }),
  );
  expect(reverted([...rewound, rewind(12, 9)])).toEqual(['e5', 'e7', 'e10']);
  expect(reverted([...rewound, rewind(12, 0)])).toEqual(['e1', 'e3', 'e5', 'e7', 'e9', 'e10']);
});

it('unmarks the rows that count again after a rewind to a reverted point', () => {
  const rewound = [...twoTurns, rewind(9, 4), message(10, 'USER_MESSAGE', 'DELIVERED'), turn(11, 'STARTED')];
  const forward = [...rewound, turn(12, 'STOPPED'), rewind(13, 8)];
  expect(reverted(forward)).toEqual(['e9', 'e10']);
  const further = [...forward, message(14, 'USER_MESSAGE', 'DELIVERED'), turn(15, 'STARTED')];
  expect(reverted(further)).toEqual(['e9', 'e10']);
  expect(reverted([...further, rewind(16, 12)])).toEqual(['e5', 'e7', 'e13', 'e14']);
  expect(reverted([...further, rewind(16, 12), rewind(17, 15)])).toEqual(['e9', 'e10', 'e16']);
});

it('leaves out messages that the agent has not received', () => {
  const waiting = [...twoTurns.slice(0, 6), message(7, 'USER_MESSAGE', 'QUEUED'), message(8, 'AGENT_MESSAGE')];
  const rewound = [...waiting, turn(9, 'STOPPED'), rewind(10, 4), message(11, 'USER_MESSAGE', 'QUEUED')];
  const started = [...rewound, turn(12, 'STARTED')];
  expect(reverted(started)).toEqual(['e5', 'e8']);
  expect(transcriptRows(started).map(({ key }) => key)).toEqual(['e1', 'e3', 'e5', 'e8', 'e10', 'e7', 'e11']);
});

it('closes a question that was open', () => {
  const rows = transcriptRows([...twoTurns, question(9), rewind(10, 4)]);
  expect(rows).toContainEqual(expect.objectContaining({ type: 'question', state: 'passed', isReverted: true }));
});
