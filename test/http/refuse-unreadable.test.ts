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

const withCookies = (bytes: number) =>
  `GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nCookie: a=${'x'.repeat(bytes)}\r\n\r\n`;

it('takes 60 KiB of cookies', async () => {
  const socket = (await serve())();
  socket.write(withCookies(60 * 1_024));
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 [\s\S]*answered$/);
});

it('answers more than 64 KiB with 431, deletes the cookies, and closes, however much the client still sends', async () => {
  const open = await serve();
  for (const bytes of [66 * 1_024, 700 * 1_024]) {
    const socket = open();
    socket.write(withCookies(bytes));
    const [head, body] = (await text(socket)).split('\r\n\r\n');
    const [status, ...headers] = (head ?? '').split('\r\n');
    expect(status).toBe('HTTP/1.1 431 Request Header Fields Too Large');
    expect(headers).toEqual(expect.arrayContaining(['Clear-Site-Data: "cookies"', 'Connection: close']));
    expect(headers).toContain(`Content-Length: ${body?.length}`);
    expect(body).toMatch(/^The headers of the request have more than 64 KiB\./);
  }
});

it('answers what is no request with 400, and deletes no cookies', async () => {
  const socket = (await serve())();
  socket.write('no request\r\n\r\n');
  expect(await text(socket)).toBe('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n');
});

it('writes no second answer into one that has begun', async () => {
  const socket = (await serve((_, outgoing) => void outgoing.write('begun')))();
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  const [first] = await once(socket, 'data');
  expect(String(first)).toMatch(/^HTTP\/1\.1 200 /);
  const rest = text(socket).catch(() => '');
  socket.write('no request\r\n\r\n');
  expect(await rest).not.toContain('HTTP/1.1');
});
