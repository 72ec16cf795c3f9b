import { expect, it } from 'vitest';
import { parseSubmission } from '../../src/domain/session-reviews/submission.ts';

const comment = { path: 'src/a.ts', line: 1, body: 'Rename this.' };

it.each([
  [{ body: 'x', comments: [{ ...comment, path: undefined }] }, '"comments[0].path" must be a text.'],
  [{ body: 'x', comments: [comment, { ...comment, line: 0 }] }, '"comments[1].line" must be at least 1.'],
  [{ body: 'x', comments: [{ ...comment, side: 'left' }] }, '"comments[0].side" must be "new" or "old".'],
  [{ body: 'x', comments: ['a'] }, '"comments[0]" must be an object.'],
  [{ body: 'x', comments: 'a' }, '"comments" must be a list.'],
  [{ body: '', comments: [] }, '"body" must not be empty.'],
])('names the place of a problem of a review: %j', (input, message) => {
  expect(() => parseSubmission(input as never)).toThrow(message);
});
