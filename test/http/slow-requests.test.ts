import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { defaultRequestTimes, requireBodyRate, serverTimes } from '../../src/http/slow-requests.ts';
import { connectRaw, type Wire } from '../support/raw-http.ts';

const { bodyWindowMs, minBodyBytes } = defaultRequestTimes;
const post = (framing: string) => `POST / HTTP/1.1\r\nHost: x\r\n${framing}\r\n\r\n`;
const longBody = post('Content-Length: 1000000000');

/** One request as the server sees it. */
interface Exchange {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
}

/** A server whose clock stands still until `pass` moves it and runs the check. */
async function serve() {
  const times = { ...defaultRequestTimes, checkMs: 3_600_000 };
  const server = createServer(serverTimes(times));
  let time = 1_000;
  const check = requireBodyRate(server, times, () => time);
  const exchanges: Exchange[] = [];
  server.on('request', (incoming, outgoing) => {
    incoming.on('error', () => undefined);
    exchanges.push({ incoming, outgoing });
    server.emit('exchange');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    connect: () => connectRaw((server.address() as AddressInfo).port),
    /** The request with this number, from 0, once its headers have arrived. */
    async exchange(number = 0): Promise<Exchange> {
      while (exchanges[number] === undefined) await once(server, 'exchange');
      return exchanges[number];
    },
    pass(ms: number) {
      time += ms;
      check();
    },
  };
}

/** Sends bytes of a body, and waits until the handler has read them. */
async function deliver(wire: Wire, { incoming }: Exchange, count: number): Promise<void> {
  let left = count;
  const allRead = new Promise<void>((resolve) => {
    const onData = (chunk: Buffer) => {
      left -= chunk.length;
      if (left > 0) return;
      incoming.off('data', onData);
      resolve();
    };
    incoming.on('data', onData);
  });
  wire.send('x'.repeat(count));
  await allRead;
}

it.each([
  ['with a length', longBody],
  ['in chunks', `${post('Transfer-Encoding: chunked')}3b9aca00\r\n`],
])('ends a request whose body %s delivers too little in one window', async (_framing, start) => {
  const { connect, exchange, pass } = await serve();
  const wire = connect();
  wire.send(start);
  const { outgoing } = await exchange();
  const gone = once(outgoing, 'close');
  await deliver(wire, await exchange(), minBodyBytes);
  pass(bodyWindowMs);
  await deliver(wire, await exchange(), minBodyBytes - 1);
  pass(bodyWindowMs - 1);
  expect(wire.socket.closed).toBe(false);
  expect(outgoing.socket?.destroyed).toBe(false);
  pass(1);
  const answer = await wire.closed;
  expect(answer).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n[^{]*\r\nConnection: close\r\n\r\n\{/);
  const [headers = '', body = ''] = answer.split('\r\n\r\n');
  expect(JSON.parse(body)).toEqual({
    type: 'about:blank',
    title: 'Request Timeout',
    status: 408,
    detail: 'The body arrived too slowly: at least 8192 bytes must arrive in every 30 seconds.',
  });
  expect(headers).toContain(`Content-Length: ${body.length}`);
  await gone;
});

it('ends a request whose body never starts', async () => {
  const { connect, exchange, pass } = await serve();
  const wire = connect();
  wire.send(longBody);
  await exchange();
  pass(bodyWindowMs);
  expect(await wire.closed).toContain('408');
});

it('allows a slow upload for hours if each window has enough data', async () => {
  const { connect, exchange, pass } = await serve();
  const wire = connect();
  const windows = 200;
  wire.send(post(`Content-Length: ${windows * minBodyBytes + 1}`));
  const { outgoing } = await exchange();
  for (let n = 0; n < windows; n++) {
    await deliver(wire, await exchange(), minBodyBytes);
    pass(bodyWindowMs);
  }
  await deliver(wire, await exchange(), 1);
  outgoing.end('received');
  expect(await wire.waitFor(/received$/)).toMatch(/^HTTP\/1\.1 200 /);
});

it('allows a small body to end within its window, and keeps the connection', async () => {
  const { connect, exchange, pass } = await serve();
  const wire = connect();
  for (const number of [0, 1]) {
    wire.send(post('Content-Length: 5'));
    const { incoming, outgoing } = await exchange(number);
    pass(bodyWindowMs - 1);
    wire.send('small');
    await once(incoming.resume(), 'end');
    pass(bodyWindowMs);
    outgoing.end(`answer ${number}`);
    await wire.waitFor(new RegExp(`answer ${number}$`));
    pass(10 * bodyWindowMs);
  }
});

it('does not limit the time of a response, with or without a body before it', async () => {
  const { connect, exchange, pass } = await serve();
  for (const [number, request] of [`${post('Content-Length: 1')}x`, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'].entries()) {
    const wire = connect();
    wire.send(request);
    const { incoming, outgoing } = await exchange(number);
    await once(incoming.resume(), 'end');
    outgoing.write('first');
    await wire.waitFor(/first/);
    pass(100 * bodyWindowMs);
    outgoing.end('last');
    await wire.waitFor(/last\r\n0\r\n\r\n$/);
  }
});

it('excludes the time in which the service itself does not read', async () => {
  const { connect, exchange, pass } = await serve();
  const wire = connect();
  wire.send(longBody);
  const { incoming } = await exchange();
  wire.send('x'.repeat(1_048_576));
  await expect.poll(() => incoming.readableLength >= incoming.readableHighWaterMark).toBe(true);
  for (let n = 0; n < 10; n++) pass(bodyWindowMs);
  expect(incoming.socket.destroyed).toBe(false);
  await deliver(wire, await exchange(), 1_048_576);
  pass(bodyWindowMs);
  expect(incoming.socket.destroyed).toBe(false);
  pass(bodyWindowMs);
  expect(await wire.closed).toContain('408');
});

it('closes the connection without a second response when one has begun', async () => {
  const { connect, exchange, pass } = await serve();
  const wire = connect();
  wire.send(longBody);
  const { outgoing } = await exchange();
  outgoing.write('begun');
  await wire.waitFor(/begun/);
  await deliver(wire, await exchange(), 1);
  pass(bodyWindowMs);
  expect((await wire.closed).match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200']);
});

it('closes the connection when the rest of a body is slow after the response', async () => {
  const { connect, exchange, pass } = await serve();
  const wire = connect();
  wire.send(longBody);
  const { outgoing } = await exchange();
  outgoing.end('refused');
  await wire.waitFor(/refused/);
  wire.send('x');
  pass(bodyWindowMs);
  expect((await wire.closed).match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200']);
});

it('closes the connection without a response instead of an earlier one', async () => {
  const { connect, exchange, pass } = await serve();
  const wire = connect();
  wire.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await exchange(0);
  wire.send(longBody);
  await exchange(1);
  pass(bodyWindowMs);
  expect(await wire.closed).toBe('');
});
