import { expect, it } from 'vitest';
import { reasonOf } from '../../../web/src/inbox/reason.ts';

const waiting = { status: 'RUNNING', statusDetail: 'WAITING_FOR_USER', endReason: null } as const;
const open = { group: 'NEEDS_YOU', pendingQuestion: null, ...waiting } as const;

it.each([
  ['a question', { ...open, pendingQuestion: { reason: 'QUESTION' } }, 'Question'],
  ['a permission', { ...open, pendingQuestion: { reason: 'PERMISSION' } }, 'Permission'],
  ['a failure', { ...open, status: 'ERROR', statusDetail: null }, 'Failed'],
  ['a pull request', { ...open, status: 'EXIT', statusDetail: 'FINISHED', endReason: 'FINISHED' }, undefined],
  ['the next message', open, 'Reply'],
  ['nobody', { ...open, group: 'DONE', status: 'ERROR' }, undefined],
])('says why a session needs a person: %s', (_, session, label) => {
  expect(reasonOf(session)?.label).toBe(label);
});
