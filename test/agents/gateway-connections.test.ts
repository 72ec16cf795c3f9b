import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import { createChunkCoalescer } from '../../src/agents/gateway/chunk-coalescer.ts';
import { createMask } from '../../src/domain/execution/runs/masking.ts';
import { openTestGateway } from '../support/open-gateway.ts';
import { providerKey } from '../support/provider.ts';
import { okResponse, startRawProvider } from '../support/raw-http.ts';

it('ends the calls queued behind another one when their connection closes', async () => {
  const provider = await startRawProvider((wire) => {
    wire.send('HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n\n\r\n');
  });
  const { auth, connect, gateway, usages } = await openTestGateway(provider.url);
  const agent = connect();
  agent.send(`POST /v1/responses HTTP/1.1\r\n${auth}Content-Length: 2\r\n\r\n{}`.repeat(3));
  const upstream = await Promise.all([0, 1, 2].map((n) => provider.wire(n)));
  await agent.waitFor(/200 OK[\s\S]*\n$/);
  agent.socket.destroy();
  await Promise.all(upstream.map(({ closed }) => closed));
  await gateway.close();
  expect(usages).toHaveLength(3);
});

it('closes connections that present no key in time, and keeps authenticated ones', async () => {
  const provider = await startRawProvider(() => undefined);
  const { auth, connect } = await openTestGateway(provider.url, { limits: { keyTimeoutMs: 300 } });
  const owner = connect();
  owner.send(`POST /v1/responses HTTP/1.1\r\n${auth}Content-Length: 2\r\n\r\n{}`);
  const upstream = await provider.wire(0);
  const anonymousClients = [connect(), connect(), connect()];
  anonymousClients[1]?.send('POST /v1/responses HTTP/1.1\r\nHost: ga');
  // Complete headers with the key are accepted, but a stranger's body never ends.
  anonymousClients[2]?.send('POST /v1/responses HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n');
  await Promise.all(anonymousClients.map(({ closed }) => closed));
  upstream.send(okResponse);
  expect(await owner.waitFor(/\{\}/)).toMatch(/^HTTP\/1\.1 200 /);
});

it('closes the oldest unauthenticated connection for a new one', async () => {
  const provider = await startRawProvider(() => undefined);
  const { auth, connect } = await openTestGateway(provider.url);
  const owner = connect();
  owner.send(`POST /v1/responses HTTP/1.1\r\n${auth}Content-Length: 2\r\n\r\n{}`);
  const first = await provider.wire(0);
  const anonymousClients = Array.from({ length: 127 }, () => connect());
  const another = connect();
  another.send(`POST /v1/responses HTTP/1.1\r\n${auth}Content-Length: 2\r\n\r\n{}`);
  const second = await provider.wire(1);
  expect(await Promise.race(anonymousClients.map(({ closed }) => closed))).toBe('');
  for (const upstream of [first, second]) upstream.send(okResponse);
  for (const agent of [owner, another]) expect(await agent.waitFor(/\{\}/)).toMatch(/^HTTP\/1\.1 200 /);
});

