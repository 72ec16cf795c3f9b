import { expect, it } from 'vitest';
import { createMask } from '../../src/domain/execution/runs/masking.ts';
import { openTestGateway } from '../support/open-gateway.ts';
import { providerKey } from '../support/provider.ts';
import { startRawProvider, type Wire } from '../support/raw-http.ts';

const whole = /\r\n0\r\n\r\n$/;
const ok = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n';

// Sends one request; returns the data that the agent received once it matches or the connection closes.
const answerTo = async (
  answer: (wire: Wire) => void,
  { until = whole, line = 'POST /v1/responses HTTP/1.1' }: { until?: RegExp | 'close'; line?: string } = {},
) => {
  const provider = await startRawProvider(answer);
  const opened = await openTestGateway(provider.url, { maskOf: createMask });
  const agent = opened.connect();
  const isCall = line.startsWith('POST');
  agent.send(`${line}\r\n${opened.auth}${isCall ? 'Content-Length: 2\r\n' : ''}\r\n${isCall ? '{}' : ''}`);
  const text = await (until === 'close' ? agent.closed : agent.waitFor(until));
  return { ...opened, provider, text };
};
const status = (text: string) => Number(/^HTTP\/1\.1 (\d+) /.exec(text)?.[1]);

it.each([
  { what: 'nothing, and closes', bytes: '' },
  { what: 'no HTTP', bytes: '\x00\x01\x02\r\n\r\nSSH-2.0-x\r\n' },
  { what: 'half a head', bytes: 'HTTP/1.1 200 OK\r\nContent-Ty' },
  { what: 'a status of no number', bytes: 'HTTP/1.1 ABC OK\r\n\r\n' },
  { what: 'a status that is too small', bytes: 'HTTP/1.1 020 OK\r\nContent-Length: 0\r\n\r\n' },
  { what: 'a status that is too large', bytes: 'HTTP/1.1 999 OK\r\nContent-Length: 0\r\n\r\n' },
  { what: 'two lengths', bytes: `${ok}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}` },
  {
    what: 'a length and chunks',
    bytes: `${ok}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
  },
  { what: 'a head without an end', bytes: `${ok}${'X-A: b\r\n'.repeat(5_000)}` },
  {
    what: 'an upgrade that nobody asked for',
    bytes: 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\nHTTP/1.1 200 OK\r\n\r\n',
  },
  {
    what: 'a redirect',
    bytes: `HTTP/1.1 307 Temporary Redirect\r\nLocation: http://elsewhere.example/?key=${providerKey}\r\nContent-Length: 0\r\n\r\n`,
  },
  {
    what: 'a redirect with a body',
    bytes: `HTTP/1.1 302 Found\r\nLocation: /v1/files\r\nContent-Length: 24\r\n\r\n${providerKey}`,
  },
  { what: 'a 304', bytes: 'HTTP/1.1 304 Not Modified\r\nETag: "x"\r\n\r\n' },
])('answers 502 when the provider sends $what', async ({ bytes }) => {
  const { text, usages, gateway } = await answerTo((wire) => wire.socket.end(bytes), { until: /\}\s*(0\r\n\r\n)?$/ });
  expect(status(text)).toBe(502);
  expect(text).not.toMatch(/location|elsewhere|c4n4ry/i);
  await gateway.close();
  expect(usages).toEqual([]);
});

it('waits for the final response after interim ones', async () => {
  const interim = [
    'HTTP/1.1 100 Continue\r\n\r\n',
    'HTTP/1.1 102 Processing\r\n\r\n',
    'HTTP/1.1 103 Early Hints\r\nLink: </v1/files>; rel=preload\r\nSet-Cookie: a=b\r\n\r\n',
  ].join('');
  const { text } = await answerTo((wire) => wire.send(`${interim.repeat(50)}${ok}Content-Length: 2\r\n\r\n{}`));
  expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  expect(text).not.toMatch(/HTTP\/1\.1 10|link:|cookie/i);
});

