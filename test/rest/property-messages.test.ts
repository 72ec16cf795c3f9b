import { expect, test } from 'vitest';
import { useApp } from '../support/use-app.ts';
import { call, makeServiceUser, sendRaw } from './rest-app.ts';

const app = useApp();

// Regressions that the properties found: the parser's own messages, messages that claim a number should have been a number,
// or empty ones.
test.each([
  [
    '/secrets',
    '{"type":"password","key":"A","value":"c4n4ry"}',
    'type',
    /^"type" must be one of "cookie", "key-value", "totp", but was "password"\.$/,
  ],
  [
    '/automations',
    '{"name":"A","triggers":[],"actions":[{"type":"dance"}]}',
    'actions.0.type',
    /^"actions\.0\.type" must be one of "start_session", "message_session", "monitor_session", but was "dance"\.$/,
  ],
  [
    '/automations',
    '{"name":"A","triggers":[],"actions":[{"type":"monitor_session","setup_prompt":"x","slack_monitor_config":{"a\\udfff":1}}]}',
    'actions.0.slack_monitor_config',
    /^"slack_monitor_config" must not contain NUL characters or lone surrogates\.$/,
  ],
  [
    '/automations',
    '{"name":"A","triggers":[],"actions":[{"type":"start_session","prompt":"x"}],"metadata":{"__proto__":{}}}',
    'metadata.__proto__',
    /^"__proto__" is not a valid name\.$/,
  ],
  ['/secrets', '{"key":"A","value":"c4n4ry"}', 'type', /^"type" is required\.$/],
  [
    '/sessions',
    '{"prompt":"x","max_acu_limit":1e999}',
    'max_acu_limit',
    /must be (?:an integer|a number), but was too large\.$/,
  ],
  ['/sessions', '{"prompt":5}', 'prompt', /^"prompt" must be a string, but was a number\.$/],
])(
  '%s with %s: states the expected type, and the received one unless it may be a secret',
  async (path, body, field, message) => {
    const type = { 'content-type': 'application/json' };
    const answer = await sendRaw(app, app.adminToken, `/v3/organizations/${app.organizationId}${path}`, body, type);
    expect(answer.status).toBe(422);
    expect(answer.body.errors).toEqual([
      { loc: ['body', ...field.split('.')], msg: expect.stringMatching(message), type: expect.any(String) },
    ]);
  },
);

test.each([
  [1.5, '"expires_at" must be an integer, but was 1.5.'],
  ['soon', '"expires_at" must be a number, but was a string.'],
  [-1e30, expect.stringMatching(/^"expires_at" must be at least -\d+, but was -1e\+30\.$/)],
])('an invalid time: %j', async (time, message) => {
  const { serviceUserId } = await makeServiceUser(app, { roleId: 'account_member' });
  const path = `/v3beta1/enterprise/service-users/${serviceUserId}/api-keys`;
  const { status, body } = await call(app, app.adminToken, 'POST', path, { name: 'key', expires_at: time });
  expect(status).toBe(422);
  expect(body.errors[0]).toMatchObject({ loc: ['body', 'expires_at'], msg: message });
});

test('an invalid Last-Event-ID is named instead of `after`; HEAD of a stream answers like GET', async () => {
  const sessions = `/v3/organizations/${app.organizationId}/sessions`;
  const { body } = await call(app, app.adminToken, 'POST', sessions, { prompt: 'x' });
  const path = `${sessions}/${body.session_id}/messages`;
  const headers = { accept: 'text/event-stream', 'last-event-id': 'nonsense' };
  const refused = await call(app, app.adminToken, 'GET', path, undefined, headers);
  expect(refused).toMatchObject({ status: 422, body: { errors: [{ loc: ['header', 'Last-Event-ID'] }] } });
  const headOf = (address: string, more = {}) =>
    call(app, app.adminToken, 'HEAD', address, undefined, { accept: 'text/event-stream', ...more });
  expect((await headOf(path)).status).toBe(200);
  expect((await headOf(path, headers)).status).toBe(422);
  expect((await headOf(`${sessions}/${'0'.repeat(32)}/messages`)).status).toBe(404);
  expect(app.app.watches.active()).toBe(0);
});
