import { describe, expect, it } from 'vitest';
import { failureOfAnswer } from '../../src/providers/failures.ts';
import { checkAccess, listModels } from '../../src/providers/list-models.ts';
import { type ProviderAccess, type RequestRules, requestProvider } from '../../src/providers/request-provider.ts';
import { startMisbehavingServer } from '../support/misbehaving-server.ts';
import { type ProviderAnswer, startProvider } from '../support/provider.ts';
import { startReceiver } from '../support/receiver.ts';

const key = 'sk-c4n4ry';
const at = (baseUrl: string): ProviderAccess => ({ provider: 'compatible', baseUrl, key });
const failureOf = (access: ProviderAccess, rules: RequestRules) =>
  requestProvider(access, '/models', rules).then(
    () => null,
    ({ code, message }) => ({ code, message }),
  );
const noAddress = 'The server cannot be reached: the host has no address that the service is allowed to connect to.';

describe('a request to a model provider', () => {
  it('connects to no address of a private network in any notation, and says no more than for an unknown name', async () => {
    const { port, received } = await startReceiver();
    const hosts = [
      '127.0.0.1',
      '127.1',
      '0x7f000001',
      '2130706433',
      '0177.0.0.1',
      'localhost',
      '[::1]',
      '[::ffff:127.0.0.1]',
    ];
    for (const host of [...hosts, '[::ffff:7f00:1]', '0.0.0.0', '169.254.169.254', 'unknown.invalid']) {
      const refused = await failureOf(at(`http://${host}:${port}/v1`), { allowPrivate: false });
      expect([host, refused]).toEqual([host, { code: 'NOT_REACHABLE', message: noAddress }]);
    }
    for (const host of ['169.254.169.254', '[fd00:ec2::254]', '0.0.0.0']) {
      const refused = await failureOf(at(`http://${host}:${port}/v1`), { allowPrivate: true });
      expect([host, refused?.message]).toEqual([host, noAddress]);
    }
    expect(received).toEqual([]);
  });

  it('checks the address that it connects to, even if the name resolved differently before', async () => {
    const { port, received } = await startReceiver();
    let lookups = 0;
    const refused = await failureOf(at(`http://rebind.example:${port}/v1`), {
      allowPrivate: false,
      lookup: (_name, _options, callback) => {
        lookups += 1;
        callback(null, [{ address: '127.0.0.1', family: 4 }]);
      },
    });
    expect([refused?.message, lookups, received]).toEqual([noAddress, 1, []]);
  });

  it('follows no redirect, so that the key stays with its server', async () => {
    const thief = await startReceiver();
    const server = await startReceiver();
    server.answer((response) => void response.writeHead(307, { location: thief.url }).end());
    const refused = await failureOf(at(server.url), { allowPrivate: true });
    expect(refused).toEqual({
      code: 'NOT_FOUND',
      message: 'The base URL does not lead to the API of a model provider (status 307).',
    });
    expect([server.received.length, thief.received]).toEqual([1, []]);
  });

  it('ends in time and reads a limited number of bytes', async () => {
    const silent = await startMisbehavingServer(() => undefined);
    const late = await failureOf(at(silent.url), { allowPrivate: true, timeoutMs: 200 });
    expect(late?.message).toBe('The server cannot be reached: no answer came within 0.2 seconds.');
    const endless = await startProvider({ body: Array(40).fill('x'.repeat(100_000)), isEndless: true });
    expect(await failureOf(at(endless.url), { allowPrivate: true })).toEqual({
      code: 'UNEXPECTED_ANSWER',
      message: 'The server does not answer as a model provider: the answer is longer than 2 MB.',
    });
    const closed = await failureOf(at('http://127.0.0.1:1'), { allowPrivate: true });
    expect(closed?.message).toBe('The server cannot be reached: the connection was refused.');
    const other = await startMisbehavingServer((socket) => socket.end('SSH-2.0\r\n'));
    expect((await failureOf(at(other.url), { allowPrivate: true }))?.message).not.toContain('SSH');
  });

  it('never repeats what the server sent, which may contain the key', async () => {
    for (const status of [200, 400, 401, 402, 403, 404, 418, 429, 500, 503]) {
      const server = await startProvider({ status, body: `no JSON, but ${key}` });
      const refused = await failureOf(at(server.url), { allowPrivate: true });
      expect(refused?.message).toBeDefined();
      expect(refused?.message).not.toContain(key);
    }
  });
});

