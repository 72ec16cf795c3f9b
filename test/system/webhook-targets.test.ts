import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { isAllowedAddress } from '../../src/common/addresses.ts';
import { createWebhookSender, type WebhookSenderOptions } from '../../src/domain/webhooks/send-webhook.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { startMisbehavingServer } from '../support/misbehaving-server.ts';
import { runMutation } from '../support/people.ts';
import { startReceiver } from '../support/receiver.ts';
import { createSession, makeOrganization } from '../support/sessions.ts';
import { endpointFields, makeEndpoint, waitForDeliveries } from '../support/webhooks.ts';

const refused = 'The host has no address that webhooks can be sent to.';

describe('addresses', () => {
  it.each([
    '127.0.0.1',
    '10.1.2.3',
    '172.16.0.1',
    '192.168.1.1',
    '100.64.0.1',
    '::1',
    'fd00::1',
    '::ffff:127.0.0.1',
    '::ffff:a00:1',
  ])('%s is an own one', (address) => {
    expect([isAllowedAddress(address, false), isAllowedAddress(address, true)]).toEqual([false, true]);
  });

  it.each([
    '0.0.0.0',
    '169.254.169.254',
    '224.0.0.1',
    '255.255.255.255',
    '240.0.0.1',
    '192.0.2.1',
    '198.18.0.1',
    '::',
    'fe80::1',
    'ff02::1',
    '::ffff:169.254.169.254',
    '64:ff9b::7f00:1',
    '2002:7f00:1::',
    '2001:db8::1',
    '::7f00:1',
    '::8.8.8.8',
    '64:ff9b:1::a00:1',
    '5f00::1',
    '168.63.129.16',
    '::ffff:168.63.129.16',
    'localhost',
    '',
  ])('%s is never sent to', (address) => {
    expect([isAllowedAddress(address, false), isAllowedAddress(address, true)]).toEqual([false, false]);
  });

  it.each(['8.8.8.8', '1.1.1.1', '2606:4700:4700::1111', '::ffff:8.8.8.8'])('%s is public', (address) => {
    expect(isAllowedAddress(address, false)).toBe(true);
  });
});

function sender(options: Partial<WebhookSenderOptions> = {}) {
  const made = createWebhookSender({ allowPrivate: true, ...options });
  onTestFinished(() => made.close());
  return (url: string) => made.send({ url, headers: {}, body: '{}' });
}

