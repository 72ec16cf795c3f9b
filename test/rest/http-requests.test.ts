import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, it, vi } from 'vitest';
import { connectRaw } from '../support/raw-http.ts';
import { useApp } from '../support/use-app.ts';
import { call, makeOrganization, makeUser } from './rest-app.ts';

const test = useApp({ corsOrigins: ['https://pages.example'] });

/** An organization with a session. */
async function world() {
  const organizationId = await makeOrganization(test);
  const { v1Key, v3Token } = await makeUser(test, organizationId, 'org_admin');
  const home = `/v3/organizations/${organizationId}`;
  const { body } = await call(test, v3Token, 'POST', `${home}/sessions`, { prompt: 'say hello', tags: ['a'] });
  return { home, v1Key, v3Token, sessionId: body.session_id as string };
}

/** Sends a request without a body byte by byte as given; returns its status and its headers, sorted, without the date and the id of the request. */
async function exchange(lines: readonly string[]) {
  const wire = connectRaw(Number(new URL(test.url).port));
  wire.send([...lines, 'connection: close', '', ''].join('\r\n'));
  const [head = '', body = ''] = (await wire.closed).split('\r\n\r\n');
  const [status, ...headers] = head.split('\r\n').filter((line) => !/^(?:date|x-request-id):/i.test(line));
  return { status, headers: headers.toSorted(), body };
}

it('answers the same to every spelling of an address', async () => {
  const { home, v3Token, sessionId } = await world();
  const path = `${home}/sessions/${sessionId}`;
  const send = (target: string, host = '127.0.0.1') =>
    exchange([`GET ${target} HTTP/1.1`, `host: ${host}`, `authorization: Bearer ${v3Token}`]);
  const expected = await send(path);
  expect(expected.status).toBe('HTTP/1.1 200 OK');
  const spellings: [target: string, host?: string][] = [
    [`${path}/`],
    [`${path}?`],
    [`${path}?none="<>'`],
    [path.replace('sessions', 'session%73')],
    [`http://elsewhere.example${path}`],
    [path, 'LOCALHOST:80'],
    [path, '[::1]:3000'],
    [path, 'a_b.example'],
  ];
  for (const [target, host] of spellings) expect([target, await send(target, host)]).toEqual([target, expected]);
});

it('gives HEAD the headers of GET', async () => {
  const { home, v3Token, sessionId } = await world();
  const send = (method: string, more: readonly string[]) =>
    exchange([
      `${method} ${home}/sessions/${sessionId} HTTP/1.1`,
      'host: x',
      `authorization: Bearer ${v3Token}`,
      'origin: https://pages.example',
      ...more,
    ]);
  for (const more of [[], ['if-none-match: *']]) {
    const { status, headers } = await send('GET', more);
    expect(await send('HEAD', more)).toEqual({ status, headers, body: '' });
  }
});

it.each([
  ['no host', ['GET /v3/self HTTP/1.0']],
  ['a host with a path', ['GET /v3/self HTTP/1.1', 'host: x/v3']],
  ['a host with a user', ['GET /v3/self HTTP/1.1', 'host: u@x']],
  ['an invalid host', ['GET /v3/self HTTP/1.1', 'host: 999.1.1.1']],
  ['no path', ['OPTIONS * HTTP/1.1', 'host: x']],
  ['another scheme', ['GET ftp://x/v3/self HTTP/1.1', 'host: x']],
  ['a dot segment', ['GET /v3/./self HTTP/1.1', 'host: x']],
  ['an encoded dot segment', ['GET /v3/%2E%2e/v3/self HTTP/1.1', 'host: x']],
  ['a backslash', ['GET /v3\\self HTTP/1.1', 'host: x']],
  ['a backslash in the query', ['GET /v3/self?a=\\ HTTP/1.1', 'host: x']],
  ['a fragment', ['GET /v3/self#a HTTP/1.1', 'host: x']],
])('refuses an address with %s', async (_what, lines) => {
  const { status, headers, body } = await exchange([...lines, `authorization: Bearer ${test.adminToken}`]);
  expect(status).toBe('HTTP/1.1 400 Bad Request');
  expect(headers).toContain('content-type: application/problem+json');
  expect(JSON.parse(body)).toMatchObject({ title: 'Bad Request', status: 400 });
});

