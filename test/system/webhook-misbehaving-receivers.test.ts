import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createWebhookSender, type WebhookSenderOptions } from '../../src/domain/webhooks/send-webhook.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { type Misbehavior, startMisbehavingServer } from '../support/misbehaving-server.ts';
import { startReceiver } from '../support/receiver.ts';
import { createSession, makeOrganization } from '../support/sessions.ts';
import { makeEndpoint, waitForDeliveries } from '../support/webhooks.ts';

function sender(options: Partial<WebhookSenderOptions> = {}) {
  const made = createWebhookSender({ allowPrivate: true, timeoutMs: 1_000, ...options });
  onTestFinished(() => made.close());
  return (url: string) => made.send({ url, headers: {}, body: '{}' });
}

/** Writes a text byte by byte at this interval in ms. */
const drip = (socket: Socket, text: string, everyMs: number) => {
  let sent = 0;
  const timer = setInterval(() => {
    const next = text[sent++];
    if (next === undefined) clearInterval(timer);
    else socket.write(next);
  }, everyMs);
  socket.on('close', () => clearInterval(timer));
};

const brokenOff = 'The connection was interrupted.';
const tooLate = 'No response within 1 seconds.';
const giga = 1_000_000_000;

describe('a receiver', () => {
  it.each<[string, Misbehavior, { statusCode: number | null; error: string | null; answer: string }]>([
    [
      'that announces a GB and sends five bytes',
      (socket) => socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${giga}\r\n\r\nfive!`),
      { statusCode: 200, error: null, answer: 'five!' },
    ],
    [
      'that announces a GB and sends nothing more without closing',
      (socket) => socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${giga}\r\n\r\nfive!`),
      { statusCode: 200, error: null, answer: 'five!' },
    ],
    [
      'that sends more than it announced',
      (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 500 No\r\n\r\n'),
      { statusCode: 200, error: null, answer: 'ok' },
    ],
    [
      'that announces two lengths',
      (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok!'),
      { statusCode: null, error: 'The response does not have the announced length.', answer: '' },
    ],
    [
      'that announces a negative length',
      (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nok'),
      { statusCode: null, error: 'The response was not HTTP.', answer: '' },
    ],
    [
      'that closes in the middle of its headers',
      (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Ty'),
      { statusCode: null, error: brokenOff, answer: '' },
    ],
    [
      'that resets the connection',
      (socket) => socket.resetAndDestroy(),
      { statusCode: null, error: brokenOff, answer: '' },
    ],
    [
      'that sends its headers byte by byte, too slowly',
      (socket) => drip(socket, `HTTP/1.1 200 OK\r\nX-Slow: ${'.'.repeat(10_000)}`, 20),
      { statusCode: null, error: tooLate, answer: '' },
    ],
    [
      'that only sends informational responses',
      (socket) => {
        const timer = setInterval(() => socket.write('HTTP/1.1 102 Processing\r\n\r\n'), 20);
        socket.on('close', () => clearInterval(timer));
      },
      { statusCode: null, error: tooLate, answer: '' },
    ],
    [
      'that switches the protocol',
      (socket) => socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n'),
      { statusCode: null, error: expect.any(String) as unknown as string, answer: '' },
    ],
    [
      'whose response contains a NUL and half a character',
      (socket) => socket.end(Buffer.from('HTTP/1.1 500 Oh\r\nConnection: close\r\n\r\na\u0000b\u00e4', 'latin1')),
      { statusCode: 500, error: 'The answer was 500, and not one from 200 to 299.', answer: 'a\ufffdb\ufffd' },
    ],
  ])('%s ends with the expected outcome, in bounded time', async (_what, misbehave, answer) => {
    const server = await startMisbehavingServer(misbehave);
    const { durationMs, ...got } = await sender()(server.url);
    expect(got).toEqual(answer);
    expect(durationMs).toBeLessThan(3_000);
  });

  it('that responds byte by byte is disconnected after its time for a response', async () => {
    const server = await startMisbehavingServer((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${giga}\r\n\r\n`);
      drip(socket, 'x'.repeat(1_000), 20);
    });
    const answer = await sender()(server.url);
    expect(answer).toMatchObject({ statusCode: 200, error: null, answer: expect.stringMatching(/^x{5,100}$/) });
    expect(answer.durationMs).toBeLessThan(3_000);
  });

  it('that sends a GB has only the beginning read', async () => {
    let written = 0;
    const server = await startMisbehavingServer((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${giga}\r\n\r\n`);
      const chunk = Buffer.alloc(65_536, 'x');
      const write = () => {
        for (let canWrite = true; canWrite && !socket.destroyed && written < giga; written += chunk.length) {
          canWrite = socket.write(chunk);
        }
      };
      socket.on('drain', write);
      write();
    });
    expect(await sender()(server.url)).toMatchObject({ statusCode: 200, error: null, answer: 'x'.repeat(1_024) });
    expect(written).toBeLessThan(50_000_000);
  });

  it('that compresses a large response is not decompressed', async () => {
    const packed = gzipSync(Buffer.alloc(100_000_000));
    const server = await startMisbehavingServer((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${packed.length}\r\n\r\n`);
      socket.end(packed);
    });
    const before = process.memoryUsage().rss;
    const { statusCode, answer } = await sender()(server.url);
    expect([statusCode, Buffer.byteLength(answer) < 4_000]).toEqual([200, true]);
    expect(process.memoryUsage().rss - before).toBeLessThan(60_000_000);
  });

  it.each([301, 302, 303, 307, 308])('that redirects with %i is not followed', async (status) => {
    const target = await startMisbehavingServer(() => undefined);
    for (const to of [
      target.url,
      'https://169.254.169.254/latest/meta-data/',
      '/again',
      '//127.0.0.1/',
      'file:///etc/passwd',
    ]) {
      const server = await startMisbehavingServer((socket) =>
        socket.end(`HTTP/1.1 ${status} There\r\nLocation: ${to}\r\nContent-Length: 0\r\n\r\n`),
      );
      expect(await sender()(server.url)).toMatchObject({
        statusCode: status,
        error: `The answer was ${status}: redirects are not followed.`,
      });
      expect([server.connections(), target.connections()]).toEqual([1, 0]);
    }
  });
});

describe('the service', () => {
  let test: TestApp;
  beforeAll(async () => {
    test = await startApp({ roles: ['api', 'scheduler'], isPrivateWebhookAllowed: true });
  });
  afterAll(() => test.close());

  it('records the outcome for each receiver, and none of them delays it', async () => {
    const { token } = await makeOrganization(test, 'Among liars');
    const receivers: [Misbehavior, number | null, RegExp | null][] = [
      [(socket) => socket.end('HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n'), 503, /503/],
      [(socket) => socket.destroy(), null, /interrupted/],
      [(socket) => socket.end('HTTP/1.1 307 There\r\nLocation: http://169.254.169.254/\r\n\r\n'), 307, /not followed/],
      [(socket) => socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${giga}\r\n\r\nx`), 200, null],
      [(socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n'), null, /not HTTP/],
    ];
    // It never answers: a delivery to it lasts 15 seconds.
    await makeEndpoint(test, token, {
      url: (await startMisbehavingServer(() => undefined)).url,
      eventTypes: ['SESSION_MESSAGE'],
    });
    const ids: string[] = [];
    for (const [misbehave] of receivers) {
      const { url } = await startMisbehavingServer(misbehave);
      ids.push((await makeEndpoint(test, token, { url, eventTypes: ['SESSION_MESSAGE'] })).id);
    }
    const honest = await startReceiver();
    const startedAt = performance.now();
    await makeEndpoint(test, token, { url: honest.url, eventTypes: ['SESSION_MESSAGE'] });
    await createSession(test, {}, token);
    await honest.waitFor((received) => received.length === 1);
    for (const [n, [, statusCode, error]] of receivers.entries()) {
      const { deliveries } = await waitForDeliveries(
        test,
        token,
        ids[n] ?? '',
        (endpoint) => endpoint.deliveries.nodes[0]?.attempts.length === 1,
      );
      expect(deliveries.nodes[0]).toMatchObject({
        status: error === null ? 'DELIVERED' : 'PENDING',
        attempts: [{ statusCode, error: error === null ? null : expect.stringMatching(error) }],
      });
    }
    expect(performance.now() - startedAt).toBeLessThan(12_000);
  });
});
