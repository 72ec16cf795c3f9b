import fc from 'fast-check';
import { expect, it } from 'vitest';
import { openTestGateway } from '../support/open-gateway.ts';
import { providerKey } from '../support/provider.ts';
import { readRequests, startRawProvider } from '../support/raw-http.ts';

/** A request of an agent, and the request that the provider must receive; null: none. */
interface Attempt {
  readonly head: readonly string[];
  readonly body: string;
  readonly seen: { readonly line: string; readonly body: string } | null;
}

const smuggled = 'GET /v1/files HTTP/1.1\r\nHost: provider\r\n\r\n';
const bodies = fc.oneof(
  fc.constantFrom('{}', smuggled, '0\r\n\r\n', `0\r\n\r\n${smuggled}`, '\r\n\r\n', ''),
  fc.string({ unit: 'binary-ascii', maxLength: 40 }),
);
const chunked = (parts: readonly string[], extension: string, trailer: string) => {
  const chunks = parts
    .filter((part) => part !== '')
    .map((part) => `${part.length.toString(16)}${extension}\r\n${part}\r\n`);
  return `${chunks.join('')}0\r\n${trailer}\r\n`;
};

/** Headers that do not change the forwarded request. */
const noise = fc.subarray([
  'Connection: keep-alive, Content-Length, Authorization',
  'Connection: Upgrade',
  'TE: trailers, chunked',
  'Trailer: Content-Length',
  'Keep-Alive: timeout=99',
  'Proxy-Connection: keep-alive',
  'X-Forwarded-Host: elsewhere.example',
  'X-HTTP-Method-Override: DELETE',
  'Host: elsewhere.example',
  'Content-Type: application/json',
  'X-Content-Length: 7',
  'Range: bytes=0-1',
]);

const validAttempts: fc.Arbitrary<Attempt> = fc.oneof(
  fc.tuple(noise, fc.constantFrom([], ['Content-Length: 0'])).map(([head, framing]) => ({
    head: ['GET /v1/models HTTP/1.1', ...head, ...framing],
    body: '',
    seen: { line: 'GET /v1/models HTTP/1.1', body: '' },
  })),
  fc.tuple(noise, bodies).map(([head, body]) => ({
    head: ['POST /v1/responses HTTP/1.1', ...head, `Content-Length: ${body.length}`],
    body,
    seen: { line: 'POST /v1/responses HTTP/1.1', body },
  })),
  fc
    .tuple(noise, fc.array(bodies, { maxLength: 3 }), fc.constantFrom('', ';a=b'), fc.constantFrom('', 'x-a: b\r\n'))
    .map(([head, parts, extension, trailer]) => ({
      head: ['POST /v1/chat/completions HTTP/1.1', ...head, 'Transfer-Encoding: chunked'],
      body: chunked(parts, extension, trailer),
      seen: { line: 'POST /v1/chat/completions HTTP/1.1', body: parts.join('') },
    })),
);

