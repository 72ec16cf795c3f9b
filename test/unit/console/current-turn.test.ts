import { expect, it } from 'vitest';
import { startOfTurn, startOfWork } from '../../../web/src/session/current-turn.ts';
import type { Entry } from '../../../web/src/session/entry.ts';

const entry = (id: string, fields: object) => ({ id, ...fields }) as unknown as Entry;
const turn = (id: string, phase: string) => entry(id, { __typename: 'TurnEvent', phase });
const message = (id: string, answer: object | null) =>
  entry(id, { __typename: 'SessionMessage', type: 'USER_MESSAGE', answer });
const question = (id: string) => entry(id, { __typename: 'QuestionEvent', questionId: 'q' });

it('has no start before a turn and after it', () => {
  for (const entries of [[], [message('m', null)], [turn('s', 'STARTED'), turn('e', 'COMPLETED')]]) {
    expect([startOfTurn(entries), startOfWork(entries)]).toEqual([null, null]);
  }
});

it('is the start of the turn, also if a message other than an answer follows', () => {
  const entries = [message('before', { questionId: 'p' }), turn('s', 'STARTED'), message('m', null), question('q')];
  expect(startOfWork(entries)?.id).toBe('s');
});

it('is the last answer in the turn, since the agent waited for it', () => {
  const [first, second] = [message('first', { questionId: 'q' }), message('second', { questionId: 'q' })];
  const entries = [turn('s', 'STARTED'), question('q'), first, question('r'), second, message('m', null)];
  expect(startOfTurn(entries)?.id).toBe('s');
  expect(startOfWork(entries)?.id).toBe('second');
});