it.each([
  {
    what: 'a wrong key',
    request: 'POST /v1/responses HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}',
    status: 401,
  },
  {
    what: 'a body that does not end',
    request: 'POST /v1/responses HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n',
    status: 401,
  },
  { what: 'HEAD', request: 'HEAD / HTTP/1.1\r\nHost: a\r\n\r\n', status: 200 },
])('closes an unauthenticated connection after one response: $what', async ({ request, status }) => {
  const provider = await startRawProvider();
  const { connect, auth } = await openTestGateway(provider.url);
  const anonymousClient = connect();
  const more = `HEAD / HTTP/1.1\r\nHost: a\r\n\r\nGET /v1/models HTTP/1.1\r\n${auth}\r\n`.repeat(20);
  anonymousClient.send(request.includes('chunked') ? request : request + more);
  const text = await anonymousClient.closed;
  expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [\\s\\S]*connection: close\\r\\n`, 'i'));
  expect(text.match(/HTTP\/1\.1 /g)).toHaveLength(1);
  expect(provider.wires).toEqual([]);
});

/** Counts the requests that servers of this process parse, until the end of the test. */
function countParsed(): () => number {
  let count = 0;
  const increment = () => {
    count += 1;
  };
  subscribe('http.server.request.start', increment);
  onTestFinished(() => void unsubscribe('http.server.request.start', increment));
  return () => count;
}

it.each([
  { what: 'HEAD', request: 'HEAD / HTTP/1.1\r\nHost: a\r\n\r\n', status: 200 },
  { what: 'no Host', request: 'GET / HTTP/1.1\r\n\r\n', status: 400 },
  { what: 'an unknown expectation', request: 'GET / HTTP/1.1\r\nHost: a\r\nExpect: x\r\n\r\n', status: 417 },
  { what: 'another version', request: 'GET / HTTP/1.0\r\n\r\n', status: 401 },
  { what: 'CONNECT', request: 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n', status: null },
  {
    what: 'an upgrade',
    request: 'GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n',
    status: 401,
  },
])('parses few of the requests pipelined behind a refused one: $what', async ({ request, status }) => {
  const provider = await startRawProvider();
  const { auth, connect } = await openTestGateway(provider.url);
  const parsed = countParsed();
  const anonymousClients = [connect(), connect(), connect()];
  for (const anonymousClient of anonymousClients) anonymousClient.send(request.repeat(3_000));
  for (const text of await Promise.all(anonymousClients.map(({ closed }) => closed)))
    expect(text).toMatch(status === null ? /^$/ : new RegExp(`^HTTP/1\\.1 ${status} `));
  expect(parsed()).toBeLessThan(200);
  const owner = connect();
  owner.send(`GET /v1/models HTTP/1.1\r\n${auth}\r\n`);
  await owner.waitFor(/\{\}/);
  owner.send(request.repeat(3_000));
  await owner.closed;
  expect(parsed()).toBeLessThan(600);
});

it('joins the chunks of a body in both directions', async () => {
  const bytes = (text: string) => [...text].map((each) => `1\r\n${each}\r\n`).join('');
  const answer = `{"a":"${'y'.repeat(2_000)}"}`;
  const head = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
  const provider = await startRawProvider((wire) => wire.send(`${head}${bytes(answer)}0\r\n\r\n`));
  const { auth, connect } = await openTestGateway(provider.url);
  const agent = connect();
  const body = `"${'x'.repeat(2_000)}"`;
  agent.send(`POST /v1/responses HTTP/1.1\r\n${auth}Transfer-Encoding: chunked\r\n\r\n${bytes(body)}0\r\n\r\n`);
  const text = await agent.waitFor(/\r\n0\r\n\r\n$/);
  const received = provider.requests()[0];
  expect(received?.body).toBe(body);
  for (const each of [text, provider.wires[0]?.received().toString()])
    expect(each?.match(/\r\n[0-9a-f]+\r\n/g)?.length).toBeLessThan(200);
});

it('searches at most 64 KiB of an error, and one error at a time', async () => {
  const body = 'x'.repeat(200_000);
  const provider = await startRawProvider((wire) =>
    wire.send(`HTTP/1.1 400 Bad\r\nContent-Type: text/plain\r\nContent-Length: ${body.length}\r\n\r\n${body}`),
  );
  const mask = createMask([providerKey]);
  const searched: number[] = [];
  let turns = 0;
  const turnsAt: number[] = [];
  const watched = (text: string, isPiece?: boolean) => {
    if (text.length > 1_000) {
      searched.push(text.length);
      turnsAt.push(turns);
      setImmediate(() => {
        turns += 1;
      });
    }
    return mask(text, isPiece);
  };
  const { auth, connect } = await openTestGateway(provider.url, { maskOf: () => watched });
  const agents = Array.from({ length: 8 }, () => connect());
  for (const agent of agents) agent.send(`POST /v1/responses HTTP/1.1\r\n${auth}Content-Length: 2\r\n\r\n{}`);
  await Promise.all(agents.map((agent) => agent.waitFor(/x\r\n0\r\n\r\n$/)));
  expect(searched).toEqual(Array(8).fill(65_536));
  // Each in a separate turn of the event loop.
  expect(new Set(turnsAt).size).toBe(8);
});

it('reads no more of a body while the gateway is above its rate', async () => {
  let release: () => void = () => undefined;
  const rest = new Promise<void>((resolve) => {
    release = resolve;
  });
  let spent = 0;
  const coalescer = createChunkCoalescer({ spend: () => (++spent === 2 ? rest : null) }).resume();
  for (let n = 0; n < 4; n++) coalescer.write('x');
  await new Promise(setImmediate);
  expect(spent).toBe(2);
  release();
  coalescer.end();
  await once(coalescer, 'end');
  expect(spent).toBe(4);
});
