import { expect, test } from 'vitest';
import { useApp } from '../support/use-app.ts';
import { call, makeOrganization, makeServiceKey, makeUser } from './rest-app.ts';

const app = useApp();

const terminate = (id: string, key: string | null = app.v1Key, path: string = '/v1/sessions') =>
  call(app, key, 'DELETE', `${path}/${id}`);

async function makeSession(key: string = app.v1Key): Promise<string> {
  return (await call(app, key, 'POST', '/v1/sessions', { prompt: 'say hello' })).body.session_id;
}

test.each(['/v1/sessions', '/v1/session'])('200: DELETE %s/{id} ends a session, once', async (path) => {
  const id = await makeSession();
  const first = await terminate(id, app.v1Key, path);
  expect({ status: first.status, body: first.body }).toEqual({
    status: 200,
    body: { detail: 'Session terminated successfully' },
  });
  const { body } = await call(app, app.v1Key, 'GET', `/v1/sessions/${id}`);
  expect(body).toMatchObject({ status: 'exit', status_enum: 'finished' });
  const second = await terminate(id, app.v1Key, path);
  expect({ status: second.status, body: second.body }).toEqual({
    status: 400,
    body: { detail: 'Devin session already exited' },
  });
});

test('401: without a key', async () => {
  expect((await terminate(await makeSession(), null)).status).toBe(401);
});

test('403: a member without permission for the session', async () => {
  const [one, two] = [await makeUser(app, app.organizationId), await makeUser(app, app.organizationId)];
  const id = await makeSession(one.v1Key);
  const { status, body } = await terminate(id, two.v1Key);
  expect({ status, body }).toEqual({ status: 403, body: { detail: 'Forbidden - Only session owner can terminate' } });
  expect((await call(app, one.v1Key, 'GET', `/v1/sessions/${id}`)).body.status).toBe('new');
});

test('404: an unknown id, and another organization’s session, which continues', async () => {
  const key = await makeServiceKey(app, await makeOrganization(app));
  const id = await makeSession(key);
  expect((await terminate(id)).status).toBe(404);
  expect((await terminate('nonsense')).status).toBe(404);
  expect((await call(app, key, 'GET', `/v1/sessions/${id}`)).body.status).toBe('new');
});
