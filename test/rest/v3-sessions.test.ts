import { beforeAll, describe, expect, test } from 'vitest';
import { useApp } from '../support/use-app.ts';
import { call, countSessions, makeOrganization, makeServiceUser, makeUser, sendRaw } from './rest-app.ts';

const app = useApp();
let sessions: string;
beforeAll(async () => {
  sessions = `/v3/organizations/org-${app.organizationId}/sessions`;
});

const create = (
  body: unknown,
  headers: Record<string, string> = {},
  token: string | null = app.adminToken,
  path: string = sessions,
) => call(app, token, 'POST', path, body, headers);

/** Expects an RFC 9457 problem, and that no session was created. */
async function refused(status: number, detail: unknown, answer: () => ReturnType<typeof create>): Promise<void> {
  const before = await countSessions(app);
  const { status: got, body, headers } = await answer();
  expect({ got, detail: body.detail }).toEqual({ got: status, detail });
  expect(headers.get('content-type')).toBe('application/problem+json');
  expect(body).toMatchObject({
    type: 'about:blank',
    title: expect.any(String),
    status,
    instance: expect.stringMatching(/^\/v3\//),
  });
  expect(body.errors).toEqual(status === 422 ? body.detail : undefined);
  expect(await countSessions(app)).toBe(before);
}

const issue = (name: string, message: RegExp, type: string = 'value_error') => [
  { loc: ['body', ...name.split('.')], msg: expect.stringMatching(message), type },
];

describe('POST …/sessions', () => {
  test('200: fields that clients of other editions send are ignored', async () => {
    const long = 't'.repeat(10_000);
    expect(await create({ prompt: 'x', title: long })).toMatchObject({ status: 200, body: { title: long } });
    const action = { repos: ['acme/api'], title: 'A change', tags: ['github-action'], devin_mode: 'normal' };
    const others = { platform: 'linux', advanced_mode: 'analyze', session_links: [], bypass_approval: false };
    const { status, body } = await create({ prompt: 'say hello', ...action, ...others, max_acu_limit: 5 });
    expect({ status, body }).toMatchObject({ status: 200, body: { title: 'A change', tags: ['github-action'] } });
  });

  test('200: returns the complete session, with times in Unix seconds and ids in this version’s form', async () => {
    const before = Math.floor(Date.now() / 1_000);
    const { status, body, headers } = await create({ prompt: 'say hello', tags: ['a'], snapshot_id: 's1' });
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('application/json');
    expect(body).toEqual({
      session_id: expect.stringMatching(/^[0-9a-f]{32}$/),
      url: expect.stringMatching(/\/sessions\/[0-9a-f]{32}$/),
      status: 'new',
      status_detail: null,
      title: 'say hello',
      tags: ['a'],
      org_id: `org-${app.organizationId}`,
      created_at: expect.any(Number),
      updated_at: body.created_at,
      acus_consumed: 0,
      pull_requests: [],
      user_id: null,
      service_user_id: expect.stringMatching(/^service-user-[0-9a-f]{32}$/),
      parent_session_id: null,
      child_session_ids: [],
      playbook_id: null,
      automation_id: null,
      snapshot_id: 's1',
      origin: 'api',
      is_archived: false,
      category: null,
      subcategory: null,
      structured_output: null,
    });
    expect(body.created_at).toBeGreaterThanOrEqual(before);
    expect(body.created_at).toBeLessThanOrEqual(Math.ceil(Date.now() / 1_000));
  });

  test('200: the organization’s id is accepted in every form, with or without a trailing slash', async () => {
    for (const id of [app.organizationId, `org-${app.organizationId}`, `org-org-${app.organizationId}`]) {
      const { status, body } = await create({ prompt: 'x' }, {}, app.adminToken, `/v3/organizations/${id}/sessions/`);
      expect({ status, org: body.org_id }).toEqual({ status: 200, org: `org-${app.organizationId}` });
    }
  });

  test('200: a personal access token’s session belongs to its user', async () => {
    const { v3Token, userId } = await makeUser(app, app.organizationId);
    const { body } = await create({ prompt: 'x', create_as_user_id: userId }, {}, v3Token);
    expect(body).toMatchObject({ user_id: `user-${userId}`, service_user_id: null });
  });

  test('200: create_as_user_id attributes the session to a member', async () => {
    const { userId } = await makeUser(app, app.organizationId);
    const { body } = await create({ prompt: 'x', create_as_user_id: `user-${userId}` });
    expect(body).toMatchObject({ user_id: `user-${userId}`, service_user_id: null });
  });

  test('idempotent and Idempotency-Key return the first session again; other input is 422', async () => {
    const first = await create({ prompt: 'once', idempotent: true });
    const again = await create({ prompt: 'once', idempotent: true });
    expect(first.body.is_new_session).toBe(true);
    expect(again.body).toMatchObject({ session_id: first.body.session_id, is_new_session: false });
    const headers = { 'idempotency-key': 'v3 key' };
    const keyed = await create({ prompt: 'by key' }, headers);
    expect((await create({ prompt: 'by key' }, headers)).body.session_id).toBe(keyed.body.session_id);
    expect(keyed.body).not.toHaveProperty('is_new_session');
    const conflict = [
      { loc: ['header', 'Idempotency-Key'], msg: expect.stringMatching(/other input/), type: 'idempotency_conflict' },
    ];
    await refused(422, conflict, () => create({ prompt: 'other' }, headers));
  });

  test.each<[string, unknown, ReturnType<typeof issue>]>([
    ['no prompt', {}, issue('prompt', /"prompt" is required/, 'missing')],
    ['an empty prompt', { prompt: '' }, issue('prompt', /must not be empty/)],
    ['a lone surrogate', { prompt: '\ud800' }, issue('prompt', /Unicode text/)],
    [
      'a limit of 0',
      { prompt: 'x', max_acu_limit: 0 },
      issue('max_acu_limit', /"max_acu_limit" must be greater than 0/),
    ],
    ['51 tags', { prompt: 'x', tags: Array(51).fill('t') }, issue('tags', /at most 50 items/)],
    ['an empty tag', { prompt: 'x', tags: ['a', ''] }, issue('tags.1', /must not be empty/)],
    [
      'unlisted as text',
      { prompt: 'x', unlisted: 'no' },
      issue('unlisted', /"unlisted" must be a boolean, but was a string/, 'boolean_type'),
    ],
    [
      'an external $ref',
      { prompt: 'x', structured_output_schema: { $ref: 'http://a' } },
      issue('structured_output_schema', /self-contained/),
    ],
  ])('422: %s', async (_, body, detail) => {
    await refused(422, detail, () => create(body));
  });

  test('400: no JSON, invalid UTF-8, too deep', async () => {
    await refused(400, expect.stringMatching(/not valid JSON/), () => sendRaw(app, app.adminToken, sessions, '{'));
    const bytes = Buffer.from([0x22, 0xc3, 0x28, 0x22]);
    await refused(400, expect.stringMatching(/not valid UTF-8/), () => sendRaw(app, app.adminToken, sessions, bytes));
    const deep = `{"prompt":${'['.repeat(200)}${']'.repeat(200)}}`;
    await refused(400, expect.stringMatching(/nest deeper/), () => sendRaw(app, app.adminToken, sessions, deep));
  });

  test('400: an unknown referenced id', async () => {
    await refused(400, expect.stringMatching(/"playbook_id" refers to/), () =>
      create({ prompt: 'x', playbook_id: 'p' }),
    );
    const stranger = await makeUser(app, await makeOrganization(app));
    const body = { prompt: 'x', create_as_user_id: stranger.userId };
    await refused(400, '"create_as_user_id" is not a member of this organization.', () => create(body));
  });

  test('401: no key, and a key of version 1', async () => {
    await refused(401, 'Missing or invalid Authorization header', () => create({ prompt: 'x' }, {}, null));
    await refused(401, expect.stringMatching(/"cog_"/), () => create({ prompt: 'x' }, {}, app.v1Key));
  });

  test('403: another organization, whether it exists or not', async () => {
    const { v3Token } = await makeUser(app, app.organizationId);
    const other = await makeOrganization(app);
    for (const id of [`org-${other}`, `org-${'0'.repeat(32)}`, 'nonsense']) {
      const path = `/v3/organizations/${id}/sessions`;
      await refused(403, 'You do not have access to this organization.', () =>
        create({ prompt: 'x' }, {}, v3Token, path),
      );
    }
  });

  test('403: a missing permission has its name on the wire', async () => {
    const { v3Token, userId } = await makeUser(app, app.organizationId);
    const other = await makeUser(app, app.organizationId);
    const { token } = await makeServiceUser(app, { organizationId: app.organizationId, roleId: 'org_member' });
    await refused(403, 'Missing permission ImpersonateOrgSessions', () =>
      create({ prompt: 'x', create_as_user_id: userId }, {}, token),
    );
    await refused(403, expect.stringMatching(/for its own user/), () =>
      create({ prompt: 'x', create_as_user_id: other.userId }, {}, v3Token),
    );
    await app.app.services.store.execute(
      "update role set permissions = array_remove(permissions, 'UseSessions') where id = 'org_member'",
    );
    await refused(403, 'Missing permission UseDevinSessions', () => create({ prompt: 'x' }, {}, token));
    await app.app.services.store.execute(
      "update role set permissions = array_append(permissions, 'UseSessions') where id = 'org_member'",
    );
  });

  test('404: an organization unknown to an enterprise’s administrator', async () => {
    const path = `/v3/organizations/org-${'0'.repeat(32)}/sessions`;
    await refused(404, 'There is no such organization.', () => create({ prompt: 'x' }, {}, app.adminToken, path));
  });

  test('413: a body over 1 MiB', async () => {
    await refused(413, expect.stringMatching(/at most/), () => create({ prompt: 'x'.repeat(1_100_000) }));
  });
});

describe('GET …/sessions/{devin_id}', () => {
  test('200: the id is accepted in every form', async () => {
    const { body } = await create({ prompt: 'x' });
    for (const id of [body.session_id, `devin-${body.session_id}`, `devin-devin-${body.session_id}`]) {
      expect(await call(app, app.adminToken, 'GET', `${sessions}/${id}`)).toMatchObject({ status: 200, body });
    }
  });

  test('404: another organization’s session, also for a caller with access to both', async () => {
    const other = await makeOrganization(app);
    const { body } = await create({ prompt: 'x' }, {}, app.adminToken, `/v3/organizations/${other}/sessions`);
    await refused(404, 'There is no such session.', () =>
      call(app, app.adminToken, 'GET', `${sessions}/${body.session_id}`),
    );
    await refused(404, 'There is no such session.', () => call(app, app.adminToken, 'GET', `${sessions}/nonsense`));
  });

  test('403: in another organization', async () => {
    const { token } = await makeServiceUser(app, { organizationId: await makeOrganization(app), roleId: 'org_admin' });
    const { body } = await create({ prompt: 'x' });
    await refused(403, expect.any(String), () => call(app, token, 'GET', `${sessions}/${body.session_id}`));
  });
});

describe('DELETE …/sessions/{devin_id}', () => {
  test('200: terminates, and returns the unchanged session when repeated', async () => {
    const { body } = await create({ prompt: 'x' });
    const path = `${sessions}/${body.session_id}`;
    const first = await call(app, app.adminToken, 'DELETE', path);
    expect(first).toMatchObject({
      status: 200,
      body: { session_id: body.session_id, status: 'exit', is_archived: false },
    });
    const second = await call(app, app.adminToken, 'DELETE', `${path}?archive=true`);
    expect(second).toMatchObject({ status: 200, body: { status: 'exit', is_archived: true } });
  });

  test('422: an invalid value of archive', async () => {
    const { body } = await create({ prompt: 'x' });
    const { status, body: problem } = await call(
      app,
      app.adminToken,
      'DELETE',
      `${sessions}/${body.session_id}?archive=maybe`,
    );
    expect(status).toBe(422);
    expect(problem.detail[0].loc).toEqual(['query', 'archive']);
  });

  test('403: a member without permission for the session', async () => {
    const { v3Token } = await makeUser(app, app.organizationId);
    const { body } = await create({ prompt: 'x' });
    await refused(403, 'Missing permission ManageOrgSessions', () =>
      call(app, v3Token, 'DELETE', `${sessions}/${body.session_id}`),
    );
  });
});
