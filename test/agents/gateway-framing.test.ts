import { expect, it } from 'vitest';
import { openTestGateway } from '../support/open-gateway.ts';
import { providerKey } from '../support/provider.ts';
import { readRequests, startRawProvider } from '../support/raw-http.ts';

const smuggled = 'GET /v1/files HTTP/1.1\r\nHost: provider\r\n\r\n';
const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
const chunked = (text: string) => `${chunk(text)}0\r\n\r\n`;
/** The end of a response: of its body's last chunk, or of its head if it has no body. */
const lastLine = /\r\n0\r\n\r\n$|^HTTP\/1\.1 [45]\d\d [\s\S]*\r\n\r\n(\{[\s\S]*\})?$/;

it.each([
  { what: 'GET, chunked', head: 'GET /v1/models', framing: 'Transfer-Encoding: chunked', body: chunked(smuggled) },
  { what: 'GET, with a length', head: 'GET /v1/models', framing: `Content-Length: ${smuggled.length}`, body: smuggled },
  { what: 'HEAD, chunked', head: 'HEAD /v1/models', framing: 'Transfer-Encoding: chunked', body: chunked(smuggled) },
  {
    what: 'DELETE, chunked',
    head: 'DELETE /v1/models',
    framing: 'Transfer-Encoding: chunked',
    body: chunked(smuggled),
  },
  { what: 'OPTIONS, with a length', head: 'OPTIONS /v1/models', framing: 'Content-Length: 3', body: 'abc' },
  {
    what: 'POST, with a coding beside chunked',
    head: 'POST /v1/responses',
    framing: 'Transfer-Encoding: gzip, chunked',
    body: chunked('{}'),
  },
  {
    what: 'POST, with the coding twice',
    head: 'POST /v1/responses',
    framing: 'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked',
    body: chunked('{}'),
  },
  {
    what: 'POST, with two equal lengths',
    head: 'POST /v1/responses',
    framing: 'Content-Length: 2\r\nContent-Length: 2',
    body: '{}',
  },
  {
    what: 'POST, with two lengths',
    head: 'POST /v1/responses',
    framing: 'Content-Length: 2\r\nContent-Length: 46',
    body: `{}${smuggled}`,
  },
  {
    what: 'POST, with a length and chunked',
    head: 'POST /v1/responses',
    framing: 'Content-Length: 5\r\nTransfer-Encoding: chunked',
    body: `0\r\n\r\n${smuggled}`,
  },
  {
    what: 'POST, with chunked and a length',
    head: 'POST /v1/responses',
    framing: 'Transfer-Encoding: chunked\r\nContent-Length: 5',
    body: `0\r\n\r\n${smuggled}`,
  },
  { what: 'POST, with a list of lengths', head: 'POST /v1/responses', framing: 'Content-Length: 2, 2', body: '{}' },
  { what: 'POST, with a sign', head: 'POST /v1/responses', framing: 'Content-Length: +2', body: '{}' },
  { what: 'POST, with a hexadecimal length', head: 'POST /v1/responses', framing: 'Content-Length: 0x2', body: '{}' },
  {
    what: 'POST, with a length beyond all numbers',
    head: 'POST /v1/responses',
    framing: 'Content-Length: 99999999999999999999',
    body: '{}',
  },
  {
    what: 'POST, with a space before the colon',
    head: 'POST /v1/responses',
    framing: 'Transfer-Encoding : chunked',
    body: chunked('{}'),
  },
  {
    what: 'POST, with a folded header',
    head: 'POST /v1/responses',
    framing: 'X-A: b\r\n Transfer-Encoding: chunked\r\nContent-Length: 2',
    body: '{}',
  },
  {
    what: 'POST, with a bare line feed in the head',
    head: 'POST /v1/responses',
    framing: 'Content-Length: 0\nX-B: c',
    body: smuggled,
  },
  {
    what: 'POST, with chunks whose sizes are none',
    head: 'POST /v1/responses',
    framing: 'Transfer-Encoding: chunked',
    body: `0x2\r\n{}\r\n0\r\n\r\n${smuggled}`,
  },
])('refuses with 400, and forwards nothing: $what', async ({ head, framing, body }) => {
  const provider = await startRawProvider();
  const { auth, connect } = await openTestGateway(provider.url);
  const agent = connect();
  agent.send(`${head} HTTP/1.1\r\n${auth}${framing}\r\n\r\n${body}`);
  expect(await agent.waitFor(lastLine)).toMatch(/^HTTP\/1\.1 400 /);
  // Data that reached the provider before a broken chunk was detected does not count as a request.
  for (const wire of provider.wires) await wire.closed;
  expect(provider.requests().filter(({ isComplete }) => isComplete)).toEqual([]);
});