it('survives a connection that ends within its body, and serves the next', async () => {
  const at = await world();
  const path = `${at.home}/sessions/${at.sessionId}/messages`;
  await call(test, at.v3Token, 'GET', path);
  const { hostname, port } = new URL(test.url);
  const head = `POST ${path} HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: Bearer ${at.v3Token}\r\n`;
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  socket.end(`${head}content-length: 1000\r\n\r\n{"message":"half`);
  await once(socket.resume(), 'close');
  const body = '{"message":"whole"}';
  const two = connect(Number(port), hostname);
  const request = `${head}content-length: ${body.length}\r\n`;
  two.write(`${request}\r\n${body}${request}connection: close\r\n\r\n${body}`);
  const chunks: Buffer[] = [];
  for await (const chunk of two) chunks.push(chunk as Buffer);
  expect(
    Buffer.concat(chunks)
      .toString()
      .match(/HTTP\/1.1 200 OK/g),
  ).toHaveLength(2);
  const { items } = (await call(test, at.v3Token, 'GET', path)).body;
  expect(items.map(({ message }: any) => message)).toEqual(['say hello', 'whole', 'whole']);
});

it('accepts a complete request of a client that disconnects after its last byte', async () => {
  const at = await world();
  const path = `${at.home}/sessions/${at.sessionId}/messages`;
  await call(test, at.v3Token, 'GET', path);
  const { hostname, port } = new URL(test.url);
  const sent: string[] = [];
  for (const suffix of ['', '/'])
    for (let n = 0; n < 5; n += 1) {
      const message = `message ${n} of ${suffix} `.padEnd(n * 30_000, '.');
      const body = JSON.stringify({ message });
      const socket = connect(Number(port), hostname);
      // Forces a statement for the key: the client disconnects before the body is read.
      test.app.services.keyCache.invalidate();
      socket.end(
        `POST ${path}${suffix} HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: Bearer ${at.v3Token}\r\n` +
          `content-length: ${body.length}\r\n\r\n${body}`,
      );
      await once(socket.resume(), 'close');
      sent.push(message);
    }
  const summaryOf = (messages: string[]) => messages.map((text) => `${text.slice(0, 20)} ${text.length}`).toSorted();
  await vi.waitFor(async () => {
    const { items } = (await call(test, at.v3Token, 'GET', `${path}?first=100`)).body;
    expect(summaryOf(items.slice(1).map(({ message }: any) => message))).toEqual(summaryOf(sent));
  }, 10_000);
});

it('drops the rest of a body that nobody reads, and serves the next request of the connection', async () => {
  const wire = connectRaw(Number(new URL(test.url).port));
  const post = 'POST /v3/nothing HTTP/1.1\r\nhost: x\r\ncontent-length: 100000\r\n\r\n';
  wire.send(`${post}${'a'.repeat(100_000)}GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
  expect((await wire.closed).match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 404', 'HTTP/1.1 200']);
});

it('closes the connection if the rest of such a body does not come', async () => {
  const wire = connectRaw(Number(new URL(test.url).port));
  wire.send('POST /v3/nothing HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000000\r\n\r\nabc');
  expect((await wire.closed).match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 404']);
  // The limit on slow bodies would close it after 30 s.
}, 240_000);

it('refuses duplicate headers', async () => {
  const { home, v3Token, sessionId } = await world();
  const path = `${home}/sessions/${sessionId}`;
  await call(test, v3Token, 'GET', path);
  const { hostname, port } = new URL(test.url);
  const socket = connect(Number(port), hostname);
  const token = `authorization: Bearer ${v3Token}\r\n`;
  socket.write(`GET ${path} HTTP/1.1\r\nhost: ${hostname}\r\n${token}${token}connection: close\r\n\r\n`);
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  expect(Buffer.concat(chunks).toString().split('\r\n')[0]).toBe('HTTP/1.1 401 Unauthorized');
});
