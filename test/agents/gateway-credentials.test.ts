import { expect, it } from 'vitest';
import type { CredentialRefusal, ProviderCredential } from '../../src/agents/credential.ts';
import type { GatewayOptions } from '../../src/agents/gateway/gateway.ts';
import { createMask } from '../../src/domain/execution/runs/masking.ts';
import { openTestGateway } from '../support/open-gateway.ts';
import { startProvider } from '../support/provider.ts';
import { startRawProvider } from '../support/raw-http.ts';

const answer = { body: JSON.stringify({ usage: { prompt_tokens: 5, completion_tokens: 2 } }) };
const [oldKey, newKey] = ['sk-c4n4ry-before', 'sk-c4n4ry-after'];

const credentialOf = (baseUrl: string, key: string | null): ProviderCredential => ({
  keyId: 'key-1',
  label: 'the key "Team" of the organization',
  provider: 'compatible',
  key,
  baseUrl,
  isPrivateAllowed: null,
  costOf: null,
  budget: null,
});

async function openWith(
  ask: () => Promise<ProviderCredential | CredentialRefusal>,
  onOutcome?: GatewayOptions['onOutcome'],
) {
  const opened = await openTestGateway('http://127.0.0.1:9', { credential: ask, maskOf: createMask, onOutcome });
  const { port, key } = opened.gateway;
  const call = (path = '/chat/completions', signal: AbortSignal | null = null) =>
    fetch(`http://127.0.0.1:${port}${path}`, {
      method: 'POST',
      signal,
      body: '{"model":"m"}',
      headers: { authorization: `Bearer ${key}` },
    });
  return { ...opened, call };
}

it('uses the key and the address of the moment for each call', async () => {
  const [first, second] = [await startProvider(answer), await startProvider(answer)];
  const credentials = [credentialOf(first.url, oldKey), credentialOf(`${second.url}/base/`, newKey)];
  const { call } = await openWith(async () => credentials.shift() as ProviderCredential);
  await (await call()).text();
  await (await call()).text();
  expect(first.seen).toMatchObject([{ url: '/chat/completions', headers: { authorization: `Bearer ${oldKey}` } }]);
  expect(second.seen).toMatchObject([
    { url: '/base/chat/completions', headers: { authorization: `Bearer ${newKey}` } },
  ]);
});

it('refuses a call for which there is no key, with the reason', async () => {
  const { call, usages } = await openWith(async () => ({ refused: 'KEY_MISSING', message: 'The key was deleted.' }));
  const refused = await call();
  expect(refused.status).toBe(403);
  expect(await refused.json()).toMatchObject({ error: { message: 'The key was deleted.' } });
  expect(usages).toEqual([]);
});

it('masks the old and the new key after a rotation, also in other encodings of an error', async () => {
  const base64 = Buffer.from(oldKey).toString('base64url');
  const good = await startProvider({ body: ['{"text":"', oldKey.slice(0, 7), oldKey.slice(7), ` ${newKey}"}`] });
  const bad = await startProvider({ status: 400, body: JSON.stringify({ error: { message: `${base64} ${newKey}` } }) });
  const credentials = [credentialOf(good.url, oldKey), credentialOf(good.url, newKey), credentialOf(bad.url, newKey)];
  const { call } = await openWith(async () => credentials.shift() as ProviderCredential);
  await (await call()).text();
  expect(await (await call()).text()).toBe(`{"text":"${'*'.repeat(16)} ${'*'.repeat(15)}"}`);
  expect(await (await call()).json()).toEqual({ error: { message: '******** ********' } });
});

it('sends nothing if the agent has left before the key is known', async () => {
  const provider = await startProvider(answer);
  let resolveRequested: () => void = () => undefined;
  const requested = new Promise<void>((resolve) => {
    resolveRequested = resolve;
  });
  let found: (credential: ProviderCredential) => void = () => undefined;
  const credential = new Promise<ProviderCredential>((resolve) => {
    found = resolve;
  });
  const { gateway, call } = await openWith(() => {
    resolveRequested();
    return credential;
  });
  const refused = expect(call()).rejects.toThrow();
  await requested;
  const closed = gateway.close();
  found(credentialOf(provider.url, oldKey));
  await Promise.all([closed, refused]);
  expect(provider.seen).toEqual([]);
});

it.each([
  '/chat/completions?key=1',
  '/v1/../../chat/completions',
  '//evil.example/chat/completions',
  '/chat%2fcompletions',
  'http://evil.example/chat/completions',
])('sends the key to its own server only, for the target %s', async (target) => {
  const provider = await startProvider(answer);
  const odd = credentialOf(`http://u:p@${new URL(provider.url).host}/base?a=b#c`, oldKey);
  const { connect, auth } = await openTestGateway('http://127.0.0.1:9', { credential: async () => odd });
  const wire = connect();
  wire.send(`POST ${target} HTTP/1.1\r\n${auth}X-Forwarded-Host: evil.example\r\nContent-Length: 2\r\n\r\n{}`);
  await wire.waitFor(/^HTTP/);
  for (const { url, headers } of provider.seen) {
    expect(url).toMatch(/^\/base\/chat\/completions$/);
    expect(headers).toMatchObject({ host: new URL(provider.url).host, authorization: `Bearer ${oldKey}` });
  }
});

