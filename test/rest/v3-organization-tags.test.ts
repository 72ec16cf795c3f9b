import { describe, expect, test } from 'vitest';
import { useApp } from '../support/use-app.ts';
import { call, makeOrganization, makeServiceKey, makeServiceUser } from './rest-app.ts';

const app = useApp();

/** A separate organization, with functions that request its tags and its sessions. */
async function organization() {
  const organizationId = await makeOrganization(app);
  const tags = (method: string, rest: string = '', body?: object, token: string = app.adminToken) =>
    call(app, token, method, `/v3/enterprise/organizations/org-${organizationId}/tags${rest}`, body);
  const sessions = `/v3/organizations/org-${organizationId}/sessions`;
  const start = (body: object = {}) => call(app, app.adminToken, 'POST', sessions, { prompt: 'x', ...body });
  return { organizationId, tags, sessions, start };
}

describe('allowed tags', () => {
  test('are set, extended, reduced and cleared; stored sorted, without duplicates', async () => {
    const { organizationId, tags } = await organization();
    expect(await tags('GET')).toMatchObject({ status: 200, body: { tags: [] } });
    expect((await tags('PUT', '', { tags: ['b', 'a', 'b'] })).body).toEqual({ tags: ['a', 'b'] });
    expect((await tags('POST', '', { tags: ['c/d é', 'a'] })).body).toEqual({ tags: ['a', 'b', 'c/d é'] });
    expect((await tags('GET')).body).toEqual({ tags: ['a', 'b', 'c/d é'] });
    expect((await tags('DELETE', `/${encodeURIComponent('c/d é')}`)).body).toEqual({ tags: ['a', 'b'] });
    expect(await tags('DELETE', '/c')).toMatchObject({ status: 404, body: { detail: 'There is no such tag.' } });
    expect((await tags('DELETE')).body).toEqual({ tags: [] });
    const entries = await app.app.services.store.query(
      `select action, data from audit_entry where organization_id = $1 and action = 'update_org_settings' order by created_at, id`,
      [organizationId],
    );
    expect(entries).toHaveLength(4);
    expect(entries[0]).toMatchObject({ data: { allowedTags: 2, defaultTag: null } });
  });

  test('keep all tags of concurrent additions', async () => {
    const { tags } = await organization();
    const names = Array.from({ length: 10 }, (_, n) => `tag ${n}`);
    await Promise.all(names.map((name) => tags('POST', '', { tags: [name] })));
    expect((await tags('GET')).body.tags).toEqual(names);
  });

  test('limit the tags of sessions: 400 names the disallowed one in both versions, and nothing is written', async () => {
    const { organizationId, tags, sessions, start } = await organization();
    await tags('PUT', '', { tags: ['red', 'green'] });
    const refusal = '"tags" must be among the organization’s allowed tags, but "blue" is not.';
    expect(await start({ tags: ['red', 'blue'] })).toMatchObject({ status: 400, body: { detail: refusal } });
    const v1 = await makeServiceKey(app, organizationId);
    expect(await call(app, v1, 'POST', '/v1/sessions', { prompt: 'x', tags: ['blue'] })).toMatchObject({
      status: 400,
      body: { detail: refusal },
    });
    expect((await call(app, app.adminToken, 'GET', sessions)).body.items).toEqual([]);
    const { session_id: id } = (await start({ tags: ['red'] })).body;
    for (const method of ['POST', 'PUT']) {
      const edit = await call(app, app.adminToken, method, `${sessions}/${id}/tags`, { tags: ['blue'] });
      expect(edit).toMatchObject({ status: 400, body: { detail: refusal } });
    }
    const edit = await call(app, v1, 'PUT', `/v1/sessions/${id}/tags`, { tags: ['blue'] });
    expect(edit).toMatchObject({ status: 400, body: { detail: refusal } });
    expect((await call(app, app.adminToken, 'GET', `${sessions}/${id}/tags`)).body).toEqual({ tags: ['red'] });
    // A session keeps its tags when they are no longer allowed.
    await tags('PUT', '', { tags: ['green'] });
    const added = await call(app, app.adminToken, 'POST', `${sessions}/${id}/tags`, { tags: ['green'] });
    expect(added.body).toEqual({ tags: ['red', 'green'] });
  });

  test.each([
    [{ tags: [''] }, 422],
    [{ tags: ['x'.repeat(201)] }, 422],
    [{ tags: ['\u0000'] }, 422],
    [{ tags: 'a' }, 422],
    [{}, 422],
    [{ tags: Array.from({ length: 1_001 }, (_, n) => `${n}`) }, 400],
  ])('%j is refused with %i', async (body, status) => {
    const { tags } = await organization();
    await tags('PUT', '', { tags: ['kept'] });
    expect((await tags('PUT', '', body)).status).toBe(status);
    expect((await tags('POST', '', body)).status).toBe(status);
    expect((await tags('GET')).body).toEqual({ tags: ['kept'] });
  });
});