it('refuses a chunked request of HTTP/1.0', async () => {
  const provider = await startRawProvider();
  const { auth, connect } = await openTestGateway(provider.url);
  const agent = connect();
  agent.send(`POST /v1/responses HTTP/1.0\r\n${auth}Transfer-Encoding: chunked\r\n\r\n${chunked('{}')}`);
  expect(await agent.waitFor(lastLine)).toMatch(/^HTTP\/1\.1 400 /);
  expect(provider.wires).toEqual([]);
});

it('isolates other runs’ calls from a body that imitates a request', async () => {
  const provider = await startRawProvider();
  const [attacker, victim] = [await openTestGateway(provider.url), await openTestGateway(provider.url)];
  const open = 'POST /v1/responses HTTP/1.1\r\nHost: provider\r\nContent-Length: 10000\r\n\r\n{"stored":"';
  const first = attacker.connect();
  first.send(`GET /v1/models HTTP/1.1\r\n${attacker.auth}Transfer-Encoding: chunked\r\n\r\n${chunked(open)}`);
  expect(await first.waitFor(lastLine)).toMatch(/^HTTP\/1\.1 400 /);
  const second = victim.connect();
  second.send(`POST /v1/responses HTTP/1.1\r\n${victim.auth}Content-Length: 8\r\n\r\n"secret"`);
  expect(await second.waitFor(lastLine)).toMatch(/^HTTP\/1\.1 200 /);
  expect(provider.requests()).toEqual([
    expect.objectContaining({ line: 'POST /v1/responses HTTP/1.1', body: '"secret"', isComplete: true }),
  ]);
});

it('sends each request of an agent over a separate connection, framed by the gateway byte for byte', async () => {
  const provider = await startRawProvider();
  const { auth, connect, gateway } = await openTestGateway(provider.url);
  const agent = connect();
  // Pipelined in one write, with a chunk extension and a trailer.
  agent.send(
    [
      `GET /v1/models HTTP/1.1\r\n${auth}Content-Length: 0\r\n\r\n`,
      `POST /v1/responses HTTP/1.1\r\n${auth}Content-Length: 5\r\n\r\n"one"`,
      `POST /v1/responses HTTP/1.1\r\n${auth}Transfer-Encoding: Chunked\r\nTrailer: x-evil\r\n\r\n` +
        `5;a=b\r\n"two"\r\n0\r\nx-evil: 1\r\n\r\n`,
      `POST /v1/embeddings HTTP/1.1\r\n${auth}\r\n`,
    ].join(''),
  );
  await agent.waitFor(/(HTTP\/1\.1 200 [\s\S]*\r\n0\r\n\r\n){4}$/);
  const port = new URL(provider.url).port;
  const common = [
    ['accept-encoding', 'identity'],
    ['authorization', `Bearer ${providerKey}`],
  ];
  const ending = [
    ['Host', `127.0.0.1:${port}`],
    ['Connection', 'close'],
  ];
  const bytesOf = (line: string, framing: string[][], body: string) =>
    `${line} HTTP/1.1\r\n${[...common, ...framing, ...ending].map((each) => `${each.join(': ')}\r\n`).join('')}\r\n${body}`;
  expect(provider.wires.map((wire) => wire.received().toString()).toSorted()).toEqual(
    [
      bytesOf('GET /v1/models', [], ''),
      bytesOf('POST /v1/responses', [['content-length', '5']], '"one"'),
      bytesOf('POST /v1/responses', [['transfer-encoding', 'chunked']], '5\r\n"two"\r\n0\r\n\r\n'),
      bytesOf('POST /v1/embeddings', [['content-length', '0']], ''),
    ].toSorted(),
  );
  await gateway.close();
  await Promise.all(provider.wires.map((wire) => wire.closed));
});

