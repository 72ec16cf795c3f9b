import { expect, it } from 'vitest';
import { eventText } from '../../../src/domain/automations/triggers/event-text.ts';
import { forgeEventType, subjectOf, targetOf } from '../../../src/domain/automations/triggers/forge-event.ts';
import { maxPayloadBytes, reducePayload } from '../../../src/domain/automations/triggers/reduce-payload.ts';

it.each([
  ['github_app', 'issues', {}, 'github:issues'],
  ['github_token', 'check_run', {}, 'github:check_run'],
  ['github_token', 'star', {}, null],
  ['gitlab_token', 'note', { 'object_attributes': { 'noteable_type': 'Issue' } }, 'gitlab:issue_note'],
  ['gitlab_token', 'note', { 'object_attributes': { 'noteable_type': 'Commit' } }, 'gitlab:note'],
  ['gitlab_token', 'issues', {}, null],
  ['gitea_token', 'pull_request_approved', {}, 'gitea:pull_request_approved'],
  ['gitea_token', 'note', { 'object_attributes': { 'noteable_type': 'Issue' } }, null],
  ['git_https', 'push', {}, null],
] as const)('is the event type of %s %s', (kind, name, payload, expected) => {
  expect(forgeEventType(kind, { name, payload })).toBe(expected);
});

const page = 'https://git.test/acme/site/3';

it.each([
  ['github:issue_comment', { issue: { number: 3, 'html_url': page } }, { number: 3, url: page }],
  ['github:pull_request', { 'pull_request': { number: 3, 'html_url': page } }, { number: 3, url: page }],
  ['gitlab:issue', { 'object_attributes': { iid: 3, url: page } }, { number: 3, url: page }],
  ['gitlab:note', { 'merge_request': { iid: 3, url: page } }, { number: 3, url: page }],
  ['gitlab:pipeline', { 'object_attributes': { iid: 9, url: page } }, { number: null, url: null }],
  ['github:issues', { issue: { number: 3, 'html_url': 'javascript:alert(1)' } }, { number: 3, url: null }],
  ['github:issues', { issue: { number: 3, 'html_url': `${page}${'x'.repeat(3_000)}` } }, { number: 3, url: null }],
  ['github:issues', { issue: { number: '3', 'html_url': page } }, { number: null, url: null }],
  ['github:push', { ref: 'refs/heads/main' }, { number: null, url: null }],
])('has the issue or the pull request of %s %j', (eventType, payload, expected) => {
  expect(subjectOf(eventType, payload)).toEqual(expected);
});

const none = { pullRequest: null, ref: null };

it.each([
  ['github:pull_request_review', { 'pull_request': { number: 3 } }, { pullRequest: 3, ref: null }],
  ['github:issue_comment', { issue: { number: 3, 'pull_request': {} } }, { pullRequest: 3, ref: null }],
  ['github:issue_comment', { issue: { number: 3 } }, none],
  ['gitea:issue_comment', { issue: { number: 3 }, 'is_pull': true }, { pullRequest: 3, ref: null }],
  ['github:check_run', { 'check_run': { 'pull_requests': [{ number: 4 }] } }, { pullRequest: 4, ref: null }],
  [
    'github:check_run',
    { 'check_run': { 'pull_requests': [], 'check_suite': { 'head_branch': 'work' } } },
    { pullRequest: null, ref: 'work' },
  ],
  ['gitlab:pipeline', { 'object_attributes': { ref: 'main' } }, { pullRequest: null, ref: 'main' }],
  ['gitlab:merge_request', { 'object_attributes': { iid: 5 } }, { pullRequest: 5, ref: null }],
  ['github:push', { ref: 'refs/tags/v1', after: 'a'.repeat(40) }, { pullRequest: null, ref: 'v1' }],
  ['github:push', { ref: 'refs/heads/--upload-pack=x', after: 'a'.repeat(40) }, none],
  ['github:push', { ref: 'refs/notes/x' }, none],
  ['github:pull_request', { 'pull_request': { number: 1e12 } }, none],
  ['github:pull_request', { 'pull_request': { number: '7' } }, none],
  ['github:issues', { issue: { number: 3 } }, none],
])('is about the state of a repository: %s %#', (eventType, payload, expected) => {
  expect(targetOf(eventType, payload)).toEqual(expected);
});

it('keeps the parts of a payload that conditions use', () => {
  const user = { login: 'ann', id: 1, 'avatar_url': 'x', 'node_id': 'y', 'url': 'https://api.github.com/users/ann' };
  const labels = [{ id: 1, name: 'bug', color: 'ff0000' }, null, { id: 2, title: 'agent' }];
  const issue = { title: 'A\u0000\ud800', 'html_url': 'https://github.com/a/b/issues/1', url: 'x', user, labels };
  expect(reducePayload({ action: 'opened', issue, installation: { id: 1 }, nonce: 1 })).toEqual({
    action: 'opened',
    issue: {
      'title': 'A\ufffd',
      'html_url': 'https://github.com/a/b/issues/1',
      'user': { login: 'ann', id: 1, url: 'https://api.github.com/users/ann' },
      labels,
      'label_names': ['bug', 'agent'],
    },
  });
});

it('is small, whatever the forge sends', () => {
  const deep = (levels: number): unknown => (levels === 0 ? 'x' : { a: deep(levels - 1) });
  const large = 'ä'.repeat(100_000);
  const many = Array.from({ length: 5_000 }, (_, n) => ({
    id: n,
    message: large.slice(0, 50),
    author: { name: 'ann' },
  }));
  const wide = Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`${n}${large.slice(0, 90)}`, large]));
  for (const payload of [
    { issue: { body: large, title: 'Kept' } },
    { commits: many },
    { changes: wide },
    { issue: wide, 'pull_request': wide, comment: wide, review: wide, repository: wide, sender: wide, commits: many },
    { changes: deep(5_000) },
    { labels: Array.from({ length: 5_000 }, () => ({ name: large })) },
  ]) {
    const reduced = reducePayload(payload);
    expect(Buffer.byteLength(JSON.stringify(reduced))).toBeLessThanOrEqual(maxPayloadBytes);
    expect(Object.keys(reduced)).toEqual(expect.arrayContaining(Object.keys(payload)));
  }
  expect(reducePayload({ issue: { body: large, title: 'Kept' } })).toMatchObject({ issue: { title: 'Kept' } });
});

it('is data whose fence and direction no text can change', () => {
  const text = '```\n!macro \u202e\u2066\u2028';
  const prompt = eventText('An event.', JSON.stringify({ text }));
  const [, json = '', ...others] = prompt.split('```');
  expect(others).toEqual(['']);
  expect(json).not.toMatch(/!|[\u2028\u202e\u2066]/);
  expect(JSON.parse(json.slice('json'.length))).toEqual({ text });
});
