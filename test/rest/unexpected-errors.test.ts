import { afterEach, beforeEach, expect, test } from 'vitest';
import { createRest, type Rest } from '../../src/api/rest/router.ts';
import type { Log } from '../../src/domain/context.ts';
import { appendEntries } from '../../src/domain/sessions/log.ts';
import { responseOf, viewOf } from '../support/request-views.ts';
import { call, startApp, type TestApp } from './rest-app.ts';

let app: TestApp;
let rest: Rest;
let logged: { fields: { err?: unknown }; message: string }[];
beforeEach(async () => {
  app = await startApp();
  logged = [];
  const nothing = () => undefined;
  const log: Log = {
    debug: nothing,
    info: nothing,
    warn: nothing,
    error: (fields, message) => logged.push({ fields, message }),
  };
  rest = createRest({ ...app.app.services, log }, app.app.watches);
});
afterEach(() => app.close());

async function get(token: string, path: string): Promise<Response> {
  const request = new Request(app.url + path, { headers: { authorization: `Bearer ${token}` } });
  return responseOf(await rest.respond(viewOf(request, null)));
}

const breakTable = (name: string) => app.app.services.store.execute(`alter table ${name} rename to broken_${name}`);

test('v1: 500 hides the cause, and the log has the stack', async () => {
  await breakTable('session');
  const response = await get(app.v1Key, '/v1/sessions');
  expect(response.status).toBe(500);
  expect(response.headers.get('content-type')).toBe('application/json');
  expect(await response.json()).toEqual({ detail: 'Something went wrong' });
  expect(logged).toEqual([
    { fields: expect.objectContaining({ err: expect.any(Error), path: '/v1/sessions' }), message: expect.any(String) },
  ]);
  expect(logged[0]?.fields.err).toHaveProperty('stack', expect.stringMatching(/session/));
});

test('v3: the same as a problem, even if the lookup of the key fails', async () => {
  await breakTable('api_key');
  const response = await get(app.adminToken, '/v3/self');
  expect(response.status).toBe(500);
  expect(response.headers.get('content-type')).toBe('application/problem+json');
  const title = 'Internal Server Error';
  expect(await response.json()).toEqual({
    type: 'about:blank',
    title,
    status: 500,
    detail: 'Something went wrong',
    instance: '/v3/self',
  });
  expect(logged).toHaveLength(1);
});

test('v1: details that fail in the middle end in a broken transfer, not in a truncated response', async () => {
  const { body } = await call(app, app.v1Key, 'POST', '/v1/sessions', { prompt: 'x' });
  const id = body.session_id.replace('devin-', '');
  const entries = Array.from(
    { length: 200 },
    () => ({ kind: 'MESSAGE', messageType: 'agent_message', body: 'x'.repeat(60_000) }) as const,
  );
  await appendEntries(app.app.services.store, id, null, entries, new Date());
  const response = await get(app.v1Key, `/v1/sessions/${id}`);
  expect(response.status).toBe(200);
  if (!response.body) throw new Error('The details have no body.');
  const reader = response.body.getReader();
  await reader.read();
  await breakTable('log_entry');
  const readRest = async () => {
    while (!(await reader.read()).done);
  };
  await expect(readRest()).rejects.toThrow(/log_entry/);
  expect(logged.map(({ message }) => message)).toEqual(['The messages of a session could not be read completely.']);
});
