import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import type { RequestView } from '../../src/http/request-view.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { connectRaw } from '../support/raw-http.ts';
import { makeOrganization } from '../support/sessions.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startApp();
});
afterAll(() => test.close());

const upgrade = (path: string) =>
  `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n` +
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n';

it('ignores an unknown upgrade, as Java sends it with every request', async () => {
  const { port, hostname } = new URL(test.url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  const body = JSON.stringify({ prompt: 'say hello' });
  const ask = (method: string, path: string, more: string) =>
    `${method} ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${test.v1Key}\r\nConnection: Upgrade, HTTP2-Settings\r\n` +
    `Upgrade: h2c\r\nHTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA\r\n${more}\r\n`;
  let answers = '';
  socket.setEncoding('utf8').on('data', (text: string) => {
    answers += text;
    socket.emit('answer');
  });
  const waitFor = async (pattern: RegExp) => {
    while (!pattern.test(answers)) await once(socket, 'answer');
  };
  socket.write(
    ask('POST', '/v1/sessions', `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`) + body,
  );
  await waitFor(/HTTP\/1.1 200 OK[\s\S]*"session_id":"devin-/);
  socket.write(ask('GET', '/v1/sessions', ''));
  await waitFor(/"sessions":\[\{/);
  socket.destroy();
});

// An error on a socket that nobody listens to ends the process, here: the test run.
it.each([
  ['while a socket is refused', upgrade('/nowhere')],
  ['while a socket is opened', upgrade('/graphql')],
  ['with an address that is none', upgrade('//')],
  ['with half an address', upgrade('http://[')],
  ['in the middle of a body', 'POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\nabc'],
  ['in the middle of a v1 body', 'POST /v1/sessions HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n{"pro'],
])('survives clients that disconnect %s', async (_when, bytes) => {
  const { port, hostname } = new URL(test.url);
  for (let n = 0; n < 20; n++) {
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    socket.write(bytes);
    // A different moment each time, from before the first byte is read until after the response.
    for (let turns = 0; turns < n; turns++) await new Promise((resolve) => setImmediate(resolve));
    socket.resetAndDestroy();
  }
  expect(await (await fetch(`${test.url}/readyz`)).text()).toBe('ready\n');
});

/**
 * Until the end of the test: the errors that the service logs, its requests, and the number of those that it finished.
 */
function watchService() {
  const errors: string[] = [];
  const requests: RequestView[] = [];
  let done = 0;
  const { app } = test;
  const { log } = app.services;
  const { error } = log;
  const { respond } = app;
  onTestFinished(() => {
    log.error = error;
    app.respond = respond;
  });
  log.error = (fields, message) => errors.push(`${message} ${String((fields as { err?: unknown }).err)}`);
  app.respond = (request) => {
    requests.push(request);
    return respond(request).finally(() => {
      done += 1;
    });
  };
  return { errors, requests, waitForDone: (count: number) => expect.poll(() => done, { interval: 10 }).toBe(count) };
}

const post = (path: string, token: string, more: readonly string[]) =>
  [`POST ${path} HTTP/1.1`, 'Host: x', `Authorization: Bearer ${token}`, ...more, '', ''].join('\r\n');

it.each([
  ['GraphQL', '/graphql', 'application/json', '{"query":'],
  ['a GraphQL event stream', '/graphql', 'application/json\r\nAccept: text/event-stream', '{"query":'],
  ['GraphQL at its other address', '/graphql/stream', 'application/json', '{"query":'],
  ['v1', '/v1/sessions', 'application/json', '{"prompt":'],
  ['v3', '/v3/organizations/ORG/sessions', 'application/json', '{"prompt":'],
  ['an upload', '/v1/attachments', 'multipart/form-data; boundary=b', '--b\r\nContent-Disposition: form-data; na'],
])('logs no error when a client disconnects during a body: %s', async (_what, path, type, start) => {
  const token = path.startsWith('/v1') ? test.v1Key : test.adminToken;
  const { errors, waitForDone } = watchService();
  let sent = 0;
  for (const [framing, body] of [
    ['Content-Length: 100000', start],
    ['Transfer-Encoding: chunked', `${start.length.toString(16)}\r\n${start}\r\n`],
  ] as const) {
    for (const leave of ['destroy', 'resetAndDestroy'] as const) {
      const wire = connectRaw(Number(new URL(test.url).port));
      const target = path.replace('ORG', test.organizationId);
      // The server says "Continue" when it has the headers.
      wire.send(post(target, token, [`Content-Type: ${type}`, framing, 'Expect: 100-continue']));
      await wire.waitFor(/^HTTP\/1\.1 100 Continue/);
      wire.send(body);
      wire.socket[leave]();
      sent += 1;
      await waitForDone(sent);
    }
  }
  expect(errors).toEqual([]);
});

it('logs no error when a client disconnects before the response, and completes the operation', async () => {
  const { store, limits } = test.app.services;
  const { organizationId } = await makeOrganization(test, 'Before');
  const { errors, requests, waitForDone } = watchService();
  const { spend } = limits.graphql;
  onTestFinished(() => {
    limits.graphql.spend = spend;
  });
  // Holds the operation after it was read and before it runs.
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const isCharged = new Promise<void>((resolve) => {
    limits.graphql.spend = async (...args) => {
      resolve();
      await released;
      return spend(...args);
    };
  });
  const query = `mutation { updateOrganization(input: { organizationId: "${organizationId}", name: "After" }) { organization { name } } }`;
  const body = JSON.stringify({ query });
  const wire = connectRaw(Number(new URL(test.url).port));
  wire.send(
    post('/graphql', test.adminToken, ['Content-Type: application/json', `Content-Length: ${body.length}`]) + body,
  );
  await isCharged;
  wire.socket.resetAndDestroy();
  await expect.poll(() => requests[0]?.signal.aborted).toBe(true);
  release();
  await waitForDone(1);
  const read = async () =>
    (await store.query<{ name: string }>(`select name from organization where name = 'After'`))[0];
  await expect.poll(read).toEqual({ name: 'After' });
  expect(errors).toEqual([]);
});

// Invalid hosts: a number that is no IPv4 address, invalid Unicode, an invalid port, or invalid characters.
const noHosts = [
  '256.1.1.1',
  '1.2.3.4.5',
  '08.1.1.1',
  '1.1.1.256',
  '4294967296',
  'shop.1',
  'shop.0x1',
  'a.1.',
  'xn--a',
  'a.xn--zz',
  'localhost:',
  'localhost:99999',
  '127.0.0.1:70000',
  'a:b',
  ':80',
  '[x]',
  'a b',
  'a/b',
  'user@host',
  'a?b',
  'a%41',
  'a<b',
];

it.each(noHosts)('refuses every request to the host "%s" with a message', async (host) => {
  const { port, hostname } = new URL(test.url);
  const path = `/v3/organizations/${test.organizationId}/sessions`;
  await fetch(`${test.url}${path}`, { headers: { authorization: `Bearer ${test.adminToken}` } });
  const body = JSON.stringify({ prompt: 'say hello' });
  const requests: [method: string, path: string][] = [
    ...['/', '/healthz', '/graphql', '/v1/sessions', path, `${path}/`].map((each): [string, string] => ['GET', each]),
    ...['/graphql', '/v1/sessions', path, `${path}/`].map((each): [string, string] => ['POST', each]),
  ];
  for (const [method, each] of requests) {
    const socket = connect(Number(port), hostname);
    const length = method === 'POST' ? `content-type: application/json\r\ncontent-length: ${body.length}\r\n` : '';
    socket.write(
      `${method} ${each} HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${test.adminToken}\r\nconnection: close\r\n` +
        `${length}\r\n${length === '' ? '' : body}`,
    );
    const chunks: Buffer[] = [];
    for await (const chunk of socket) chunks.push(chunk as Buffer);
    const [head = '', responseBody = ''] = Buffer.concat(chunks).toString().split('\r\n\r\n');
    expect({ method, each, status: head.split('\r\n')[0] }).toEqual({
      method,
      each,
      status: 'HTTP/1.1 400 Bad Request',
    });
    expect(JSON.parse(responseBody).detail).toContain('"Host" must be a host');
  }
});

it.each([
  'localhost',
  'LOCALHOST:80',
  '127.0.0.1:8080',
  '1.1',
  '[::1]',
  '[::1]:8080',
  'a_b.example',
  'a..b',
  'example.',
  'localhost:65535',
])('accepts a request to the host "%s"', async (host) => {
  const { port, hostname } = new URL(test.url);
  const path = `/v3/organizations/${test.organizationId}/sessions`;
  for (const each of ['/healthz', path, `${path}/`]) {
    const socket = connect(Number(port), hostname);
    const token = `authorization: Bearer ${test.adminToken}\r\n`;
    socket.write(`GET ${each} HTTP/1.1\r\nhost: ${host}\r\n${token}connection: close\r\n\r\n`);
    const chunks: Buffer[] = [];
    for await (const chunk of socket) chunks.push(chunk as Buffer);
    expect(Buffer.concat(chunks).toString().split('\r\n')[0]).toBe('HTTP/1.1 200 OK');
  }
});