const badFramings = [
  ['Content-Length: 2', 'Content-Length: 2'],
  ['Content-Length: 2', 'Content-Length: 46'],
  ['Content-Length: 2', 'Transfer-Encoding: chunked'],
  ['Transfer-Encoding: chunked', 'Content-Length: 2'],
  ['Transfer-Encoding: chunked', 'Transfer-Encoding: identity'],
  ['Transfer-Encoding: gzip, chunked'],
  ['Transfer-Encoding: chunked, chunked'],
  ['Transfer-Encoding: xchunked'],
  ['Transfer-Encoding: chunked;q=1'],
  ['Transfer-Encoding: "chunked"'],
  ['Content-Length: -2'],
  ['Content-Length: 2, 2'],
  ['Content-Length: 2 2'],
  ['Content-Length: 2;'],
  ['Content-Length: 0x2'],
  ['Content-Length: 1e1'],
  ['Content-Length : 2'],
  ['Transfer-Encoding : chunked'],
  ['X-Folded: a', ' Content-Length: 2'],
  ['X-Folded: a', '\tTransfer-Encoding: chunked'],
];
const allowed = ['/v1/responses', '/v1/chat/completions', '/v1/embeddings'];
const refused: fc.Arbitrary<Attempt> = fc.oneof(
  fc.tuple(fc.constantFrom(...allowed), fc.constantFrom(...badFramings), bodies).map(([path, framing, body]) => ({
    head: [`POST ${path} HTTP/1.1`, ...framing],
    body,
    seen: null,
  })),
  fc
    .tuple(fc.constantFrom('GET', 'HEAD', 'DELETE', 'PUT', 'OPTIONS', 'PATCH'), bodies, fc.boolean())
    .map(([method, text, isChunked]) => {
      const body = text === '' ? 'x' : text;
      return {
        head: [
          `${method} /v1/models HTTP/1.1`,
          isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`,
        ],
        body: isChunked ? chunked([body], '', '') : body,
        seen: null,
      };
    }),
  fc
    .constantFrom(
      '/v1/files',
      '//v1/models',
      '/v1/models/../files',
      'http://elsewhere.example/v1/models',
      '*',
      '/v1/models/%2e%2e/files',
      '/v1/models/x%0d%0ay',
    )
    .map((target) => ({ head: [`GET ${target} HTTP/1.1`], body: '', seen: null })),
  fc.constantFrom('HTTP/1.0', 'HTTP/0.9', 'HTTP/2.0', 'HTTP/1.2', 'http/1.1', '').map((version) => ({
    head: [`POST /v1/responses ${version}`, 'Transfer-Encoding: chunked'],
    body: chunked(['{}'], '', ''),
    seen: null,
  })),
);

const sorted = (requests: readonly { line: string; body: string }[]) =>
  requests.map(({ line, body }) => `${line}\n${body}`).toSorted();

it('forwards only complete requests of allowed paths, one per accepted request, for any input of an agent', async () => {
  const provider = await startRawProvider();
  let accepted = 0;
  let closed = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof({ arbitrary: validAttempts, weight: 2 }, { arbitrary: refused, weight: 1 }), {
        minLength: 1,
        maxLength: 6,
      }),
      fc.array(fc.nat({ max: 400 }), { maxLength: 5 }),
      async (attempts, cutOffsets) => {
        const before = provider.wires.length;
        const { gateway, connect } = await openTestGateway(provider.url, { limits: { requestTimeoutMs: 250 } });
        const key = `x-api-key: ${gateway.key}`;
        const texts = attempts.map(({ head: [line, ...more], body }) =>
          [line, 'Host: gateway', key, ...more, '', body].join('\r\n'),
        );
        const all = `${texts.join('')}GET /v1/the-end HTTP/1.1\r\nHost: gateway\r\n${key}\r\n\r\n`;
        const agent = connect();
        agent.socket.setNoDelay(true);
        const at = [0, ...cutOffsets.toSorted((a, b) => a - b), all.length];
        for (let n = 1; n < at.length; n++) agent.send(Buffer.from(all.slice(at[n - 1], at[n]), 'latin1'));
        const isWhole = await agent.waitFor(/the-end is none of them/).then(
          () => true,
          () => false,
        );
        await gateway.close();
        const wires = provider.wires.slice(before);
        await Promise.all(wires.map((wire) => wire.closed));
        // Throws for data that is not a request.
        const perWire = wires.map((wire) => readRequests(wire.received()));
        expect(perWire.filter((requests) => requests.length > 1)).toEqual([]);
        const requests = perWire.flat();
        for (const { line, headers, isComplete } of requests.filter((each) => each.headers.length > 0)) {
          const framing = headers.filter(([name]) => /^(content-length|transfer-encoding)$/.test(name));
          expect(framing).toHaveLength(line.startsWith('GET') ? 0 : 1);
          if (!isComplete) continue;
          expect(headers).toContainEqual(['authorization', `Bearer ${providerKey}`]);
          expect(headers.filter(([name]) => /^(te|trailer|upgrade|x-|host$)/.test(name))).toHaveLength(1);
        }
        const seen = sorted(requests.filter((each) => each.isComplete));
        const meant = sorted(attempts.flatMap((each) => each.seen ?? []));
        // A connection that was closed because of invalid data may have lost earlier requests too.
        if (isWhole) expect(seen).toEqual(meant);
        else expect(meant).toEqual(expect.arrayContaining(seen));
        accepted += seen.length;
        closed += isWhole ? 0 : 1;
      },
    ),
    { numRuns: 300 },
  );
  // Both kinds occurred.
  expect(accepted).toBeGreaterThan(50);
  expect(closed).toBeGreaterThan(5);
});
