import { describe, expect, test } from 'vitest';
import { useApp } from '../support/use-app.ts';
import { call, makeOrganization, makeServiceUser, makeUser } from './rest-app.ts';

const app = useApp();

const organizations = '/v3/enterprise/organizations';

describe('GET /v3/self', () => {
  const self = (token: string | null) => call(app, token, 'GET', '/v3/self');

  test('a service user of the enterprise has no organization', async () => {
    const { status, body } = await self(app.adminToken);
    expect(status).toBe(200);
    expect(body).toEqual({
      principal_type: 'service_user',
      service_user_id: expect.stringMatching(/^service-user-[0-9a-f]{32}$/),
      service_user_name: 'Administrator',
      org_id: null,
    });
  });

  test('a service user of an organization gets its id', async () => {
    const { serviceUserId, token } = await makeServiceUser(app, {
      organizationId: app.organizationId,
      roleId: 'org_member',
    });
    expect((await self(token)).body).toEqual({
      principal_type: 'service_user',
      service_user_id: `service-user-${serviceUserId}`,
      service_user_name: 'Robot',
      org_id: `org-${app.organizationId}`,
    });
  });

  test('a personal access token shows its user, and the only organization', async () => {
    const { userId, v3Token } = await makeUser(app, app.organizationId);
    expect((await self(v3Token)).body).toEqual({
      principal_type: 'pat_user',
      user_id: `user-${userId}`,
      user_name: expect.stringMatching(/^Person/),
      api_key_id: expect.stringMatching(/^key-[0-9a-f]{32}$/),
      api_key_name: 'v3',
      org_id: `org-${app.organizationId}`,
    });
  });

  test('401: no key, a key of version 1, a revoked and an expired one', async () => {
    expect(await self(null)).toMatchObject({
      status: 401,
      body: { title: 'Unauthorized', status: 401, instance: '/v3/self' },
    });
    expect((await self(app.v1Key)).body.detail).toMatch(/begin with "cog_"/);
    for (const column of ['revoked_at', 'expires_at']) {
      const { userId, v3Token } = await makeUser(app, app.organizationId);
      await app.app.services.store.execute(`update api_key set ${column} = '2020-01-01T00:00:00Z' where user_id = $1`, [
        userId,
      ]);
      expect((await self(v3Token)).body.detail).toBe('Missing or invalid Authorization header');
    }
    expect((await self(null)).headers.get('www-authenticate')).toBe('Bearer');
  });

  test('HEAD answers without a body, other methods 405', async () => {
    expect(await call(app, app.adminToken, 'HEAD', '/v3/self')).toMatchObject({ status: 200, body: null });
    const { status, headers, body } = await call(app, app.adminToken, 'POST', '/v3/self', {});
    expect({ status, allow: headers.get('allow'), title: body.title }).toEqual({
      status: 405,
      allow: 'GET, HEAD, OPTIONS',
      title: 'Method Not Allowed',
    });
  });

  test('two trailing slashes are no route, and are never refused with a method that Allow lists', async () => {
    for (const method of ['GET', 'HEAD', 'OPTIONS']) {
      const { status, headers } = await call(app, app.adminToken, method, '/v3/self//');
      const isOptions = method === 'OPTIONS';
      expect([method, status, headers.get('allow')]).toEqual([
        method,
        isOptions ? 204 : 404,
        isOptions ? 'GET, HEAD, OPTIONS' : null,
      ]);
    }
  });
});

describe('POST /v3/enterprise/organizations', () => {
  test('200: the organization, which is then found by its id in every form and in the list', async () => {
    const { status, body } = await call(app, app.adminToken, 'POST', organizations, {
      name: 'Research',
      max_session_acu_limit: 5,
    });
    expect(status).toBe(200);
    expect(body).toEqual({
      org_id: expect.stringMatching(/^org-[0-9a-f]{32}$/),
      name: 'Research',
      max_cycle_acu_limit: null,
      max_session_acu_limit: 5,
      created_at: expect.any(Number),
      updated_at: expect.any(Number),
    });
    for (const id of [body.org_id, body.org_id.replace('org-', ''), `org-${body.org_id}`]) {
      expect(await call(app, app.adminToken, 'GET', `${organizations}/${id}`)).toMatchObject({ status: 200, body });
    }
    expect((await call(app, app.adminToken, 'GET', organizations)).body.items).toContainEqual(body);
  });

  test.each<[string, unknown, string]>([
    ['no name', {}, 'name'],
    ['an empty name', { name: '' }, 'name'],
    ['a name with a NUL', { name: 'a\u0000' }, 'name'],
    ['a limit below 0', { name: 'x', max_cycle_acu_limit: -1 }, 'max_cycle_acu_limit'],
    ['a limit of a half', { name: 'x', max_session_acu_limit: 0.5 }, 'max_session_acu_limit'],
    ['a limit as text', { name: 'x', max_session_acu_limit: '1' }, 'max_session_acu_limit'],
  ])('422: %s', async (_, body, name) => {
    const { status, body: problem } = await call(app, app.adminToken, 'POST', organizations, body);
    expect({ status, loc: problem.detail[0].loc }).toEqual({ status: 422, loc: ['body', name] });
    expect(problem.detail[0].msg).toMatch(new RegExp(`"${name}"`));
  });
});

describe('GET /v3/enterprise/organizations', () => {
  test('pages return all of them', async () => {
    const made = [
      await makeOrganization(app, 'One'),
      await makeOrganization(app, 'Two'),
      await makeOrganization(app, 'Three'),
    ];
    const seen: string[] = [];
    let query = '?first=2';
    for (;;) {
      const { body } = await call(app, app.adminToken, 'GET', organizations + query);
      seen.push(...body.items.map((item: { org_id: string }) => item.org_id));
      if (!body.has_next_page) break;
      query = `?first=2&after=${body.end_cursor}`;
    }
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.slice(0, 3)).toEqual(made.toReversed().map((id) => `org-${id}`));
    expect(seen).toContain(`org-${app.organizationId}`);
  });

  test('an account member may list and read all, but create none and use none', async () => {
    const { token } = await makeServiceUser(app, { roleId: 'account_member' });
    const { body } = await call(app, token, 'GET', organizations);
    expect(body.items.map((item: { org_id: string }) => item.org_id)).toContain(`org-${app.organizationId}`);
    expect((await call(app, token, 'GET', `${organizations}/${app.organizationId}`)).status).toBe(200);
    const made = await call(app, token, 'POST', organizations, { name: 'x' });
    expect({ status: made.status, detail: made.body.detail }).toEqual({
      status: 403,
      detail: 'Missing permission ManageOrganizations',
    });
    expect((await call(app, token, 'GET', `/v3/organizations/${app.organizationId}/sessions`)).status).toBe(403);
  });

  test('403: a service user of an organization; 404: an unknown one; 401: no key', async () => {
    const { token } = await makeServiceUser(app, { organizationId: app.organizationId, roleId: 'org_admin' });
    for (const path of [organizations, `${organizations}/${app.organizationId}`]) {
      const { status, body } = await call(app, token, 'GET', path);
      expect({ status, detail: body.detail }).toEqual({ status: 403, detail: 'Missing permission ReadAccountMeta' });
    }
    expect((await call(app, app.adminToken, 'GET', `${organizations}/org-${'0'.repeat(32)}`)).status).toBe(404);
    expect((await call(app, app.adminToken, 'GET', `${organizations}/nonsense`)).status).toBe(404);
    expect((await call(app, null, 'GET', organizations)).status).toBe(401);
  });
});