it.each([
  { what: 'with a length', head: 'Content-Length: 100', part: '{"model":"m"' },
  { what: 'in chunks', head: 'Transfer-Encoding: chunked', part: chunk('{"model":"m"') },
  {
    what: 'in chunks, cut in the last one',
    head: 'Transfer-Encoding: chunked',
    part: `${chunk('{"model":"m"}')}0\r\n`,
  },
])('sends the provider no complete request when the agent dies in the middle: $what', async ({ head, part }) => {
  for (const leave of ['destroy', 'end', 'resetAndDestroy'] as const) {
    const provider = await startRawProvider();
    const { auth, connect, usages, gateway } = await openTestGateway(provider.url);
    const agent = connect();
    agent.send(`POST /v1/responses HTTP/1.1\r\n${auth}${head}\r\n\r\n${part}`);
    const upstream = await provider.wire(0);
    await upstream.waitFor(/"m"/);
    agent.socket[leave]();
    await upstream.closed;
    expect(provider.requests().map(({ isComplete }) => isComplete)).toEqual([false]);
    await gateway.close();
    expect(usages).toEqual([]);
  }
});

it.each([
  { what: 'GET', line: 'GET /v1/models HTTP/1.1', upgrade: 'websocket', framing: '', body: '' },
  { what: 'GET to HTTP/2', line: 'GET /v1/models HTTP/1.1', upgrade: 'h2c', framing: '', body: '' },
  {
    what: 'POST',
    line: 'POST /v1/responses HTTP/1.1',
    upgrade: 'websocket',
    framing: 'Content-Length: 2\r\n',
    body: '{}',
  },
])('treats $what with an upgrade to $upgrade as an ordinary request', async ({ line, upgrade, framing, body }) => {
  const provider = await startRawProvider();
  const { auth, connect } = await openTestGateway(provider.url);
  const agent = connect();
  agent.send(`${line}\r\n${auth}Connection: Upgrade\r\nUpgrade: ${upgrade}\r\n${framing}\r\n${body}${smuggled}`);
  expect(await agent.waitFor(/\r\n0\r\n\r\n/)).toMatch(/^HTTP\/1\.1 200 OK/);
  const [seen, ...others] = provider.requests();
  expect(others).toEqual([]);
  expect(seen).toMatchObject({ line, body });
  expect(seen?.headers.map(([name]) => name)).not.toContain('upgrade');
});

it.each([
  { what: 'CONNECT', line: 'CONNECT 127.0.0.1:80 HTTP/1.1' },
  { what: 'the preface of HTTP/2', line: 'PRI * HTTP/2.0' },
  { what: 'HTTP/0.9', line: 'GET /v1/models' },
  { what: 'no HTTP', line: '\x16\x03\x01\x02\x00' },
])('forwards nothing of $what', async ({ line }) => {
  const provider = await startRawProvider();
  const { auth, connect } = await openTestGateway(provider.url);
  const agent = connect();
  agent.send(`${line}\r\n${auth}\r\n${smuggled}`);
  expect(await agent.closed).not.toMatch(/ 200 /);
  expect(provider.wires).toEqual([]);
});

