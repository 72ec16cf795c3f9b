import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { connectRaw } from '../support/raw-http.ts';
import { rawSocket } from '../support/sockets.ts';

let test: TestApp;
beforeEach(async () => {
  test = await startApp({ maxConnections: 4, maxConnectionsPerAddress: 3 });
});
afterEach(() => test.close());

const port = () => Number(new URL(test.url).port);
const get = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n';

/** Opens a connection that gets an answer and stays open. */
async function openAnswered() {
  const wire = connectRaw(port());
  wire.send(get);
  await wire.waitFor(/200 OK[\s\S]*ok\n$/);
  return wire;
}

async function openSocket() {
  const socket = rawSocket(test.url);
  await once(socket, 'open');
  return socket;
}

/** Sends a request on a separate connection; resolves with the response when the connection has closed. */
async function ask(localAddress = '127.0.0.1'): Promise<string> {
  const socket = connect({ port: port(), host: '127.0.0.1', localAddress });
  onTestFinished(() => void socket.destroy());
  socket.write(get.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'));
  let text = '';
  for await (const chunk of socket) text += chunk;
  return text;
}

it('answers 503 beyond an address’ limit of connections, and serves the open ones and other addresses', async () => {
  const socket = await openSocket();
  const [first, second] = [await openAnswered(), await openAnswered()];
  const refused = await ask();
  expect(refused).toMatch(/^HTTP\/1\.1 503 Service Unavailable\r\n[\s\S]*Retry-After: 5\r\nConnection: close\r\n/);
  expect(await ask('127.0.0.2')).toContain('200 OK');
  first.send(get);
  await first.waitFor(/(200 OK[\s\S]*){2}ok\n$/);
  second.send(get);
  await second.waitFor(/(200 OK[\s\S]*){2}ok\n$/);
  socket.ping();
  await once(socket, 'pong');
});

it.each(['a WebSocket', 'a connection'])('frees the slot when %s has closed', async (what) => {
  const socket = await openSocket();
  const wire = await openAnswered();
  await openAnswered();
  expect(await ask()).toContain('503');
  if (what === 'a WebSocket') socket.terminate();
  else wire.socket.destroy();
  await expect.poll(() => ask()).toContain('200 OK');
});

it('counts WebSockets of all addresses', async () => {
  await openSocket();
  await openSocket();
  await openSocket();
  const other = connect({ port: port(), host: '127.0.0.1', localAddress: '127.0.0.2' });
  onTestFinished(() => void other.destroy());
  other.write(get);
  await once(other, 'data');
  expect(await ask('127.0.0.3')).toContain('503');
});
