import { describe, expect, test } from 'vitest';
import { graphql } from '../support/app.ts';
import { useApp } from '../support/use-app.ts';
import {
  call,
  countSessions,
  makeOrganization,
  makeServiceKey,
  makeServiceUser,
  makeUser,
  startApp,
} from './rest-app.ts';

const app = useApp();

const organizations = '/v3/enterprise/organizations';
const admin = (method: string, path: string, body?: unknown) => call(app, app.adminToken, method, path, body);
const audited = (organizationId: string, action: string) =>
  app.app.services.store.query<{ data: unknown }>(
    'select data from audit_entry where organization_id = $1 and action = $2 order by created_at, id',
    [organizationId, action],
  );

describe('PATCH /v3/enterprise/organizations/{org_id}', () => {
  test('200: null clears a limit, omitted fields stay, and the audit log has old and new values', async () => {
    const id = await makeOrganization(app, 'Before');
    const first = await admin('PATCH', `${organizations}/${id}`, {
      max_cycle_acu_limit: 100,
      max_session_acu_limit: 5,
    });
    expect(first).toMatchObject({
      status: 200,
      body: { org_id: `org-${id}`, name: 'Before', max_cycle_acu_limit: 100, max_session_acu_limit: 5 },
    });
    const second = await admin('PATCH', `${organizations}/org-${id}`, { name: 'After', max_cycle_acu_limit: null });
    expect(second.body).toEqual({
      ...first.body,
      name: 'After',
      max_cycle_acu_limit: null,
      updated_at: expect.any(Number),
    });
    expect((await admin('GET', `${organizations}/${id}`)).body).toEqual(second.body);
    expect(await audited(id, 'update_org')).toEqual([
      {
        data: {
          maxCycleAcuLimit: 100,
          maxCycleAcuLimitBefore: null,
          maxSessionAcuLimit: 5,
          maxSessionAcuLimitBefore: null,
        },
      },
      { data: { name: 'After', nameBefore: 'Before', maxCycleAcuLimit: null, maxCycleAcuLimitBefore: 100 } },
    ]);
  });

  test('200: a null name, as typed clients send it, keeps the name; without a change nothing is written', async () => {
    const id = await makeOrganization(app, 'Same');
    const before = (await admin('GET', `${organizations}/${id}`)).body;
    for (const body of [{}, { name: null }, { name: 'Same', max_cycle_acu_limit: null }]) {
      expect(await admin('PATCH', `${organizations}/${id}`, body)).toMatchObject({ status: 200, body: before });
    }
    expect(await audited(id, 'update_org')).toEqual([]);
  });

  test.each<[string, unknown, string]>([
    ['an empty name', { name: '' }, 'name'],
    ['a name of 201 characters', { name: 'x'.repeat(201) }, 'name'],
    ['a limit below 0', { max_cycle_acu_limit: -1 }, 'max_cycle_acu_limit'],
    ['a limit of a half', { max_session_acu_limit: 0.5 }, 'max_session_acu_limit'],
  ])('422: %s', async (_, body, name) => {
    const { status, body: problem } = await admin('PATCH', `${organizations}/${app.organizationId}`, body);
    expect({ status, loc: problem.detail[0].loc }).toEqual({ status: 422, loc: ['body', name] });
  });

  test('403 without ManageOrganizations; 404 for an organization outside of the enterprise', async () => {
    const { token } = await makeServiceUser(app, { roleId: 'account_member' });
    for (const method of ['PATCH', 'DELETE']) {
      const refused = await call(app, token, method, `${organizations}/${app.organizationId}`, { name: 'Mine' });
      expect(refused).toMatchObject({ status: 403, body: { detail: 'Missing permission ManageOrganizations' } });
      for (const id of [`org-${'0'.repeat(32)}`, 'nonsense']) {
        expect((await admin(method, `${organizations}/${id}`, { name: 'x' })).status).toBe(404);
      }
    }
  });
});

