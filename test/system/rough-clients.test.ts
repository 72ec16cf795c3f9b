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

// An error on a socket that nobody listens to ends the process, here: the test run.
it.each([
  ['while a socket is refused', upgrade('/nowhere')],
  ['while a socket is opened', upgrade('/graphql')],
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
