import { once } from 'node:events';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { openStream } from '../support/event-stream.ts';
import { connectRaw } from '../support/raw-http.ts';
import { createSession, say } from '../support/sessions.ts';
import { rawSocket } from '../support/sockets.ts';

let test: TestApp;
beforeAll(async () => {
  const requestTimes = { headersMs: 500, bodyWindowMs: 500, minBodyBytes: 8_192, checkMs: 20 };
  test = await startApp({}, { requestTimes });
});
afterAll(() => test.close());

/** Opens a connection and sends this data; resolves with everything received when the service has closed it. */
const send = (text: string) => {
  const wire = connectRaw(Number(new URL(test.url).port));
  wire.send(text);
  return wire.closed;
};

it.each([
  ['nothing', ''],
  ['half a request line', 'POST /gra'],
  ['half of the headers', 'POST /graphql HTTP/1.1\r\nHost: x\r\nAuthor'],
])('closes a connection that sends %s', async (_what, text) => {
  expect(await send(text)).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\nConnection: close\r\n/);
});

it.each([
  ['GraphQL', 'POST /graphql', 'application/json', '{"query":'],
  ['GraphQL over SSE', 'POST /graphql/stream', 'application/json', '{"query":'],
  ['v1 JSON', 'POST /v1/sessions', 'application/json', '{"prompt":'],
  ['v3 JSON', 'POST /v3/organizations/ORG/sessions', 'application/json', '{"prompt":'],
  [
    'an upload',
    'POST /v1/attachments',
    'multipart/form-data; boundary=b',
    '--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nhalf of ',
  ],
])('ends a request with a slow body: %s', async (_what, line, type, start) => {
  const head =
    `${line.replace('ORG', test.organizationId)} HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${type}\r\n` +
    `Authorization: Bearer ${line.includes('/v1') ? test.v1Key : test.adminToken}\r\n`;
  for (const framed of [
    `Content-Length: 100000\r\n\r\n${start}`,
    `Transfer-Encoding: chunked\r\n\r\n${start.length.toString(16)}\r\n${start}\r\n`,
  ]) {
    const answer = await send(head + framed);
    expect(answer).toMatch(/^HTTP\/1\.1 408 [\s\S]*Connection: close\r\n[\s\S]*The body arrived too slowly/);
    expect(answer.match(/HTTP\/1\.1/g)).toHaveLength(1);
  }
});

it('keeps WebSockets and event streams open', async () => {
  const id = await createSession(test);
  const query = 'subscription($id: ID!) { sessionMessages(sessionId: $id) { node { body } } }';
  const stream = await openStream(test.url, test.adminToken, query, { id });
  await stream.take(1);
  const socket = rawSocket(test.url);
  await once(socket, 'open');
  // A request that starts later is ended, so their time would be over too.
  const head = `POST /graphql HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${test.adminToken}\r\n`;
  expect(await send(`${head}Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{`)).toContain('408');
  socket.ping();
  await once(socket, 'pong');
  await say(test, id, 'still here');
  expect(JSON.stringify(await stream.take(1))).toContain('still here');
});