describe('a sender', () => {
  it('sends nothing to an address of its own network in any notation', async () => {
    const receiver = await startReceiver();
    const send = sender({ allowPrivate: false });
    for (const host of ['127.0.0.1', '127.1', '0x7f000001', '2130706433', 'localhost', '[::ffff:127.0.0.1]']) {
      const url = `http://${host}:${receiver.port}/`;
      expect([host, await send(url)]).toEqual([
        host,
        { statusCode: null, error: refused, answer: '', durationMs: expect.any(Number) },
      ]);
    }
    expect(receiver.received).toEqual([]);
  });

  it('checks the address that it connects to, even if the name resolved differently before', async () => {
    const receiver = await startReceiver();
    const answers = [['203.0.113.7', '127.0.0.1'], ['127.0.0.1']];
    let lookups = 0;
    const send = sender({
      allowPrivate: false,
      timeoutMs: 500,
      lookup: (_name, _options, callback) => {
        const addresses = answers[lookups++] ?? [];
        callback(
          null,
          addresses.map((address) => ({ address, family: 4 })),
        );
      },
    });
    // Only the permitted addresses of several are tried: here, none is.
    const url = `http://rebind.example:${receiver.port}/`;
    expect((await send(url)).error).toBe(refused);
    expect((await send(url)).error).toBe(refused);
    expect([lookups, receiver.received]).toEqual([2, []]);

    const own = sender({
      lookup: (_name, _options, callback) =>
        callback(null, [
          { address: '169.254.169.254', family: 4 },
          { address: '127.0.0.1', family: 4 },
        ]),
    });
    expect(await own(url)).toMatchObject({ statusCode: 204, error: null });
  });

  it('waits no longer than the timeouts, for the headers and for the rest', async () => {
    const send = sender({ timeoutMs: 300 });
    const silent = await startMisbehavingServer(() => undefined);
    expect(await send(silent.url)).toMatchObject({ statusCode: null, error: 'No response within 0.3 seconds.' });
    const dripping = await startMisbehavingServer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nX-Slow: ');
      const timer = setInterval(() => socket.write('.'), 20);
      socket.on('close', () => clearInterval(timer));
    });
    expect((await send(dripping.url)).error).toBe('No response within 0.3 seconds.');
    const half = await startMisbehavingServer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf');
    });
    const answer = await send(half.url);
    expect(answer).toMatchObject({ statusCode: 200, error: null, answer: 'half' });
    expect(answer.durationMs).toBeLessThan(2_000);
  });

  it('reads only the beginning of a response', async () => {
    let written = 0;
    const endless = await startMisbehavingServer((socket) => {
      socket.write('HTTP/1.1 500 Oh\r\nTransfer-Encoding: chunked\r\n\r\n');
      const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`;
      const write = () => {
        while (!socket.destroyed && socket.write(chunk)) written += chunk.length;
        written += chunk.length;
      };
      socket.on('drain', write);
      write();
    });
    const answer = await sender()(endless.url);
    expect(answer).toMatchObject({ statusCode: 500, answer: 'x'.repeat(1_024) });
    expect(written).toBeLessThan(50_000_000);
  });

  it('treats an invalid response as none', async () => {
    const send = sender({ timeoutMs: 2_000 });
    const texts = [
      ['SSH-2.0-OpenSSH_9.2\r\n', 'The response was not HTTP.'],
      ['', 'The connection was interrupted.'],
      [`HTTP/1.1 200 OK\r\n${'X-A: y\r\n'.repeat(10_000)}\r\n`, 'The headers of the response are too long.'],
    ] as const;
    for (const [text, error] of texts) {
      const server = await startMisbehavingServer((socket) => socket.end(text));
      expect(await send(server.url)).toMatchObject({ statusCode: null, error: error });
    }
    expect(await send('http://127.0.0.1:1/')).toMatchObject({ error: 'The connection was refused.' });
  });
});

describe('a service that may not send to its own network', () => {
  let test: TestApp;
  beforeAll(async () => {
    test = await startApp({ roles: ['api', 'scheduler'] });
  });
  afterAll(() => test.close());

  it('refuses its addresses, and unencrypted ones', async () => {
    const { token } = await makeOrganization(test, 'Refused targets');
    for (const url of [
      'http://example.com/',
      'https://127.0.0.1/',
      'https://2130706433/',
      'https://[::1]/',
      'https://169.254.169.254/latest/meta-data',
      'https://user:pass@example.com/',
      'https://example.com/#part',
      'ftp://example.com/',
      'hook',
      `https://example.com/${'x'.repeat(2_000)}`,
    ]) {
      const made = await runMutation(test, 'createWebhookEndpoint', `${endpointFields} secret`, { url }, token);
      expect([url, made]).toMatchObject([
        url,
        { secret: null, userErrors: [{ code: 'INVALID_INPUT', path: ['input', 'url'] }] },
      ]);
    }
  });

  it('sends nothing to a name that resolves to it', async () => {
    const { token } = await makeOrganization(test, 'Names');
    const receiver = await startReceiver();
    const url = `https://localhost:${receiver.port}/`;
    const { id } = await makeEndpoint(test, token, { url, eventTypes: ['SESSION_MESSAGE'] });
    await createSession(test, {}, token);
    const { deliveries } = await waitForDeliveries(
      test,
      token,
      id,
      (endpoint) => endpoint.deliveries.nodes[0]?.attempts.length === 1,
    );
    expect(deliveries.nodes[0]).toMatchObject({ status: 'PENDING', attempts: [{ statusCode: null, error: refused }] });
    expect(receiver.received).toEqual([]);
  });
});