describe('DELETE /v3/enterprise/organizations/{org_id}', () => {
  test('200 with the organization; from then on it and all its objects are unknown', async () => {
    const id = await makeOrganization(app, 'Doomed');
    const user = await makeUser(app, id, 'org_admin');
    const robot = await makeServiceUser(app, { organizationId: id, roleId: 'org_admin' });
    const serviceKey = await makeServiceKey(app, id);
    const sessions = `/v3/organizations/${id}/sessions`;
    const session = (await admin('POST', sessions, { prompt: 'say hello' })).body;
    const keyed = (prompt: string) =>
      call(app, app.adminToken, 'POST', sessions, { prompt }, { 'idempotency-key': 'of-the-doomed' });
    expect((await keyed('say once')).status).toBe(200);

    const before = (await admin('GET', `${organizations}/${id}`)).body;
    const gone = await admin('DELETE', `${organizations}/${id}`);
    expect(gone).toMatchObject({ status: 200, body: { ...before, updated_at: expect.any(Number) } });
    expect(await audited(id, 'delete_org')).toEqual([{ data: { name: 'Doomed' } }]);

    const unknown = await admin('GET', `/v3/organizations/org-${'0'.repeat(32)}/sessions`);
    for (const [method, path, body] of [
      ['GET', sessions],
      ['POST', sessions, { prompt: 'say more' }],
      ['GET', `${sessions}/${session.session_id}`],
      ['DELETE', `${sessions}/${session.session_id}`],
      ['GET', `${sessions}/${session.session_id}/messages`],
      ['POST', `${sessions}/${session.session_id}/messages`, { message: 'hello?' }],
      ['GET', `${organizations}/${id}`],
      ['PATCH', `${organizations}/${id}`, { name: 'Back' }],
      ['DELETE', `${organizations}/${id}`],
      ['PUT', `/v3/enterprise/consumption/acu-limits/devin/organizations/${id}`, { cycle_acu_limit: 1 }],
      ['DELETE', `/v3/enterprise/consumption/acu-limits/devin/organizations/${id}`],
    ] as const) {
      const answer = await admin(method, path, body);
      expect({ method, path, status: answer.status }).toEqual({ method, path, status: 404 });
    }
    expect((await admin('GET', sessions)).body).toEqual({ ...unknown.body, instance: sessions });
    const count = await countSessions(app);
    expect((await keyed('say once')).status).toBe(404);
    expect(await countSessions(app)).toBe(count);
    // Under another organization's path, its session is unknown.
    const elsewhere = `/v3/organizations/${app.organizationId}/sessions`;
    expect((await admin('GET', `${elsewhere}/${session.session_id}`)).status).toBe(404);
    const listed = (await admin('GET', `${elsewhere}?session_ids=${session.session_id}`)).body;
    expect(listed.items).toEqual([]);
    const all = (await admin('GET', `${organizations}?first=200`)).body.items;
    expect(all.map((item: { org_id: string }) => item.org_id)).not.toContain(`org-${id}`);

    expect((await call(app, robot.token, 'GET', '/v3/self')).status).toBe(401);
    expect((await call(app, serviceKey, 'GET', '/v1/sessions')).status).toBe(401);
    expect((await call(app, user.v1Key, 'GET', '/v1/sessions')).status).toBe(401);
    // The user is still a user of the enterprise, but no longer a member of any organization.
    expect((await call(app, user.v3Token, 'GET', '/v3/self')).body).toMatchObject({ org_id: null });
    expect((await call(app, user.v3Token, 'GET', sessions)).status).toBe(403);
  });

  test('another organization stays unchanged, and the last one can be deleted too', async () => {
    const own = await startApp();
    try {
      const next = await makeOrganization(own, 'Next');
      const path = `/v3/organizations/${next}/sessions`;
      await call(own, own.adminToken, 'POST', path, { prompt: 'say hello' });
      expect((await call(own, own.adminToken, 'DELETE', `${organizations}/${own.organizationId}`)).status).toBe(200);
      expect((await call(own, own.v1Key, 'GET', '/v1/sessions')).status).toBe(401);
      expect((await call(own, own.adminToken, 'GET', path)).body.items).toHaveLength(1);
      expect((await call(own, own.adminToken, 'DELETE', `${organizations}/${next}`)).status).toBe(200);
      expect((await call(own, own.adminToken, 'GET', organizations)).body.items).toEqual([]);
      const again = await makeOrganization(own, 'Again');
      expect((await call(own, own.adminToken, 'GET', `/v3/organizations/${again}/sessions`)).status).toBe(200);
    } finally {
      await own.close();
    }
  });
});

