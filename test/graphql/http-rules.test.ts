import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, graphql, startApp, type TestApp } from '../support/app.ts';
import { connectRaw } from '../support/raw-http.ts';
import { transportNames, transports } from '../support/transports.ts';

let test: TestApp;
let closed: TestApp;
beforeAll(async () => {
  test = await startApp();
  closed = await startApp({ isIntrospectable: false, hasExplorer: false });
});
afterAll(async () => {
  await test.close();
  await closed.close();
});

const query = '{ viewer { principalType } }';
const mutation = 'mutation { createSession(input: {prompt: "never"}) { wasReplayed } }';

function post(contentType: string | null, body: string, accept = 'application/json') {
  const headers = { authorization: `Bearer ${test.adminToken}`, accept };
  return fetch(`${test.url}/graphql`, {
    method: 'POST',
    headers: contentType === null ? headers : { ...headers, 'content-type': contentType },
    // Bytes, so that no type is added.
    body: new TextEncoder().encode(body),
  });
}

describe('refuses cross-origin requests without a preflight', () => {
  it.each([
    ['text/plain', JSON.stringify({ query })],
    ['text/plain;application/json', JSON.stringify({ query })],
    ['application/x-www-form-urlencoded', new URLSearchParams({ query }).toString()],
    ['multipart/form-data; boundary=x', `--x\r\nContent-Disposition: form-data; name="query"\r\n\r\n${query}\r\n--x--`],
    ['application/graphql', query],
    [null, JSON.stringify({ query })],
  ])('as %s', async (contentType, body) => {
    for (const accept of ['application/json', 'text/event-stream']) {
      const response = await post(contentType, body, accept);
      expect(response.status).toBe(415);
      expect((await response.json()).errors[0].message).toContain('Content-Type: application/json');
    }
  });

  it('as a mutation in an address', async () => {
    const path = `?query=${encodeURIComponent(mutation)}`;
    const get = await call(test, test.adminToken, 'GET', `/graphql${path}`);
    expect({ status: get.status, allow: get.headers.get('allow') }).toEqual({ status: 405, allow: 'POST' });
    for (const name of ['server-sent events by GET', 'GET'] as const) {
      const { data, errors } = await transports[name](test, test.adminToken, { query: mutation });
      expect({ data, message: errors?.[0]?.message }).toMatchObject({ message: expect.stringContaining('POST') });
    }
    const list = '{ organizations { nodes { sessions { nodes { title } } } } }';
    const { data } = await graphql(test, test.adminToken, list);
    expect(data.organizations.nodes[0].sessions.nodes).not.toContainEqual({ title: 'never' });
  });
});

it('refuses TRACE, which the Fetch API does not know, like any other method', async () => {
  const exchange = async (method: string, path: string, accept: string) => {
    const wire = connectRaw(Number(new URL(test.url).port));
    const headers = [`authorization: Bearer ${test.adminToken}`, `accept: ${accept}`];
    wire.send([`${method} ${path} HTTP/1.1`, 'host: x', ...headers, 'connection: close', '', ''].join('\r\n'));
    return (await wire.closed).replace(/^(?:date|x-request-id):.*\r\n/gim, '');
  };
  expect(await exchange('TRACE', '/graphql', 'application/json')).toMatch(/^HTTP\/1\.1 405 /);
  for (const path of ['/graphql?query={__typename}', '/graphql/stream']) {
    for (const accept of ['application/json', 'text/event-stream', 'multipart/mixed']) {
      expect(await exchange('TRACE', path, accept)).toBe(await exchange('PURGE', path, accept));
    }
  }
});

it('refuses a path of very many slashes at once', async () => {
  const startedAt = process.cpuUsage();
  const { status } = await call(test, null, 'GET', `/graphql${'/'.repeat(60_000)}x`);
  const { user } = process.cpuUsage(startedAt);
  expect(status).toBe(404);
  // A regular expression took 3 s.
  expect(user).toBeLessThan(1_000_000);
});

it.each([[[]], [[{ query }]], [[{ query }, { query }]]])('takes no batch: %j', async (batch) => {
  for (const accept of ['application/json', 'application/graphql-response+json', 'text/event-stream']) {
    const response = await post('application/json', JSON.stringify(batch), accept);
    const text = await response.text();
    expect(response.status).toBe(accept === 'text/event-stream' ? 200 : 400);
    expect(text).toContain('Batching is not supported');
    expect(text).not.toContain('SERVICE_USER');
  }
});

describe.each(transportNames)('without introspection, by %s', (name) => {
  const send = (text: string) => transports[name](closed, closed.adminToken, { query: text });

  it.each(['{ __schema { queryType { name } } }', '{ __type(name: "Query") { name } }'])(
    '%s is refused',
    async (text) => {
      const { data, errors } = await send(text);
      expect(data ?? null).toBeNull();
      expect(errors?.[0]?.message).toContain('introspection has been disabled');
      expect((await transports[name](test, test.adminToken, { query: text })).errors).toBeUndefined();
    },
  );

  it('no error reveals names, and everything else works', async () => {
    const { errors } = await send('{ viewr { principalType } }');
    expect(errors?.[0]?.message).toBe('Cannot query field "viewr" on type "Query".');
    expect((await transports[name](test, test.adminToken, { query: '{ viewr }' })).errors?.[0]?.message).toContain(
      'Did you mean "viewer"',
    );
    expect((await send('{ __typename viewer { __typename principalType } }')).data).toEqual({
      __typename: 'Query',
      viewer: { __typename: 'Viewer', principalType: 'SERVICE_USER' },
    });
  });
});

it('serves no explorer if it is disabled', async () => {
  const response = await fetch(`${closed.url}/graphql`, { headers: { accept: 'text/html,*/*;q=0.8' } });
  expect(response.status).toBe(401);
});