it('refuses further calls of the turn with a key that the provider has refused', async () => {
  const provider = await startProvider({ status: 401, body: '{"error":{"message":"No."}}' });
  const credentials = [oldKey, oldKey, newKey, newKey].map((key) => credentialOf(provider.url, key));
  const outcomes: unknown[] = [];
  const { gateway, call } = await openWith(
    async () => credentials.shift() as ProviderCredential,
    (credential, failure) => outcomes.push([credential.key, failure?.code]),
  );
  gateway.failures.begin();
  const reached = gateway.failures.reached();
  expect((await call()).status).toBe(401);
  const failure = await reached;
  expect(failure).toMatchObject({ code: 'KEY_REFUSED' });
  expect(failure.message).toContain('the key "Team" of the organization');
  const second = await call();
  expect([second.status, await second.json()]).toMatchObject([403, { error: { message: failure.message } }]);
  expect(provider.seen).toHaveLength(1);
  // Another key is tried.
  expect((await call()).status).toBe(401);
  gateway.failures.begin();
  expect((await call()).status).toBe(401);
  expect(provider.seen).toHaveLength(3);
  expect(outcomes).toEqual([oldKey, newKey, newKey].map((key) => [key, 'KEY_REFUSED']));
});

it('reports a server that cannot be reached, unless it has answered before', async () => {
  const provider = await startProvider(answer);
  const credentials = [provider.url, 'http://127.0.0.1:9', provider.url].map((url) => credentialOf(url, oldKey));
  const { gateway, call } = await openWith(async () => credentials.shift() as ProviderCredential);
  gateway.failures.begin();
  expect((await call()).status).toBe(200);
  expect(gateway.failures.last()).toBeNull();
  expect((await call()).status).toBe(502);
  expect(gateway.failures.last()).toMatchObject({ code: 'NOT_REACHABLE' });
  expect((await call()).status).toBe(200);
});

const priced = (baseUrl: string, model: string): ProviderCredential => ({
  ...credentialOf(baseUrl, oldKey),
  costOf: (each, { inputTokens }) => (each === model ? inputTokens : null),
});

it('counts a call that an agent leaves before its figures come', async () => {
  const provider = await startProvider({ type: 'text/event-stream', body: 'data: {"model":"m"}\n\n', isEndless: true });
  const credential = priced(provider.url, 'm');
  const { call, firstUsage } = await openWith(async () => credential);
  const controller = new AbortController();
  const answered = await call('/chat/completions', controller.signal);
  await answered.body?.getReader().read();
  controller.abort();
  expect(await firstUsage).toMatchObject({ inputTokens: null, costUsd: expect.any(Number), providerKeyId: 'key-1' });
});

it.each(['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]', '2130706433', '[::1]', '169.254.169.254', '100.100.100.200'])(
  'does not connect to %s for a stored key if private networks are not allowed',
  async (host) => {
    const provider = await startProvider(answer);
    const { port } = new URL(provider.url);
    const credential = { ...credentialOf(`http://${host}:${port}`, oldKey), isPrivateAllowed: false };
    const { gateway, call } = await openWith(async () => credential);
    gateway.failures.begin();
    expect((await call()).status).toBe(502);
    expect(provider.seen).toEqual([]);
    const { code, message } = gateway.failures.last() ?? {};
    expect([code, message]).toEqual([
      'NOT_REACHABLE',
      expect.stringContaining('has no address that the service is allowed to connect to'),
    ]);
  },
);

it('connects to a private network if that is allowed, but never to the metadata of a cloud', async () => {
  const provider = await startProvider(answer);
  const urls = [provider.url, provider.url.replace('127.0.0.1', 'localhost'), 'http://169.254.169.254:9'];
  const credentials = urls.map((url) => ({ ...credentialOf(url, oldKey), isPrivateAllowed: true }));
  const { call } = await openWith(async () => credentials.shift() as ProviderCredential);
  expect([(await call()).status, (await call()).status, (await call()).status]).toEqual([200, 200, 502]);
});

it('does not follow a redirect with the key', async () => {
  const other = await startRawProvider();
  const provider = await startRawProvider((wire) =>
    wire.send(
      `HTTP/1.1 307 Temporary Redirect\r\nLocation: ${other.url}/chat/completions\r\nContent-Length: 0\r\n\r\n`,
    ),
  );
  const { call } = await openWith(async () => credentialOf(provider.url, oldKey));
  const answered = await call();
  expect(answered.status).toBe(502);
  expect(answered.headers.get('location')).toBeNull();
  expect(other.requests()).toEqual([]);
});
