import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createIncomingWebhooks } from '../../src/api/rest/incoming-webhooks.ts';
import type { TestApp } from '../support/app.ts';
import { makeWebhook } from '../support/incoming-webhooks.ts';
import { connectRaw } from '../support/raw-http.ts';
import { viewOf } from '../support/request-views.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();

const sign = (secret: string, body: string) => `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
const noAutomation = `/webhooks/automations/${'0'.repeat(32)}`;
const wrongSignature = { 'X-Hub-Signature-256': sign('whsec_wrong', '{}') };

/** Sends the headers of a delivery with a body of two bytes, but not the body. */
function begin(app: TestApp, path: string, headers: Record<string, string>) {
  const wire = connectRaw(Number(new URL(app.url).port));
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  wire.send(
    `POST ${path} HTTP/1.1\r\nHost: switchyard\r\nContent-Type: application/json\r\nContent-Length: 2\r\n${lines.join('')}\r\n`,
  );
  return wire;
}

describe('before the body arrives', () => {
  it('a wrong secret is refused, also with a signature and for an unknown automation', async () => {
    const { path, secret } = await makeWebhook(test);
    const wrong = { 'X-Webhook-Secret': 'whsec_wrong' };
    const right = { 'X-Webhook-Secret': secret };
    const calls = [
      begin(test, path, wrong),
      begin(test, path, { ...wrong, ...wrongSignature }),
      begin(test, path, { ...right, 'X-Gitlab-Token': 'whsec_wrong', ...wrongSignature }),
      begin(test, noAutomation, wrong),
      begin(test, noAutomation, { ...wrong, ...wrongSignature }),
    ];
    for (const wire of calls) expect(await wire.waitFor(/\r\n\r\n\{.*\}$/s)).toMatch(/^HTTP\/1\.1 401 /);
  });

  it('a compressed body is refused', async () => {
    const { send, runs } = await makeWebhook(test);
    for (const encoding of ['gzip', 'identity, br']) {
      const answer = await send('{}', { 'content-encoding': encoding });
      expect(answer).toMatchObject({ status: 415, body: { detail: expect.stringContaining('Content-Encoding') } });
    }
    expect(await runs()).toEqual([]);
    expect((await send('{}', { 'content-encoding': 'Identity' })).status).toBe(202);
  });
});

it('a signature is checked after the body, alike with and without an automation', async () => {
  const { path, send } = await makeWebhook(test);
  const wires = [path, noAutomation].map((each) => begin(test, each, wrongSignature));
  expect((await send({ n: 1 })).status).toBe(202);
  expect(wires.map((wire) => wire.received().length)).toEqual([0, 0]);
  const answers = [];
  for (const wire of wires) {
    wire.send('{}');
    const answer = await wire.waitFor(/\r\n\r\n\{.*\}$/s);
    answers.push(answer.replace(/^(?:date|x-request-id): .*\r\n/gim, '').replace(/"instance":"[^"]*"/, ''));
  }
  expect(answers[0]).toMatch(/^HTTP\/1\.1 401 /);
  expect(answers[1]?.replace(/content-length: \d+/i, '')).toBe(answers[0]?.replace(/content-length: \d+/i, ''));
});

it('a signature by a secret that was rotated while the body arrived is refused', async () => {
  const { path, secret, automationId, send, runs } = await makeWebhook(test);
  const wire = begin(test, path, { 'X-Hub-Signature-256': sign(secret, '{}') });
  expect((await send({ n: 1 })).status).toBe(202);
  await test.app.services.store.execute('update automation set webhook_secret_hash = $2 where id = $1', [
    automationId.replace('automation-', ''),
    'sha256:0',
  ]);
  wire.send('{}');
  expect(await wire.waitFor(/\r\n\r\n\{.*\}$/s)).toMatch(/^HTTP\/1\.1 401 /);
  expect(await runs()).toHaveLength(1);
});

describe('bodies with an unchecked signature', () => {
  const limits = { maxBytes: 1_000, maxBytesPerAddress: 700 };

  /** A delivery whose first bytes have been read, and that continues when released. */
  async function hold(webhooks: ReturnType<typeof createIncomingWebhooks>, address: string, path: string) {
    let end: () => void = () => undefined;
    let isRead: () => void = () => undefined;
    const read = new Promise<void>((resolve) => {
      isRead = resolve;
    });
    let count = 0;
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          count++;
          // The second chunk is requested once the first one has been counted.
          if (count > 1) return isRead();
          controller.enqueue(new Uint8Array(600));
          end = () => controller.close();
        },
      },
      { highWaterMark: 0 },
    );
    const answer = webhooks.respond(viewOf(requestOf(path, body), address));
    await Promise.race([read, answer]);
    return { answer, end: () => end() };
  }

  const requestOf = (path: string, body: ReadableStream<Uint8Array> | string) =>
    new Request(`http://switchyard${path}`, {
      method: 'POST',
      headers: wrongSignature,
      body,
      ...{ duplex: 'half' },
    });

  it('are limited in total and per address, and refused with 503 beyond', async () => {
    const { path } = await makeWebhook(test);
    const webhooks = createIncomingWebhooks(test.app.services, limits);
    const openRequest = await hold(webhooks, '192.0.2.1', noAutomation);
    const send = async (address: string, count: number) => {
      const answer = await webhooks.respond(viewOf(requestOf(path, 'x'.repeat(count)), address));
      return [answer.status, answer.headers['retry-after'] ?? null, answer.headers.connection ?? null];
    };
    expect(await send('192.0.2.1', 200)).toEqual([503, '5', 'close']);
    expect(await send('192.0.2.2', 500)).toEqual([503, '5', 'close']);
    expect(await send('192.0.2.2', 300)).toEqual([401, null, null]);
    openRequest.end();
    expect((await openRequest.answer).status).toBe(401);
    expect(await send('192.0.2.1', 700)).toEqual([401, null, null]);
  });
});
