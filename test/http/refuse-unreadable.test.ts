import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { headerLimit, refuseUnreadable } from '../../src/http/refuse-unreadable.ts';

type Listener = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

async function serve(listener: Listener = (_, outgoing) => void outgoing.end('answered')) {
  const server = createServer(headerLimit, listener);
  refuseUnreadable(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return () => {
    const socket = connect(port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    return socket;
  };
}

/** Cookies of 4 KiB each, as a browser sends them. */
const cookies = (bytes: number) => {
  const all = Array.from({ length: Math.ceil(bytes / 4_096) }, (_, n) => `c${n}=`.padEnd(4_094, 'x')).join('; ');
  return all.slice(0, bytes);
};
const requestWith = (cookieBytes: number, path = '/') =>
  `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nCookie: ${cookies(cookieBytes)}\r\nAccept: */*\r\n\r\n`;

it('accepts 60 KiB of cookies', async () => {
  const socket = (await serve())();
  socket.write(requestWith(60 * 1_024));
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 [\s\S]*answered$/);
});

it('answers more than 64 KiB with 431, and closes, even if the client continues to send', async () => {
  for (const request of [
    requestWith(66 * 1_024),
    requestWith(700 * 1_024),
    requestWith(0, `/${'a'.repeat(700 * 1_024)}`),
  ]) {
    const socket = (await serve())();
    socket.write(request);
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 431 [\s\S]*Connection: close\r\n\r\nThe address and the headers/);
  }
});

it('deletes cookies that are too large at the second request', async () => {
  const open = await serve();
  const first = open();
  first.write(requestWith(66 * 1_024));
  expect(await text(first)).toMatch(/^HTTP\/1\.1 431 /);
  for (const bytes of [66 * 1_024, 65 * 1_024, 700 * 1_024]) {
    const socket = open();
    socket.write(requestWith(bytes));
    const [head, body] = (await text(socket)).split('\r\n\r\n');
    const [status, ...headers] = (head ?? '').split('\r\n');
    expect(status).toBe('HTTP/1.1 431 Request Header Fields Too Large');
    expect(headers).toEqual(expect.arrayContaining(['Clear-Site-Data: "cookies"', 'Connection: close']));
    expect(headers).toContain(`Content-Length: ${body?.length}`);
    expect(body).toMatch(/^The address and the headers of the request have more than 64 KiB\./);
  }
});

it('deletes no cookies for a long address, which another website may have caused', async () => {
  const open = await serve();
  const first = open();
  first.write(requestWith(66 * 1_024));
  await text(first);
  for (const [cookieBytes, addressBytes] of [
    [0, 66 * 1_024],
    [0, 700 * 1_024],
    [100, 66 * 1_024],
    [4_000, 62 * 1_024],
    [6_000, 64 * 1_024 - 3_000],
  ] as const) {
    const socket = open();
    socket.write(requestWith(cookieBytes, `/?${'a;%20'.repeat(addressBytes / 5)}`));
    const answer = await text(socket);
    expect(answer).toMatch(/^HTTP\/1\.1 431 /);
    expect(answer).not.toMatch(/clear-site-data/i);
  }
});

it('measures only the first request on a connection', async () => {
  const open = await serve();
  const first = open();
  first.write(requestWith(66 * 1_024));
  await text(first);
  const socket = open();
  const small = requestWith(60 * 1_024).replace('Connection: close\r\n', '');
  socket.write(small);
  await once(socket, 'data');
  const rest = text(socket);
  socket.write(requestWith(4_000, `/${'a'.repeat(64 * 1_024)}`));
  expect(await rest).toMatch(/HTTP\/1\.1 431 (?![\s\S]*Clear-Site-Data)/);
});

it('answers an invalid request with 400, and deletes no cookies', async () => {
  const socket = (await serve())();
  socket.write('no request\r\n\r\n');
  expect(await text(socket)).toBe('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n');
});

it('writes no second response into one that has begun', async () => {
  const socket = (await serve((_, outgoing) => void outgoing.write('begun')))();
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  const [first] = await once(socket, 'data');
  expect(String(first)).toMatch(/^HTTP\/1\.1 200 /);
  const rest = text(socket).catch(() => '');
  socket.write('no request\r\n\r\n');
  expect(await rest).not.toContain('HTTP/1.1');
});
