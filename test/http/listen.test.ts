import { once } from 'node:events';
import { createServer as createHttpServer, get, type Server } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { listen } from '../../src/http/listen.ts';

async function occupy(host: string, port: number): Promise<number> {
  const server = createServer().listen(port, host);
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

const hasIpv6 = await new Promise<boolean>((resolve) => {
  const probe = createServer().once('error', () => resolve(false));
  probe.listen(0, '::1', () => probe.close(() => resolve(true)));
});
if (!hasIpv6) process.stderr.write('Skipping tests of both families of IP: this machine has no IPv6 loopback.\n');

function createService(): Server {
  const server = createHttpServer((_request, response) => response.end('the service'));
  onTestFinished(() => void server.close());
  return server;
}

function read(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    get(url, { agent: false }, async (response) => {
      let text = '';
      for await (const chunk of response) text += chunk;
      resolve(text);
    }).on('error', reject);
  });
}

it.skipIf(!hasIpv6).each([
  ['127.0.0.1', 'http://[::1]'],
  ['::1', 'http://127.0.0.1'],
  ['0.0.0.0', 'http://[::1]'],
])('a service at %s also answers at %s, which no other process can take', async (host, origin) => {
  const server = createService();
  const { port, close } = await listen(server, { host, port: 0 });
  onTestFinished(close);
  expect(await read(`${origin}:${port}`)).toBe('the service');
  await expect(occupy(new URL(origin).hostname.replace(/[[\]]/g, ''), port)).rejects.toThrow('EADDRINUSE');
});

it.skipIf(!hasIpv6)('a service does not start when another process has its port in the other family', async () => {
  const port = await occupy('::1', 0);
  const server = createService();
  const message = `Another process is already listening at http://[::1]:${port} `;
  await expect(listen(server, { host: '127.0.0.1', port })).rejects.toThrow(message);
  expect(server.listening).toBe(false);
});

it.skipIf(!hasIpv6)('a service that stops accepts no connection in either family', async () => {
  const server = createService();
  const { port, close } = await listen(server, { host: '127.0.0.1', port: 0 });
  close();
  server.close();
  await expect(read(`http://[::1]:${port}`)).rejects.toThrow('ECONNREFUSED');
  await expect(read(`http://127.0.0.1:${port}`)).rejects.toThrow('ECONNREFUSED');
});