it.each([
  { what: 'before its length is reached', bytes: `${ok}Content-Length: 100\r\n\r\n{"half":` },
  { what: 'in a chunk', bytes: `${ok}Transfer-Encoding: chunked\r\n\r\n50\r\n{"half":` },
  { what: 'with a broken chunk', bytes: `${ok}Transfer-Encoding: chunked\r\n\r\n8\r\n{"half":\r\nZZ\r\n` },
])('breaks off a response that ended $what', async ({ bytes }) => {
  const { text, gateway, usages } = await answerTo((wire) => wire.socket.end(bytes), { until: 'close' });
  expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*\{"half":/);
  expect(text).not.toMatch(whole);
  await gateway.close();
  expect(usages).toHaveLength(1);
});

it('forwards one response and ignores data after it', async () => {
  const two = `${ok}Content-Length: 5\r\n\r\n"one"${ok}Content-Length: 5\r\n\r\n"two"`;
  const { text, connect, auth, provider } = await answerTo((wire) => wire.send(two));
  expect(text).toContain('"one"');
  const agent = connect();
  agent.send(`GET /v1/models HTTP/1.1\r\n${auth}\r\n`);
  expect(text + (await agent.waitFor(whole))).not.toContain('"two"');
  expect(provider.wires).toHaveLength(2);
});

