import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyText } from '../support/arbitraries.ts';
import { factor, seed } from '../support/property-runs.ts';
import { useApp } from '../support/use-app.ts';
import { exchange } from './property-connection.ts';
import { call } from './rest-app.ts';

/** The wait for a response to an incomplete request. */
const endAfterMs = 40;
const runs = 400;

const app = useApp();

const route = fc.constantFrom('/v1/sessions', '/v2/enterprise/roles', '/v3/self', '/v3/enterprise/organizations');
const target = fc.oneof(
  { weight: 3, arbitrary: route },
  {
    weight: 3,
    arbitrary: fc
      .tuple(
        route,
        fc.constantFrom('?', '/', '/../', '/%2e%2e/', '\\', '//', '#', ';', '%', '%zz', '?q=%', '?qs={', ' '),
        anyText,
      )
      .map(([path, sign, text]) => `${path}${sign}${text}`),
  },
  fc.constantFrom(
    '*',
    '',
    'v3/self',
    '//',
    'http://elsewhere.example/v3/self',
    'http://[/',
    '/%',
    '/\u0080',
    '@',
    'http:',
  ),
  fc.constant(`/v3/${'x'.repeat(20_000)}`),
);
const method = fc.constantFrom(
  'GET',
  'POST',
  'DELETE',
  'HEAD',
  'OPTIONS',
  'get',
  'TRACE',
  'CONNECT',
  'PRI',
  '',
  'G T',
  'G\u0001T',
);
const header = fc.oneof(
  fc.constantFrom(
    'content-length: 100',
    'content-length: -1',
    'content-length: 1e3',
    'content-length: 18446744073709551616',
    'content-length: 2\r\ncontent-length: 3',
    'transfer-encoding: chunked',
    'transfer-encoding: chunked\r\ncontent-length: 2',
    'transfer-encoding: gzip, chunked',
    'transfer-encoding: x',
    'expect: 100-continue',
    'expect: something',
    'upgrade: websocket\r\nconnection: upgrade',
    'upgrade: h2c\r\nconnection: upgrade, http2-settings\r\nhttp2-settings: x',
    'host: other\r\nhost: another',
    'host:',
    'host: a b',
    'host: [',
    'content-type: application/json',
    'content-encoding: gzip',
    'accept-encoding: \u00ff',
    'authorization: Basic x',
    'authorization:',
    'x-forwarded-for: \u0001',
    'no colon',
    ': no name',
    ' folded',
  ),
  anyText.map((text) => `x-any: ${text}`),
);
const body = fc.oneof(
  fc.constantFrom(
    '',
    '{}',
    '{"name":',
    '2\r\n{}\r\n0\r\n\r\n',
    '2\r\n{}',
    'zz\r\n{}\r\n',
    'ffffffffffffffff\r\nx',
    '0\r\n\r\n',
    '-1\r\n\r\n',
  ),
  anyText,
);
const version = fc.constantFrom('HTTP/1.1', 'HTTP/1.1', 'HTTP/1.1', 'HTTP/1.0', 'HTTP/2.0', 'HTTP/9.9', 'FTP/1', '');

const request = fc
  .record({ method, target, version, headers: fc.array(header, { maxLength: 3 }), body, isLatin: fc.boolean() })
  .map(({ method: verb, target: to, version: http, headers, body: sent, isLatin }) => {
    const keyed = `authorization: Bearer ${to.startsWith('/v3') ? '{v3}' : '{v1}'}`;
    const lines = [`${verb} ${to} ${http}`, 'host: localhost', 'connection: close', keyed, ...headers];
    return { text: `${lines.join('\r\n')}\r\n\r\n${sent}`, isLatin };
  });

test('every connection is answered or closed, and the service keeps running', async () => {
  let answered = 0;
  const property = fc.asyncProperty(request, async ({ text, isLatin }) => {
    const sent = text.replace('{v3}', app.adminToken).replace('{v1}', app.v1Key);
    const answer = await exchange(app, Buffer.from(sent, isLatin ? 'latin1' : 'utf8'), endAfterMs);
    expect(answer === '' || /^HTTP\/1\.1 [1-4]\d\d /.test(answer), answer).toBe(true);
    if (answer !== '') answered += 1;
  });
  await fc.assert(property, { seed, numRuns: runs * factor });
  expect(answered).toBeGreaterThan(runs / 2);
  expect((await call(app, app.adminToken, 'GET', '/v3/self')).status).toBe(200);
});

test('a non-canonical address is refused as a problem that every version’s clients can read', async () => {
  const parts = fc.constantFrom('.', '..', '%2e', '%2E.', '..', './../%2e');
  const property = fc.asyncProperty(route, parts, async (path, part) => {
    const answer = await exchange(app, `GET ${path}/${part}/x HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 400 [\s\S]*content-type: application\/problem\+json/i);
    const body = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')));
    expect(body).toMatchObject({ status: 400, detail: expect.stringContaining('must be normalized') });
  });
  await fc.assert(property, { seed, numRuns: 40 * factor });
});