describe('the failure of an answer', () => {
  it.each([
    [200, '', null],
    [401, '', 'KEY_REFUSED'],
    [402, '', 'ACCOUNT_EMPTY'],
    [403, 'Your key may not do this', 'KEY_REFUSED'],
    [400, '{"error":{"status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}', 'KEY_REFUSED'],
    [400, 'Your credit balance is too low to access the Anthropic API.', 'ACCOUNT_EMPTY'],
    [429, '{"error":{"code":"insufficient_quota"}}', 'ACCOUNT_EMPTY'],
    [429, 'Rate limit reached', 'RATE_LIMITED'],
    [404, '', 'NOT_FOUND'],
    [302, '', 'NOT_FOUND'],
    [500, '', 'PROVIDER_ERROR'],
    [418, '', 'UNEXPECTED_ANSWER'],
  ] as const)('of status %i with %j is %s', (statusCode, body, code) => {
    expect(failureOfAnswer({ statusCode, body })).toBe(code);
  });
});

describe('models of a provider', () => {
  const rules = { allowPrivate: true };
  const serve = async (provider: ProviderAccess['provider'], json: unknown, more: Partial<ProviderAnswer> = {}) => {
    const server = await startProvider({ body: JSON.stringify(json), ...more });
    return { access: { provider, baseUrl: server.url, key }, server };
  };

  it('are read with the key in the header of each provider', async () => {
    const anthropic = await serve('anthropic', { data: [{ id: 'claude' }] });
    expect(await listModels(anthropic.access, rules)).toEqual(['claude']);
    expect(anthropic.server.seen[0]).toMatchObject({ url: '/v1/models?limit=1000', headers: { 'x-api-key': key } });
    const google = await serve('google', {
      models: [
        { name: 'models/gemini', supportedGenerationMethods: ['generateContent'] },
        { name: 'models/embedding', supportedGenerationMethods: ['embedContent'] },
      ],
    });
    expect(await listModels(google.access, rules)).toEqual(['gemini']);
    expect(google.server.seen[0]).toMatchObject({
      url: '/v1beta/models?pageSize=1000',
      headers: { 'x-goog-api-key': key },
    });
  });

  it('are limited in number and length, have no control characters, and never contain the key', async () => {
    const ids = ['a', 'a', 'x'.repeat(201), 'line\nbreak', '\u202eright', `of-${key}`, '', 5, null, { id: 1 }];
    const listed = await serve('openai', {
      data: [...ids, ...Array.from({ length: 1_100 }, (_, n) => `m${n}`)].map((id) => ({ id })),
    });
    const found = await listModels(listed.access, rules);
    expect([found.length, found[0], found[1]]).toEqual([1_000, 'a', 'm0']);
    for (const json of [{}, [], null, 'text', { data: {} }]) {
      const odd = await serve('openai', json);
      await expect(listModels(odd.access, rules)).rejects.toMatchObject({ code: 'UNEXPECTED_ANSWER' });
    }
  });

  it('of OpenRouter are public: its key is checked by another request', async () => {
    const good = await serve('openrouter', { data: { limit_remaining: null } });
    expect(await checkAccess(good.access, rules)).toBeNull();
    expect(good.server.seen[0]?.url).toBe('/key');
    const empty = await serve('openrouter', { data: { limit_remaining: 0 } });
    await expect(checkAccess(empty.access, rules)).rejects.toMatchObject({ code: 'ACCOUNT_EMPTY' });
  });
});
