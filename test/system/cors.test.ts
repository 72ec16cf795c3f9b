import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { call, graphql, startApp, type TestApp } from '../support/app.ts';
import { createSession, say } from '../support/sessions.ts';

const page = 'https://console.example.com';
const apiPaths = [
  '/v1/sessions',
  '/v2/enterprise/audit-logs',
  '/v3/self',
  '/graphql',
  '/openapi/v3.json',
  '/attachments/x/y',
];

const corsOf = (headers: Headers) =>
  Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-')));
const preflight = (test: TestApp, path: string, origin: string, headers: Record<string, string> = {}) =>
  call(test, null, 'OPTIONS', path, undefined, { origin, 'access-control-request-method': 'POST', ...headers });

describe('with a list of origins', () => {
  let test: TestApp;
  beforeAll(async () => {
    test = await startApp({ corsOrigins: [page, 'http://localhost:5173'], rateLimitRest: 100, rateLimitLogin: 5 });
  });
  afterAll(() => test.close());

  it.each(apiPaths)('answers a preflight request for %s without a key', async (path) => {
    const requestedHeaders = 'authorization,content-type,idempotency-key,last-event-id';
    const { status, body, headers } = await preflight(test, path, page, {
      'access-control-request-headers': requestedHeaders,
    });
    expect({ status, body, cors: corsOf(headers) }).toEqual({
      status: 204,
      body: null,
      cors: {
        'access-control-allow-origin': page,
        'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
        'access-control-allow-headers': requestedHeaders,
        'access-control-max-age': '600',
      },
    });
    expect(headers.get('vary')).toBe('Origin, Access-Control-Request-Headers');
  });

  it('lets a page read responses and their headers, never with the browser’s credentials', async () => {
    for (const origin of [page, 'http://localhost:5173']) {
      const { status, headers } = await call(test, test.adminToken, 'GET', '/v3/self', undefined, { origin });
      expect({ status, origin: headers.get('access-control-allow-origin') }).toEqual({ status: 200, origin });
      expect(headers.get('access-control-allow-credentials')).toBe(null);
      expect(headers.get('vary')).toContain('Origin');
      const exposed = headers.get('access-control-expose-headers')?.split(', ') ?? [];
      expect(exposed).toEqual(
        expect.arrayContaining([
          'Deprecation',
          'ETag',
          'Link',
          'Location',
          'RateLimit-Remaining',
          'Retry-After',
          'Sunset',
        ]),
      );
    }
  });

  it('lets a page read a 304', async () => {
    const first = await call(test, test.adminToken, 'GET', '/v3/self', undefined, { origin: page });
    const conditional = { origin: page, 'if-none-match': first.headers.get('etag') ?? '' };
    const { status, headers } = await call(test, test.adminToken, 'GET', '/v3/self', undefined, conditional);
    expect({ status, origin: headers.get('access-control-allow-origin') }).toEqual({ status: 304, origin: page });
  });

  it('lets a page read refusals', async () => {
    const at = (token: string | null, path: string, method = 'GET') =>
      call(test, token, method, path, undefined, { origin: page });
    const answers = [
      await at(null, '/v1/sessions'),
      await at(test.adminToken, '/v3/nothing'),
      await at(test.adminToken, '/v3/self', 'DELETE'),
      await at(test.adminToken, '/v3/organizations/nothing/sessions'),
      await at(null, '/graphql?query={__typename}'),
    ];
    // Five wrong tokens in a minute are enough.
    for (let n = 0; n < 5; n++) await at('cog_wrong', '/v3/self');
    answers.push(await at('cog_wrong', '/v3/self'));
    const { store } = test.app.services;
    await store.execute('alter table session rename to broken_session');
    answers.push(await at(test.adminToken, `/v3/organizations/org-${test.organizationId}/sessions`));
    await store.execute('alter table broken_session rename to session');
    expect(answers.map(({ status }) => status)).toEqual([401, 404, 405, 404, 401, 429, 500]);
    for (const { headers } of answers) expect(headers.get('access-control-allow-origin')).toBe(page);
  });

  it('lets a page read GraphQL responses', async () => {
    const { status, data } = await graphql(test, test.adminToken, '{ __typename }', {}, { origin: page });
    expect({ status, data }).toEqual({ status: 200, data: { __typename: 'Query' } });
    const { headers } = await call(
      test,
      test.adminToken,
      'POST',
      '/graphql',
      { query: '{ __typename }' },
      { origin: page },
    );
    expect(headers.get('access-control-allow-origin')).toBe(page);
  });

  it('lets a page resume a stream', async () => {
    const id = await createSession(test);
    await say(test, id, 'first', 'second');
    const path = `/v3/organizations/${test.organizationId}/sessions/${id}/messages`;
    const { body } = await call(test, test.adminToken, 'GET', `${path}?first=2`);
    const leaving = new AbortController();
    onTestFinished(() => leaving.abort());
    const response = await fetch(test.url + path, {
      headers: {
        authorization: `Bearer ${test.adminToken}`,
        accept: 'text/event-stream',
        origin: page,
        'last-event-id': body.end_cursor,
      },
      signal: leaving.signal,
    });
    expect(response.headers.get('access-control-allow-origin')).toBe(page);
    let text = '';
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      text += new TextDecoder().decode(chunk);
      if (text.includes('data:')) break;
    }
    expect(text).toContain('"message":"second"');
    expect(text).not.toContain('"message":"first"');
  });

  it.each([
    'https://console.example.com.evil.example',
    'http://console.example.com',
    'https://console.example.com:8443',
    'https://CONSOLE.example.com',
    'null',
  ])('a page of %s gets no CORS headers', async (origin) => {
    const response = await preflight(test, '/v3/self', origin);
    expect({ status: response.status, cors: corsOf(response.headers) }).toEqual({ status: 204, cors: {} });
    expect(response.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
    const { headers } = await call(test, test.adminToken, 'GET', '/v3/self', undefined, { origin });
    expect(corsOf(headers)).toEqual({});
    expect(headers.get('vary')).toContain('Origin');
  });

  it('a request without an origin gets Vary: Origin', async () => {
    const { headers } = await call(test, test.adminToken, 'GET', '/v3/self');
    expect({ cors: corsOf(headers), vary: headers.get('vary') }).toEqual({
      cors: {},
      vary: 'Authorization, Accept-Encoding, Origin',
    });
  });
});

it('"*" allows every page with the same headers', async () => {
  const test = await startApp({ corsOrigins: ['*'] });
  onTestFinished(() => test.close());
  for (const origin of [page, 'null', 'http://127.0.0.1:3000']) {
    const response = await preflight(test, '/v3/self', origin);
    expect({ status: response.status, origin: response.headers.get('access-control-allow-origin') }).toEqual({
      status: 204,
      origin: '*',
    });
    const { headers } = await call(test, test.adminToken, 'GET', '/v3/self', undefined, { origin });
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(headers.get('vary')).not.toContain('Origin');
  }
});

it('without a list no page gets CORS headers', async () => {
  const test = await startApp();
  onTestFinished(() => test.close());
  for (const path of apiPaths) {
    const { status, headers } = await preflight(test, path, page);
    expect({ path, status, cors: corsOf(headers) }).toEqual({ path, status: 204, cors: {} });
    const { headers: read } = await call(test, test.adminToken, 'GET', path, undefined, { origin: page });
    expect(corsOf(read)).toEqual({});
    expect(read.get('vary') ?? '').not.toContain('Origin');
  }
});