it.each([
  { target: 'http://elsewhere.example/v1/models', status: 400 },
  { target: 'https://elsewhere.example:443/v1/models', status: 400 },
  { target: '*', status: 400 },
  { target: 'elsewhere.example:443', status: 400 },
  { target: '/\\elsewhere.example/v1/models', status: 403 },
  { target: '//elsewhere.example/v1/models', status: 403 },
  { target: '/@elsewhere.example/v1/models', status: 403 },
  { target: '/v1/models/..%2f..%2ffiles', status: 403 },
  { target: '/v1/models/%0d%0aGET%20/v1/files', status: 403 },
  { target: '/v1/models#/../files', status: 200 },
])('answers the target $target with $status, and reaches no other address', async ({ target, status }) => {
  const provider = await startRawProvider();
  const { auth, connect } = await openTestGateway(provider.url);
  const agent = connect();
  agent.send(`GET ${target} HTTP/1.1\r\n${auth}\r\n`);
  expect(await agent.waitFor(lastLine)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  expect(provider.requests().map(({ line }) => line)).toEqual(status === 200 ? ['GET /v1/models HTTP/1.1'] : []);
});

it.each([
  { what: 'a NUL', header: 'User-Agent: a\0b' },
  { what: 'a carriage return', header: 'User-Agent: a\rX-Evil: 1' },
  { what: 'a line feed', header: 'User-Agent: a\nX-Evil: 1' },
  { what: 'a control character', header: 'User-Agent: a\x01b' },
  { what: 'a name with a line break', header: 'User-Agent\r\n : a' },
  { what: 'bytes beyond ASCII', header: 'User-Agent: \xff\xfe' },
])('forwards only permitted headers to the provider, for $what in one', async ({ header }) => {
  const provider = await startRawProvider();
  const { auth, connect } = await openTestGateway(provider.url);
  const agent = connect();
  agent.socket.write(`GET /v1/models HTTP/1.1\r\n${auth}${header}\r\n\r\n`, 'latin1');
  await agent.waitFor(lastLine);
  const names = provider.requests().flatMap(({ headers }) => headers.map(([name]) => name));
  expect(names).not.toContain('x-evil');
});

it('waits with "100 Continue" until it accepts a request', async () => {
  const provider = await startRawProvider();
  const { auth, connect } = await openTestGateway(provider.url);
  const refused = connect();
  refused.send(`POST /v1/files HTTP/1.1\r\n${auth}Expect: 100-continue\r\nContent-Length: 2\r\n\r\n`);
  expect(await refused.waitFor(lastLine)).toMatch(/^HTTP\/1\.1 403 /);
  const accepted = connect();
  accepted.send(`POST /v1/responses HTTP/1.1\r\n${auth}Expect: 100-continue\r\nContent-Length: 2\r\n\r\n`);
  await accepted.waitFor(/^HTTP\/1\.1 100 Continue\r\n\r\n$/);
  accepted.send('{}');
  expect(await accepted.waitFor(lastLine)).toMatch(/HTTP\/1\.1 200 OK/);
  expect(readRequests((await provider.wire(0)).received())[0]?.headers.map(([name]) => name)).not.toContain('expect');
  const odd = connect();
  odd.send(`POST /v1/responses HTTP/1.1\r\n${auth}Expect: miracles\r\nContent-Length: 2\r\n\r\n{}`);
  expect(await odd.waitFor(lastLine)).toMatch(/^HTTP\/1\.1 417 /);
  expect(provider.wires).toHaveLength(1);
});

it('forwards an encoded body with its header', async () => {
  const provider = await startRawProvider();
  const { auth, connect } = await openTestGateway(provider.url);
  const agent = connect();
  agent.send(
    `POST /v1/responses HTTP/1.1\r\n${auth}Content-Encoding: zstd\r\nTransfer-Encoding: chunked\r\n\r\n${chunked('\0\r\n\r\n')}`,
  );
  expect(await agent.waitFor(lastLine)).toMatch(/^HTTP\/1\.1 200 /);
  const [seen] = provider.requests();
  expect(seen).toMatchObject({ body: '\0\r\n\r\n', isComplete: true });
  expect(seen?.headers).toContainEqual(['content-encoding', 'zstd']);
});