describe('an organization’s limit for a session', () => {
  const start = (id: string, body: object) =>
    admin('POST', `/v3/organizations/${id}/sessions`, { prompt: 'x', ...body });
  const limitOf = async (sessionId: string) => {
    const rows = await app.app.services.store.query<{ limit: number | null }>(
      'select max_acu_limit as limit from session where id = $1',
      [sessionId],
    );
    return rows[0]?.limit;
  };

  test('is not copied to sessions; above it: 400 with both numbers, and nothing is created', async () => {
    const id = await makeOrganization(app, 'Thrifty');
    expect(await limitOf((await start(id, {})).body.session_id)).toBeNull();
    await admin('PATCH', `${organizations}/${id}`, { max_session_acu_limit: 5 });
    expect(await limitOf((await start(id, {})).body.session_id)).toBeNull();
    expect(await limitOf((await start(id, { max_acu_limit: null })).body.session_id)).toBeNull();
    expect(await limitOf((await start(id, { max_acu_limit: 5 })).body.session_id)).toBe(5);
    expect(await limitOf((await start(id, { max_acu_limit: 1 })).body.session_id)).toBe(1);
    const count = await countSessions(app);
    const refused = await start(id, { max_acu_limit: 6 });
    expect(refused.status).toBe(400);
    expect(refused.body.detail).toMatch(/^"max_acu_limit" must be at most 5, .* but was 6\.$/);
    await admin('PATCH', `${organizations}/${id}`, { max_session_acu_limit: 0 });
    for (const body of [{}, { max_acu_limit: 1 }]) expect((await start(id, body)).status).toBe(400);
    expect(await countSessions(app)).toBe(count);
  });

  test('and the other limits accept up to 2^53 - 1, which GraphQL shows as the largest Int', async () => {
    const id = await makeOrganization(app, 'Generous');
    const maximum = Number.MAX_SAFE_INTEGER;
    const limits = { max_cycle_acu_limit: maximum, max_session_acu_limit: maximum };
    expect(await admin('PATCH', `${organizations}/${id}`, limits)).toMatchObject({ status: 200, body: limits });
    expect((await admin('GET', `${organizations}/${id}`)).body).toMatchObject(limits);
    const list = (await admin('GET', '/v3/enterprise/consumption/acu-limits/devin?first=200')).body.items;
    expect(list).toContainEqual({ scope: 'org', cycle_acu_limit: maximum, org_id: `org-${id}`, user_id: null });
    const { v1Key } = await makeUser(app, id);
    for (const made of [
      await start(id, { max_acu_limit: maximum }),
      await call(app, v1Key, 'POST', '/v1/sessions', { prompt: 'x', max_acu_limit: maximum }),
    ]) {
      expect(made.status).toBe(200);
      const sessionId = made.body.session_id.replace('devin-', '');
      expect(await limitOf(sessionId)).toBe(maximum);
      const { data, errors } = await graphql(
        app,
        app.adminToken,
        'query ($id: ID!) { session(id: $id) { maxAcuLimit organization { maxCycleAcuLimit maxSessionAcuLimit } } }',
        { id: sessionId },
      );
      expect(errors).toBeUndefined();
      const shown = 2_147_483_647;
      expect(data.session).toEqual({
        maxAcuLimit: shown,
        organization: { maxCycleAcuLimit: shown, maxSessionAcuLimit: shown },
      });
    }
    const { status, body } = await start(id, { max_acu_limit: maximum + 1 });
    expect({ status, msg: body.detail[0].msg }).toEqual({
      status: 422,
      msg: `"max_acu_limit" must be at most ${maximum}.`,
    });
    expect((await admin('PATCH', `${organizations}/${id}`, { max_cycle_acu_limit: maximum + 1 })).status).toBe(422);
  });

  test('does not affect earlier creations under the same key', async () => {
    const id = await makeOrganization(app, 'Lowered');
    const keyed = () =>
      call(
        app,
        app.adminToken,
        'POST',
        `/v3/organizations/${id}/sessions`,
        { prompt: 'x', max_acu_limit: 9 },
        { 'idempotency-key': 'before-it-was-lowered' },
      );
    const made = (await keyed()).body.session_id;
    await admin('PATCH', `${organizations}/${id}`, { max_session_acu_limit: 2 });
    expect(await keyed()).toMatchObject({ status: 200, body: { session_id: made } });
  });
});