describe('the default tag', () => {
  test('must be allowed, and is given to sessions without tags', async () => {
    const { tags, start } = await organization();
    expect((await tags('GET', '/default')).body).toEqual({ default_tag: null });
    expect(await tags('PUT', '/default', { tag: 'red' })).toMatchObject({
      status: 400,
      body: { detail: '"tag" must be one of the organization’s allowed tags, but "red" is not.' },
    });
    await tags('PUT', '', { tags: ['red', 'green'] });
    expect((await tags('PUT', '/default', { tag: 'red' })).body).toEqual({ default_tag: 'red' });
    expect((await tags('GET', '/default')).body).toEqual({ default_tag: 'red' });
    expect((await start()).body.tags).toEqual(['red']);
    expect((await start({ tags: [] })).body.tags).toEqual(['red']);
    expect((await start({ tags: ['green'] })).body.tags).toEqual(['green']);
    expect((await tags('DELETE', '/default')).body).toEqual({ default_tag: null });
    expect((await start()).body.tags).toEqual([]);
  });

  test('matches a filter by tags like any other', async () => {
    const { tags, sessions, start } = await organization();
    await tags('PUT', '', { tags: ['red'] });
    await tags('PUT', '/default', { tag: 'red' });
    const { session_id: id } = (await start()).body;
    const found = await call(app, app.adminToken, 'GET', `${sessions}?tags=red`);
    expect(found.body.items).toMatchObject([{ session_id: id }]);
  });

  test.each([
    ['PUT', '', { tags: ['green'] }],
    ['DELETE', '/red', undefined],
    ['DELETE', '', undefined],
  ])('is removed when it is no longer allowed: %s /tags%s', async (method, rest, body) => {
    const { tags } = await organization();
    await tags('PUT', '', { tags: ['red', 'green'] });
    await tags('PUT', '/default', { tag: 'red' });
    expect((await tags('POST', '', { tags: ['blue'] })).status).toBe(200);
    expect((await tags('GET', '/default')).body).toEqual({ default_tag: 'red' });
    expect((await tags(method, rest, body)).status).toBe(200);
    expect((await tags('GET', '/default')).body).toEqual({ default_tag: null });
  });
});

test('403 without ManageEnterpriseSettings, also to read; 404 for an unknown organization', async () => {
  const { organizationId, tags } = await organization();
  const administrator = await makeServiceUser(app, { organizationId, roleId: 'org_admin' });
  const calls: [string, string, object?][] = [
    ['GET', ''],
    ['PUT', '', { tags: ['a'] }],
    ['POST', '', { tags: ['a'] }],
    ['DELETE', ''],
    ['DELETE', '/a'],
    ['GET', '/default'],
    ['PUT', '/default', { tag: 'a' }],
    ['DELETE', '/default'],
  ];
  for (const [method, rest, body] of calls) {
    const refused = await tags(method, rest, body, administrator.token);
    expect({ method, rest, status: refused.status, detail: refused.body.detail }).toEqual({
      method,
      rest,
      status: 403,
      detail: 'Missing permission ManageEnterpriseSettings',
    });
    const path = `/v3/enterprise/organizations/org-00000000000000000000000000000000/tags${rest}`;
    expect((await call(app, app.adminToken, method, path, body)).status).toBe(404);
  }
});
