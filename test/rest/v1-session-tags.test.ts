import { describe, expect, test } from 'vitest';
import { useApp } from '../support/use-app.ts';
import { call, makeOrganization, makeServiceKey, makeUser } from './rest-app.ts';

const app = useApp();

async function oneSession(body: object = {}) {
  const key = await makeServiceKey(app, await makeOrganization(app));
  const made = await call(app, key, 'POST', '/v1/sessions', { prompt: 'x', ...body });
  const id: string = made.body.session_id;
  const put = (sent: unknown, path: string = `/v1/sessions/${id}/tags`) => call(app, key, 'PUT', path, sent);
  const tags = async () => (await call(app, key, 'GET', `/v1/sessions/${id}`)).body.tags;
  return { key, id, put, tags };
}

test.each(['/v1/sessions', '/v1/session'])('200: PUT %s/{id}/tags replaces the tags', async (collection) => {
  const { id, put, tags } = await oneSession({ tags: ['old'] });
  const bare = id.replace('devin-', '');
  const { status, body } = await put({ tags: ['b', 'a', 'b'] }, `${collection}/${bare}/tags`);
  expect({ status, body }).toEqual({ status: 200, body: { detail: 'Tags updated successfully' } });
  expect(await tags()).toEqual(['b', 'a']);
  expect((await put({ tags: [] }, `${collection}/devin-${id}/tags`)).status).toBe(200);
  expect(await tags()).toEqual([]);
});

describe('a refusal changes nothing', () => {
  test.each([
    [{}, 422],
    [{ tags: null }, 422],
    [{ tags: 'a' }, 422],
    [{ tags: [1] }, 422],
    [{ tags: [''] }, 422],
    [{ tags: Array.from({ length: 51 }, (_, n) => `${n}`) }, 422],
  ])('%j: %i', async (body, status) => {
    const { put, tags } = await oneSession({ tags: ['kept'] });
    const answer = await put(body);
    expect(answer.status).toBe(status);
    expect(answer.body.detail[0].loc.slice(0, 2)).toEqual(['body', 'tags']);
    expect(await tags()).toEqual(['kept']);
  });

  test('401, 403 for another member’s session, 404 for another organization’s', async () => {
    const { id, put, tags } = await oneSession({ tags: ['kept'] });
    expect((await call(app, null, 'PUT', `/v1/sessions/${id}/tags`, { tags: [] })).status).toBe(401);
    expect(await call(app, app.v1Key, 'PUT', `/v1/sessions/${id}/tags`, { tags: [] })).toMatchObject({
      status: 404,
      body: { detail: 'The requested resource does not exist' },
    });
    expect((await put({ tags: [] }, '/v1/sessions/devin-nonsense/tags')).status).toBe(404);
    const organizationId = await makeOrganization(app);
    const [one, two] = [await makeUser(app, organizationId), await makeUser(app, organizationId)];
    const { session_id } = (await call(app, one.v1Key, 'POST', '/v1/sessions', { prompt: 'x' })).body;
    expect(await call(app, two.v1Key, 'PUT', `/v1/sessions/${session_id}/tags`, { tags: [] })).toMatchObject({
      status: 403,
      body: { detail: 'You do not have permission to access this resource' },
    });
    expect(await tags()).toEqual(['kept']);
  });
});

describe('other paths of the same routes', () => {
  test('DELETE /sessions/{id}, without the version: only that method', async () => {
    const { key, id } = await oneSession();
    const ended = await call(app, key, 'DELETE', `/sessions/${id}`);
    expect({ status: ended.status, body: ended.body }).toEqual({
      status: 200,
      body: { detail: 'Session terminated successfully' },
    });
    expect((await call(app, key, 'DELETE', `/sessions/${id}`)).status).toBe(400);
    expect((await call(app, key, 'GET', `/sessions/${id}`)).status).toBe(404);
  });

  test('/v1/session for the collection, one session and its messages', async () => {
    const { key, id } = await oneSession();
    const bare = id.replace('devin-', '');
    expect((await call(app, key, 'POST', '/v1/session', { prompt: 'y' })).body.session_id).toMatch(/^devin-/);
    expect((await call(app, key, 'GET', '/v1/session?limit=1&offset=1')).body.sessions).toMatchObject([
      { session_id: id },
    ]);
    expect((await call(app, key, 'GET', `/v1/session/${bare}`)).body).toMatchObject({ session_id: id });
    const sent = await call(app, key, 'POST', `/v1/session/${bare}/message`, { message: 'hi' });
    expect({ status: sent.status, body: sent.body }).toEqual({ status: 200, body: null });
  });
});
