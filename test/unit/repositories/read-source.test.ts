import { expect, it } from 'vitest';
import { readSource } from '../../../src/domain/mentions/read-source.ts';

const ann = { id: '7', login: 'ann', isBot: false };
const read = (kind: 'github_token' | 'gitlab_token', name: string, action: string, payload: object) =>
  readSource(kind, {
    ...{ id: '1', digest: 'x', name, action, repository: 'acme/site', sender: ann, event: null },
    payload: { ...payload },
  });
const opened = (issue: object) =>
  read('github_token', 'issues', 'opened', { issue: { number: 3, title: 'A', body: '@switchyard', ...issue } });
const noted = (note: object) =>
  read('gitlab_token', 'note', 'create', {
    'object_attributes': { id: 5, note: '@switchyard', 'noteable_type': 'Issue', ...note },
    issue: { iid: 3, title: 'A' },
  });

// No object of JSON becomes a text, and some would throw.
const odd: unknown[] = [null, true, 1.5, '', 'a\0b', [], {}, { toString: 1 }, { toString: null, valueOf: null }];

it.each(odd)('leaves out a text whose number or id is %j', (value) => {
  expect(opened({ number: value })).toBeNull();
  expect(noted({ id: value })).toBeNull();
  expect(noted({ 'noteable_type': value })).toBeNull();
});

it.each([...odd, 'https://x/\0', 'https://x/\u202e', 'javascript:x'])('has no address for %j', (value) => {
  expect(opened({ 'html_url': value })).toMatchObject({ key: 'text:3', url: null });
  expect(noted({ url: value })).toMatchObject({ key: 'note:5', url: null });
});

it('has no controls, and no marks that change the direction of a text', () => {
  const text = 'a\u202eb\u001b[31mc\u0007\u2066d';
  expect(opened({ title: `${text}\n`, body: `@switchyard\n${text}` })).toMatchObject({
    title: 'abcd',
    body: '@switchyard\nabcd',
  });
  expect(opened({ title: ' \u202e ' })).toMatchObject({ title: '' });
});
