import { expect, it } from 'vitest';
import type { Entry } from '../../../web/src/session/entry.ts';
import { transcriptRows } from '../../../web/src/session/transcript-rows.ts';

const base = (seq: number) => ({ id: `e${seq}`, seq, createdAt: '2026-01-01T00:00:00Z' });
const call = (seq: number, title: string, toolStatus: string) =>
  ({ __typename: 'ToolCallEvent', ...base(seq), toolCallId: 'c1', title, toolStatus }) as unknown as Entry;
const permission = (seq: number, title: string, decision: string, questionId: string | null) =>
  ({
    ...{ __typename: 'PermissionEvent', ...base(seq), toolCallId: 'c1', title, decision },
    question: questionId === null ? null : { questionId },
  }) as unknown as Entry;

const shown = (entries: readonly Entry[]) =>
  transcriptRows(entries).map((row) => {
    if (row.type === 'tool') return `${row.entry.title}: ${row.decision ?? row.entry.toolStatus}`;
    return row.type === 'line' ? row.text : row.type;
  });

it('keeps a denied call apart from a later call with the same id', () => {
  const entries = [
    ...[call(1, 'git push --force', 'PENDING'), permission(2, 'git push --force', 'DENIED', 'q1')],
    ...[call(3, 'npm publish', 'PENDING')],
  ];
  const denied = ['git push --force: DENIED', 'Denied: git push --force'];
  expect(shown(entries)).toEqual([...denied, 'npm publish: PENDING']);
  const allowed = [...entries, permission(4, 'npm publish', 'ALLOWED', 'q2'), call(5, 'npm publish', 'COMPLETED')];
  expect(shown(allowed)).toEqual([...denied, 'npm publish: COMPLETED', 'Allowed: npm publish']);
});

it('updates a denied call that the agent reports as failed', () => {
  const entries = [call(1, 'rm', 'PENDING'), permission(2, 'rm', 'DENIED', 'q1'), call(3, 'rm', 'FAILED')];
  expect(transcriptRows(entries)[0]).toMatchObject({ type: 'tool', entry: { toolStatus: 'FAILED' } });
  expect(transcriptRows(entries)).toHaveLength(2);
});

it('says that nobody was asked', () => {
  expect(shown([permission(1, 'rm -rf build', 'ALLOWED', null)])).toEqual([
    'Allowed by the agent’s settings: rm -rf build',
  ]);
});

it('says in one line who has answered a permission, and how', () => {
  const question = {
    __typename: 'QuestionEvent',
    ...base(2),
    questionId: 'q1',
    body: 'May I run rm?',
    reason: 'PERMISSION',
    options: [],
  };
  const answer = (questionId: string) => ({
    ...{ __typename: 'SessionMessage', ...base(3), type: 'INITIAL_USER_MESSAGE', body: 'Allow once', editedBody: null },
    ...{ delivery: 'DELIVERED', draftId: null, answer: { questionId }, author: { id: 'u', displayName: 'Ann' } },
  });
  const entries = (questionId: string, decision: string) =>
    [call(1, 'rm', 'PENDING'), question, answer(questionId), permission(4, 'rm', decision, 'q1')] as unknown as Entry[];
  expect(shown(entries('q1', 'ALLOWED'))).toEqual(['rm: PENDING', 'Ann allowed: rm (Allow once)']);
  expect(shown(entries('q1', 'DENIED'))).toEqual(['rm: DENIED', 'Ann denied: rm (Allow once)']);
  // A message that is no answer of this question stays.
  expect(shown(entries('q0', 'ALLOWED'))).toEqual(['rm: PENDING', 'question', 'message', 'Allowed: rm']);
});
