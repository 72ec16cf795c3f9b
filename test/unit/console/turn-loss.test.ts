import { expect, it } from 'vitest';
import { lossOf } from '../../../web/src/sessions/turn-loss.ts';

it.each([
  ['NEW', null, null, null],
  ['RESUMING', null, null, null],
  ['SUSPENDED', 'USER_REQUEST', null, null],
  ['EXIT', 'FINISHED', null, null],
  ['RUNNING', 'FINISHED', null, null],
  ['RUNNING', 'WAITING_FOR_USER', null, null],
  ['RUNNING', 'WORKING', null, 'work'],
  ['RUNNING', 'WAITING_FOR_QUOTA', null, 'work'],
  ['RUNNING', 'WAITING_FOR_USER', { id: 'q' }, 'question'],
  ['RUNNING', 'WAITING_FOR_APPROVAL', { id: 'q' }, 'question'],
] as const)(
  'a suspension of a session that is %s (%s, question %o) ends: %s',
  (status, statusDetail, pendingQuestion, loss) => {
    expect(lossOf({ status, statusDetail, pendingQuestion })).toBe(loss);
  },
);
