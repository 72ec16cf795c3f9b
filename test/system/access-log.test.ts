import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { call, graphql, startApp, type TestApp } from '../support/app.ts';
import { openStream } from '../support/event-stream.ts';
import { createSession } from '../support/sessions.ts';

let test: TestApp;
const lines: { level: string; fields: any; message: string }[] = [];
const write = (level: string) => (fields: object, message: string) => void lines.push({ level, fields, message });

beforeAll(async () => {
  const log = { debug: () => undefined, info: write('info'), warn: write('warn'), error: write('error') };
  test = await startApp({ hasAccessLog: true }, { log });
});
beforeEach(() => void lines.splice(0));
afterAll(() => test?.close());

/** Waits for the line of a request: it is written after the client has the response. */
const lineOf = (requestId: string | null) =>
  vi.waitUntil(() => lines.find(({ fields, message }) => message === 'request' && fields.requestId === requestId));

it('has a line with the caller for each request, and neither query nor token', async () => {
  const { headers, status } = await call(test, test.v1Key, 'GET', '/v1/sessions?limit=1&tags=c4n4ry', undefined, {
    'user-agent': 'script/1',
  });
  const requestId = headers.get('x-request-id');
  expect((await lineOf(requestId)).fields).toEqual({
    requestId,
    method: 'GET',
    path: '/v1/sessions',
    status,
    durationMs: expect.any(Number),
    responseBytes: expect.any(Number),
    address: expect.stringContaining('127.0.0.1'),
    principalId: expect.stringMatching(/^[0-9a-f]{32}$/),
    userAgent: 'script/1',
    isAborted: false,
  });
  expect((await lineOf(requestId)).fields.responseBytes).toBeGreaterThan(100);
  expect(JSON.stringify(lines)).not.toMatch(/c4n4ry|apk_|cog_/);
});

it('names the caller of GraphQL, and none for a wrong token', async () => {
  const known = { 'x-request-id': 'known' };
  await graphql(test, test.adminToken, '{ __typename }', {}, known);
  expect((await lineOf('known')).fields.principalId).toMatch(/^[0-9a-f]{32}$/);
  const refused = { 'x-request-id': 'refused', 'user-agent': 'x'.repeat(9_000) };
  await call(test, 'cog_wrong', 'GET', '/v3/self', undefined, refused);
  const { fields } = await lineOf('refused');
  expect(fields).toMatchObject({ status: 401, principalId: null });
  expect(fields.userAgent).toHaveLength(500);
});

it('takes the id of a request from a proxy, and no other text', async () => {
  for (const path of ['/healthz', '/v3/self', '/graphql', '/nothing', '/v1/../x']) {
    const { headers } = await call(test, null, 'GET', path, undefined, { 'x-request-id': 'Root=1-abc' }).catch(() =>
      fetch(test.url + path, { headers: { 'x-request-id': 'Root=1-abc' } }),
    );
    expect(headers.get('x-request-id'), path).toBe('Root=1-abc');
  }
  const { headers } = await call(test, null, 'GET', '/v3/self', undefined, { 'x-request-id': 'a"b {}' });
  expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
});

it('has the line of a stream when the client has left', async () => {
  const id = await createSession(test);
  const query = 'subscription($id: ID!) { sessionMessages(sessionId: $id) { cursor } }';
  const stream = await openStream(test.url, test.adminToken, query, { id }, { 'x-request-id': 'stream' });
  await stream.take(1);
  expect(lines.filter(({ fields }) => fields.requestId === 'stream')).toEqual([]);
  stream.abort();
  expect((await lineOf('stream')).fields).toMatchObject({ status: 200, isAborted: true });
});

it('names unexpected errors in the response and in the log', async () => {
  const { store } = test.app.services;
  await store.execute('alter table session rename to c4n4ry');
  const rest = await call(test, test.v1Key, 'GET', '/v1/sessions');
  const query = '{ organizations { nodes { sessions { nodes { title } } } } }';
  const { errors } = await graphql(test, test.adminToken, query);
  await store.execute('alter table c4n4ry rename to session');
  expect(rest.status).toBe(500);
  expect(JSON.stringify([rest.body, errors])).not.toContain('c4n4ry');
  const failed = lines.filter(({ level }) => level === 'error').map(({ fields }) => fields);
  expect(failed.map(({ requestId }) => requestId)).toContain(rest.headers.get('x-request-id'));
  expect(errors).toMatchObject([{ extensions: { code: 'INTERNAL_SERVER_ERROR' } }]);
  expect(failed.map(({ errorId }) => errorId)).toContain(errors?.[0].extensions.errorId);
});
