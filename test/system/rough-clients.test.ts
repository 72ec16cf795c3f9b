import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';

let test: TestApp;
beforeAll(async () => {
  test = await startApp();
});
afterAll(() => test.close());

const upgrade = (path: string) =>
  `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n` +
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n';

it('ignores a wish to upgrade that it does not know, as Java sends it with every request', async () => {
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
  const until = async (pattern: RegExp) => {
    while (!pattern.test(answers)) await once(socket, 'answer');
  };
  socket.write(
    ask('POST', '/v1/sessions', `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`) + body,
  );
  await until(/HTTP\/1.1 200 OK[\s\S]*"session_id":"devin-/);
  socket.write(ask('GET', '/v1/sessions', ''));
  await until(/"sessions":\[\{/);
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
])('lives on when clients are torn away %s', async (_when, bytes) => {
  const { port, hostname } = new URL(test.url);
  for (let n = 0; n < 20; n++) {
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    socket.write(bytes);
    // A different moment each time, from before the first byte is read to after the answer.
    for (let turns = 0; turns < n; turns++) await new Promise((resolve) => setImmediate(resolve));
    socket.resetAndDestroy();
  }
  expect(await (await fetch(`${test.url}/readyz`)).text()).toBe('ready\n');
});