describe('/v3/enterprise/consumption/acu-limits/devin', () => {
  const limits = '/v3/enterprise/consumption/acu-limits/devin';
  const of = (id: string) => `${limits}/organizations/org-${id}`;

  test('PUT and DELETE answer 204 without a body, and set the organization’s own limit', async () => {
    const id = await makeOrganization(app, 'Limited');
    for (const cycle of [7, 7, 0]) {
      expect(await admin('PUT', of(id), { cycle_acu_limit: cycle })).toMatchObject({ status: 204, body: null });
      expect((await admin('GET', `${organizations}/${id}`)).body.max_cycle_acu_limit).toBe(cycle);
    }
    const mine = async () =>
      (await admin('GET', `${limits}?first=200`)).body.items.filter((item: any) => item.org_id === `org-${id}`);
    expect(await mine()).toEqual([{ scope: 'org', cycle_acu_limit: 0, org_id: `org-${id}`, user_id: null }]);
    for (let time = 0; time < 2; time++) {
      expect(await admin('DELETE', of(id))).toMatchObject({ status: 204, body: null });
      expect((await admin('GET', `${organizations}/${id}`)).body.max_cycle_acu_limit).toBeNull();
    }
    expect(await mine()).toEqual([]);
    expect(await audited(id, 'update_org')).toHaveLength(3);
  });

  test('GET pages return the organizations with a limit, newest first', async () => {
    const ids: string[] = [];
    for (let n = 1; n <= 3; n++) {
      const id = await makeOrganization(app, `Limited ${n}`);
      await admin('PUT', of(id), { cycle_acu_limit: n });
      await makeOrganization(app, 'Free');
      ids.unshift(`org-${id}`);
    }
    const seen: string[] = [];
    let query = '?first=2';
    for (;;) {
      const { body } = await admin('GET', limits + query);
      seen.push(...body.items.map((item: { org_id: string }) => item.org_id));
      if (!body.has_next_page) break;
      query = `?first=2&after=${body.end_cursor}`;
    }
    expect(seen.slice(0, 3)).toEqual(ids);
    expect(new Set(seen).size).toBe(seen.length);
    const cursor = (await admin('GET', `${organizations}?first=1`)).body.end_cursor;
    expect((await admin('GET', `${limits}?after=${cursor}`)).status).toBe(422);
  });

  test('422 for an invalid limit, 404 for an unknown organization, 403 without ManageBilling', async () => {
    for (const body of [{}, { cycle_acu_limit: -1 }, { cycle_acu_limit: 1.5 }, { cycle_acu_limit: null }]) {
      const refused = await admin('PUT', of(app.organizationId), body);
      expect({ status: refused.status, loc: refused.body.detail[0].loc }).toEqual({
        status: 422,
        loc: ['body', 'cycle_acu_limit'],
      });
    }
    expect((await admin('PUT', of('0'.repeat(32)), { cycle_acu_limit: 1 })).status).toBe(404);
    expect((await admin('DELETE', of('0'.repeat(32)))).status).toBe(404);
    const { token } = await makeServiceUser(app, { roleId: 'account_member' });
    for (const [method, path] of [
      ['GET', limits],
      ['PUT', of(app.organizationId)],
      ['DELETE', of(app.organizationId)],
    ] as const) {
      const refused = await call(app, token, method, path, method === 'PUT' ? { cycle_acu_limit: 1 } : undefined);
      expect(refused).toMatchObject({ status: 403, body: { detail: 'Missing permission ManageBilling' } });
    }
  });
});
