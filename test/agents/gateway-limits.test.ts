import { expect, it } from 'vitest';
import { openTestGateway } from '../support/open-gateway.ts';
import { okResponse, startRawProvider } from '../support/raw-http.ts';

const jsonEnd = /\}(\r\n0\r\n\r\n)?$/;

it('refuses with 413 a body with an announced length above the limit, and forwards nothing', async () => {
  const provider = await startRawProvider();
  const { auth, connect } = await openTestGateway(provider.url);
  const agent = connect();
  agent.send(`POST /v1/responses HTTP/1.1\r\n${auth}Content-Length: ${64 * 1_048_576 + 1}\r\n\r\n`);
  const text = await agent.waitFor(jsonEnd);
  expect(text).toMatch(/^HTTP\/1\.1 413 [\s\S]*at most 67108864 bytes/);
  expect(provider.wires).toEqual([]);
});

it('refuses with 413 a chunked body above the limit, and never ends it for the provider', async () => {
  const provider = await startRawProvider();
  const { auth, connect, usages, gateway } = await openTestGateway(provider.url, { limits: { maxBodyBytes: 10 } });
  const agent = connect();
  agent.send(`POST /v1/responses HTTP/1.1\r\n${auth}Transfer-Encoding: chunked\r\n\r\na\r\n"12345678"\r\n`);
  const upstream = await provider.wire(0);
  await upstream.waitFor(/"12345678"/);
  agent.send('1\r\n \r\n');
  expect(await agent.closed).toMatch(/^HTTP\/1\.1 413 /);
  await upstream.closed;
  expect(provider.requests().map(({ line, isComplete }) => [line, isComplete])).toEqual([
    ['POST /v1/responses HTTP/1.1', false],
  ]);
  await gateway.close();
  expect(usages).toEqual([]);
});

it('forwards a body of exactly the maximum size', async () => {
  const provider = await startRawProvider();
  const { auth, connect } = await openTestGateway(provider.url, { limits: { maxBodyBytes: 10 } });
  for (const framed of [
    'Content-Length: 10\r\n\r\n"12345678"',
    'Transfer-Encoding: chunked\r\n\r\na\r\n"12345678"\r\n0\r\n\r\n',
  ]) {
    const agent = connect();
    agent.send(`POST /v1/responses HTTP/1.1\r\n${auth}${framed}`);
    expect(await agent.waitFor(jsonEnd)).toMatch(/^HTTP\/1\.1 200 /);
  }
});

it('ends a request that takes too long to arrive, and never ends it for the provider', async () => {
  const provider = await startRawProvider();
  const { auth, connect } = await openTestGateway(provider.url, { limits: { requestTimeoutMs: 300 } });
  const agent = connect();
  agent.send(`POST /v1/responses HTTP/1.1\r\n${auth}Content-Length: 5\r\n\r\n"1`);
  const upstream = await provider.wire(0);
  await Promise.all([upstream.closed, agent.closed]);
  expect(provider.requests().map(({ isComplete }) => isComplete)).toEqual([false]);
});

it.each([
  { api: 'openai', target: '/v1/responses', error: { error: { type: 'rate_limit_error', code: null, param: null } } },
  { api: 'anthropic', target: '/v1/messages', error: { type: 'error', error: { type: 'rate_limit_error' } } },
  {
    api: 'gemini',
    target: '/v1beta/models/g:generateContent',
    error: { error: { code: 429, status: 'RESOURCE_EXHAUSTED' } },
  },
] as const)(
  'handles 16 concurrent requests, and refuses the next in the form of $api',
  async ({ api, target, error }) => {
    const provider = await startRawProvider(() => undefined);
    const { connect, gateway } = await openTestGateway(provider.url, {}, api);
    const call = `POST ${target} HTTP/1.1\r\nHost: gateway\r\nx-api-key: ${gateway.key}\r\nContent-Length: 2\r\n\r\n{}`;
    const agent = connect();
    agent.send(call.repeat(16));
    const first = await provider.wire(0);
    await provider.wire(15);
    const another = connect();
    another.send(call);
    const refused = await another.waitFor(jsonEnd);
    expect(refused).toMatch(/^HTTP\/1\.1 429 [\s\S]*\r\nretry-after: 1\r\n/i);
    expect(JSON.parse(refused.slice(refused.indexOf('{'), refused.lastIndexOf('}') + 1))).toMatchObject(error);
    expect(provider.wires).toHaveLength(16);
    // The end of one frees a slot.
    first.send(okResponse);
    await agent.waitFor(/ 200 OK[\s\S]*\r\n0\r\n\r\n$/);
    const last = connect();
    last.send(call);
    await provider.wire(16);
  },
);

it('closes the oldest connection of an agent beyond the limit', async () => {
  const provider = await startRawProvider();
  const { auth, connect } = await openTestGateway(provider.url);
  const agents = Array.from({ length: 129 }, () => connect());
  // The oldest is closed; the others are served.
  expect(await agents[0]?.closed).toBe('');
  agents[128]?.send(`GET /v1/models HTTP/1.1\r\n${auth}\r\n`);
  expect(await agents[128]?.waitFor(jsonEnd)).toMatch(/^HTTP\/1\.1 200 /);
});