it('forwards an error that arrives before the end of the request, and nothing more of the request', async () => {
  const provider = await startRawProvider();
  const { auth, connect, usages, gateway } = await openTestGateway(provider.url);
  const agent = connect();
  agent.send(`POST /v1/responses HTTP/1.1\r\n${auth}Content-Length: 1000004\r\n\r\n{"a`);
  const upstream = await provider.wire(0);
  await upstream.waitFor(/\{"a$/);
  upstream.send('HTTP/1.1 400 Bad Request\r\nContent-Length: 8\r\n\r\n"early"\n');
  const text = await agent.waitFor(whole);
  expect(text).toMatch(/^HTTP\/1\.1 400 [\s\S]*"early"/);
  await upstream.closed;
  // The agent's connection continues after the rest of its body.
  agent.send(`${'x'.repeat(1_000_001)}GET /v1/models HTTP/1.1\r\n${auth}\r\n`);
  expect(await agent.waitFor(/HTTP\/1\.1 200 OK[\s\S]*\r\n0\r\n\r\n$/)).toContain('{}');
  expect(provider.requests().map(({ line, isComplete }) => [line, isComplete])).toEqual([
    ['POST /v1/responses HTTP/1.1', false],
    ['GET /v1/models HTTP/1.1', true],
  ]);
  await gateway.close();
  expect(usages).toEqual([]);
});

it('counts a success that arrives before the end of the request', async () => {
  const provider = await startRawProvider();
  const { auth, connect, firstUsage } = await openTestGateway(provider.url);
  const agent = connect();
  agent.send(`POST /v1/responses HTTP/1.1\r\n${auth}Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n`);
  const upstream = await provider.wire(0);
  await upstream.waitFor(/\{\r\n$/);
  const body = '{"usage":{"input_tokens":3,"output_tokens":4}}';
  upstream.send(`${ok}Content-Length: ${body.length}\r\n\r\n${body}`);
  expect(await agent.waitFor(whole)).toContain(body);
  expect(await firstUsage).toMatchObject({ inputTokens: 3, outputTokens: 4 });
  await upstream.closed;
  expect(provider.requests().map(({ isComplete }) => isComplete)).toEqual([false]);
});

it('counts a call that the provider received completely, if the agent disconnects before the response', async () => {
  const provider = await startRawProvider(() => undefined);
  const { auth, connect, firstUsage, usages } = await openTestGateway(provider.url);
  const agent = connect();
  agent.send(`POST /v1/responses HTTP/1.1\r\n${auth}Content-Length: 2\r\n\r\n{}`);
  await (await provider.wire(0)).waitFor(/\{\}$/);
  agent.socket.destroy();
  await firstUsage;
  expect(usages).toEqual([expect.objectContaining({ llmCalls: 1, inputTokens: null, outputTokens: null })]);
});

it('ends calls at once when it closes, after it reported their usage, and sends no more responses', async () => {
  const provider = await startRawProvider((wire) => {
    const event = 'data: {"usage":{"input_tokens":7,"output_tokens":1}}\n\n';
    const size = event.length.toString(16);
    wire.send(
      `HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n${size}\r\n${event}\r\n`,
    );
  });
  const { auth, connect, gateway, usages } = await openTestGateway(provider.url);
  const agents = [connect(), connect()];
  for (const agent of agents) {
    agent.send(`POST /v1/responses HTTP/1.1\r\n${auth}Content-Length: 2\r\n\r\n{}`);
    await agent.waitFor(/output_tokens/);
  }
  await gateway.close();
  expect(usages).toEqual(Array(2).fill(expect.objectContaining({ inputTokens: 7, outputTokens: 1 })));
  await Promise.all([...agents, ...provider.wires].map(({ closed }) => closed));
  const late = connect();
  expect(await late.closed).toBe('');
  expect(provider.wires).toHaveLength(2);
});

const hex = Buffer.from(providerKey).toString('hex');
const base64 = Buffer.from(providerKey).toString('base64');

it.each([
  { what: 'as it is', quoted: providerKey },
  { what: 'in hexadecimal', quoted: hex },
  { what: 'in base64', quoted: base64 },
  { what: 'in base64 behind something', quoted: Buffer.from(`Bearer ${providerKey}`).toString('base64') },
  { what: 'broken over lines', quoted: `${providerKey.slice(0, 10)}\n  ${providerKey.slice(10)}` },
])('masks the key in an error that quotes it $what, in one chunk or one for each byte', async ({ quoted }) => {
  const body = `{"error":"Incorrect key: ${quoted}."}`;
  const chunks = [...body].map((each) => `1\r\n${each}\r\n`).join('');
  const head = 'HTTP/1.1 401 Unauthorized\r\nContent-Type: application/json; charset=utf-8\r\n';
  for (const framed of [
    `Content-Length: ${body.length}\r\n\r\n${body}`,
    `Transfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`,
  ]) {
    const { text } = await answerTo((wire) => wire.send(head + framed), { until: /"\}[\s\S]*$/ });
    expect(status(text)).toBe(401);
    expect(text).toMatch(/Incorrect key: .{0,10}\*{8}/);
    for (const form of [providerKey, hex, base64.slice(0, 12), 'c4n4ry']) expect(text).not.toContain(form);
  }
});

it.each([
  { what: 'in a coding', headers: 'Content-Type: application/json\r\nContent-Encoding: gzip', body: 'x' },
  {
    what: 'in another charset',
    headers: 'Content-Type: text/plain; charset=utf-16le',
    body: [...providerKey].join('\0'),
  },
  { what: 'of another type', headers: 'Content-Type: application/octet-stream', body: providerKey },
  { what: 'with bytes that are no text', headers: 'Content-Type: text/plain', body: [...providerKey].join('\0') },
])('replaces an error that it cannot search for the key: $what', async ({ headers, body }) => {
  const { text } = await answerTo(
    (wire) => wire.send(`HTTP/1.1 418 Teapot\r\n${headers}\r\nContent-Length: ${body.length}\r\n\r\n${body}`),
    { until: /\}\}/ },
  );
  expect(status(text)).toBe(418);
  expect(text).toContain('The provider answered with status 418.');
  expect(text.replaceAll('\0', '')).not.toContain('c4n4ry');
});

it('masks the part of the key at which a long error is truncated', async () => {
  const body = 'x'.repeat(65_536 - 12) + providerKey;
  const { text } = await answerTo(
    (wire) =>
      wire.send(`HTTP/1.1 500 Oops\r\nContent-Type: text/plain\r\nContent-Length: ${body.length}\r\n\r\n${body}`),
    { until: /x\*{8}\r\n0\r\n\r\n$/ },
  );
  expect(text).not.toContain(providerKey.slice(0, 8));
});

it('forwards no header that contains the key, names its owner, redirects or sets a cookie', async () => {
  const droppedHeaders = [
    `X-Request-Id: for-${providerKey}`,
    `Request-Id: ${hex}`,
    'OpenAI-Organization: the-owner',
    'Set-Cookie: session=1',
    'Location: http://elsewhere.example',
    'Refresh: 0; url=http://elsewhere.example',
    'Alt-Svc: h3=":443"',
    'WWW-Authenticate: Bearer',
    'Connection: X-Ratelimit-Hidden',
    `X-Ratelimit-${providerKey}: 1`,
  ];
  const forwardedHeaders = [
    'x-ratelimit-remaining-requests: 9',
    'retry-after: 3',
    'anthropic-ratelimit-tokens-remaining: 5',
  ];
  for (const line of ['HTTP/1.1 200 OK', 'HTTP/1.1 429 Too Many Requests']) {
    const head = [
      line,
      'Content-Type: application/json',
      ...droppedHeaders,
      ...forwardedHeaders,
      'Content-Length: 2',
    ].join('\r\n');
    const { text } = await answerTo((wire) => wire.send(`${head}\r\n\r\n{}`), { until: /\{\}/ });
    for (const each of forwardedHeaders) expect(text).toContain(`\r\n${each}\r\n`);
    expect(text).not.toMatch(/c4n4ry|owner|session=1|elsewhere|h3=|authenticate|hidden/i);
    expect(text).not.toContain(hex);
  }
});

it('replaces a key in a success by asterisks, also if chunks split it', async () => {
  const body = `{"echo":"${providerKey}","s":"sk-"}`;
  const chunks = [...body].map((each) => `1\r\n${each}\r\n`).join('');
  const { text } = await answerTo((wire) => wire.send(`${ok}Transfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`));
  const joined = text.slice(text.indexOf('\r\n\r\n') + 4).replaceAll(/[0-9a-f]+\r\n([\s\S]*?)\r\n/g, '$1');
  expect(joined.trim()).toBe(`{"echo":"${'*'.repeat(providerKey.length)}","s":"sk-"}`);
});

it('answers an agent that speaks HTTP/1.0', async () => {
  const { text } = await answerTo((wire) => wire.send(`${ok}Content-Length: 2\r\n\r\n{}`), {
    until: 'close',
    line: 'GET /v1/models HTTP/1.0',
  });
  expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\n\{\}$/);
  expect(text).not.toMatch(/transfer-encoding/i);
});

it('remembers the time of a limit, and passes the refusal on', async () => {
  const body = '{"error":{"message":"Slow down","code":"rate_limit_exceeded"}}';
  const head = `HTTP/1.1 429 Too Many Requests\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`;
  const bytes = `${head}\r\nx-ratelimit-remaining-requests: 0\r\nx-ratelimit-reset-requests: 1m30s\r\n\r\n${body}`;
  const { text, gateway } = await answerTo((wire) => wire.send(bytes));
  expect(text).toContain('Slow down');
  expect(text).toContain('x-ratelimit-reset-requests: 1m30s');
  expect(gateway.quota.isRefused()).toBe(true);
  const { resetMs } = gateway.quota.last() ?? {};
  expect(resetMs).toBeGreaterThan(30_000);
  expect(resetMs).toBeLessThanOrEqual(90_000);
});

it.each([
  { what: 'an overload without a time', head: 'HTTP/1.1 529 Overloaded\r\n', body: '{}', last: null },
  {
    what: 'a body of 10 MB',
    head: 'HTTP/1.1 429 Too Many\r\n',
    body: `{"a":"${'x'.repeat(1e7)}"}`,
    last: { resetMs: null },
  },
  { what: 'a body that is no text', head: 'HTTP/1.1 429 Too Many\r\n', body: '\0', last: { resetMs: null } },
  {
    what: 'two times',
    head: 'HTTP/1.1 429 x\r\nRetry-After: -1\r\nRetry-After: 5\r\n',
    body: '{}',
    last: { resetMs: null },
  },
])('takes no time of a limit from $what', async ({ head, body, last }) => {
  const bytes = `${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const { text, gateway } = await answerTo((wire) => wire.send(bytes));
  expect(text.length).toBeLessThan(100_000);
  expect(gateway.quota.last()).toEqual(last);
});
