import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { connectionNetwork } from '../../src/assembly/client-address.ts';
import { type ConnectionLimits, limitConnections } from '../../src/http/limit-connections.ts';

async function serve(limits: ConnectionLimits, networkOf = connectionNetwork) {
  const server = createServer((_, response) => response.end('answered'));
  limitConnections(server, limits, networkOf);
  server.listen(0);
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return async (address: string): Promise<Socket> => {
    const socket = connect({ port, host: address, localAddress: address });
    onTestFinished(() => {
      socket.destroy();
    });
    await once(socket, 'connect');
    return socket;
  };
}

/** Sends a request, and returns the first bytes that come back. */
async function ask(socket: Socket): Promise<string> {
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  const [data] = await once(socket, 'data');
  return String(data);
}

it('refuses connections beyond the limit with 503, and accepts more when one has closed', async () => {
  const open = await serve({ maxConnections: 2, maxConnectionsPerAddress: null });
  const [first, second] = [await open('127.0.0.1'), await open('127.0.0.1')];
  expect(await ask(first)).toContain('answered');
  expect(await ask(second)).toContain('answered');
  const refused = await open('127.0.0.1');
  const closed = once(refused, 'close');
  expect(await ask(refused)).toMatch(/^HTTP\/1\.1 503 [\s\S]*Connection: close\r\n\r\nThe service has too many/);
  await closed;
  first.end();
  await once(first, 'close');
  await expect.poll(async () => (await ask(await open('127.0.0.1'))).includes('answered')).toBe(true);
  expect(await ask(second)).toContain('answered');
});

it('limits the connections of one address without an effect on others', async () => {
  const open = await serve({ maxConnections: 10, maxConnectionsPerAddress: 1 });
  expect(await ask(await open('127.0.0.1'))).toContain('answered');
  expect(await ask(await open('127.0.0.1'))).toContain('503');
  expect(await ask(await open('127.0.0.2'))).toContain('answered');
});

it('counts the addresses of one network together', async () => {
  const open = await serve({ maxConnections: 10, maxConnectionsPerAddress: 1 }, () => 'one network');
  expect(await ask(await open('127.0.0.1'))).toContain('answered');
  expect(await ask(await open('127.0.0.2'))).toContain('503');
});

it.each([
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
])('counts a connection from %s to %s', (address, network) => {
  expect(connectionNetwork(address)).toBe(network);
});
