import { beforeAll, describe, expect, it } from 'vitest';
import { operationLimits } from '../../src/api/graphql/document-limits.ts';
import { type Clock, stopClock } from '../support/clock.ts';
import { makeKey } from '../support/principals.ts';
import { connect, follow } from '../support/sockets.ts';
import { type SentOperation, transportNames, transports } from '../support/transports.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp({ rateLimitGraphql: 11_000 });
let clock: Clock;
beforeAll(async () => {
  clock = stopClock(test);
});

const times = (count: number, text: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => text(n)).join(' ');
const nested = (depth: number, field: string, leaf: string) =>
  `${`${field} { `.repeat(depth)} ${leaf} ${'} '.repeat(depth)}`;

/** Each rule of the gate with an operation that breaks it alone, its code and its message. */
const rules: [rule: string, operation: SentOperation, code: string, message: string][] = [
  ['syntax', { query: '{ viewer {' }, 'GRAPHQL_PARSE_FAILED', 'Syntax Error'],
  ['validity', { query: '{ viewer { nothing } }' }, 'GRAPHQL_VALIDATION_FAILED', 'Cannot query field "nothing"'],
  ['tokens', { query: `{ ${'id '.repeat(operationLimits.tokens)} }` }, 'GRAPHQL_PARSE_FAILED', '5000 tokens'],
  [
    'depth',
    { query: `{ session(id: "x") { ${nested(14, 'parent', 'title')} } }` },
    'LIMIT_EXCEEDED',
    'too many levels of fields inside one another: at most 15',
  ],
  [
    'depth of introspection',
    { query: `{ __schema { types { ${nested(20, 'ofType', 'name')} } } }` },
    'LIMIT_EXCEEDED',
    'too many levels of fields inside one another: at most 20',
  ],
  [
    'lists of introspection',
    { query: `{ __schema { ${times(16, (n) => `t${n}: types { name }`)} } }` },
    'LIMIT_EXCEEDED',
    'too many lists of introspection: at most 15',
  ],
  [
    'aliases',
    { query: `{ viewer { ${times(61, (n) => `a${n}: principalType`)} } }` },
    'LIMIT_EXCEEDED',
    'too many aliases: at most 60',
  ],
  [
    'directives',
    { query: `{ viewer { ${times(51, () => 'principalType @include(if: true)')} } }` },
    'LIMIT_EXCEEDED',
    'too many directives: at most 50',
  ],
  [
    'directives of one field',
    { query: `{ viewer { principalType ${'@include(if: true) '.repeat(51)} } }` },
    'LIMIT_EXCEEDED',
    'too many directives: at most 50',
  ],
  [
    'deferred parts',
    { query: `{ ${times(21, () => '... @defer { viewer { principalType } }')} }` },
    'LIMIT_EXCEEDED',
    'too many deferred parts: at most 20',
  ],
  [
    'fields',
    { query: `{ viewer { ${'permissions '.repeat(1_000)} } }` },
    'LIMIT_EXCEEDED',
    'too many fields: at most 1000',
  ],
  [
    'fields at the top',
    { query: `{ ${'viewer { permissions } '.repeat(21)} }` },
    'LIMIT_EXCEEDED',
    'too many fields at the top: at most 20',
  ],
  [
    'operations of a document',
    { query: times(21, (n) => `query Q${n} { __typename }`), operationName: 'Q0' },
    'LIMIT_EXCEEDED',
    '20 others beside it',
  ],
  [
    'items of pages',
    {
      query:
        '{ organizations(first: 100) { nodes { sessions(first: 100) { nodes { messages(first: 100) { nodes { body } } } } } } }',
    },
    'LIMIT_EXCEEDED',
    'at most 12000 items',
  ],
  [
    'cost beyond a whole minute',
    {
      query:
        '{ organizations(first: 100) { nodes { sessions(first: 100) { nodes { title } } } } a: organizations(first: 100) { nodes { sessions(first: 10) { nodes { title } } } } }',
    },
    'LIMIT_EXCEEDED',
    'costs 11200 points, more than the 11000',
  ],
  [
    'trusted documents',
    { documentId: 'unknown' },
    'PERSISTED_QUERY_NOT_SUPPORTED',
    'This service has no trusted documents',
  ],
];

describe.each(transportNames)('by %s', (name) => {
  const send = transports[name];

  it.each(rules)('limits %s', async (_rule, operation, code, message) => {
    const { data, errors } = await send(test, test.adminToken, operation);
    expect(data ?? null).toBeNull();
    expect(errors?.[0]).toMatchObject({ extensions: { code }, message: expect.stringContaining(message) });
    expect(errors?.[0]?.extensions).not.toHaveProperty('http');
    clock.advance(60_000);
  });

  it.each([
    ['Unexpected Name "cog_…"', (key: string) => `{ viewer { principalType } } ${key}`],
    ['found String.', (key: string) => `{ viewer { "a \\"${key}\\" b" } }`],
    ['found BlockString.', (key: string) => `{ viewer { """${key}""" } }`],
    ['cannot represent a non-string', (key: string) => `{ session(id: ${key}) { title } }`],
    ['Cannot query field "cog_…"', (key: string) => `{ ${key} }`],
  ])('repeats no key of a document that it refuses: %s', async (message, queryWith) => {
    const key = `cog_${'c4n4ry'.repeat(8)}`;
    const { errors } = await send(test, test.adminToken, { query: queryWith(key) });
    expect(errors?.[0]?.message).toContain(message);
    expect(JSON.stringify(errors)).not.toContain('c4n4ry');
    clock.advance(60_000);
  });

  it('limits the rate', async () => {
    clock.advance(60_000);
    const key = await makeKey(test, { kind: 'SERVICE', organizationId: test.organizationId });
    const spend = { query: '{ organizations(first: 100) { nodes { sessions(first: 99) { nodes { title } } } } }' };
    expect((await send(test, key, spend)).errors).toBeUndefined();
    const { errors, data } = await send(test, key, spend);
    expect(data ?? null).toBeNull();
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'RATE_LIMITED', retryAfter: expect.any(Number) });
  });

  it('reports the cost, with ids counted', async () => {
    clock.advance(60_000);
    const ids = Array.from({ length: 37 }, (_, n) => `id ${n}`);
    const list = `[${ids.map((id) => JSON.stringify(id)).join(', ')}]`;
    const operations: SentOperation[] = [
      { query: `{ nodes(ids: ${list}) { id } rateLimit { cost } }` },
      { query: 'query($ids: [ID!]!) { nodes(ids: $ids) { id } rateLimit { cost } }', variables: { ids } },
      { query: `query($ids: [ID!]! = ${list}) { nodes(ids: $ids) { id } rateLimit { cost } }` },
    ];
    for (const operation of operations) {
      const { data, extensions } = await send(test, test.adminToken, operation);
      expect({ extensions, rateLimit: data.rateLimit }).toEqual({
        extensions: { cost: 37 },
        rateLimit: { cost: 37 },
      });
    }
  });

  it('refuses requests without a valid token', async () => {
    const sent = send(test, `cog_${'a'.repeat(52)}`, { query: '{ viewer { principalType } }' });
    const output = await sent.then((result) => JSON.stringify(result), String);
    if (name === 'WebSocket') await expect(sent).rejects.toMatchObject({ code: 4403 });
    else expect(output).toContain('UNAUTHENTICATED');
  });
});

describe('size', () => {
  const query = `{ viewer { principalType } } # ${'x'.repeat(1_100_000)}`;

  it.each(transportNames.filter((name) => !/GET|WebSocket/.test(name)))('is limited to 1 MiB over %s', async (name) => {
    const { errors } = await transports[name](test, test.adminToken, { query });
    expect(errors?.[0]?.message).toContain('at most 1 MiB');
  });

  it.each(['GET', 'server-sent events by GET'] as const)('of an address is limited over %s', async (name) => {
    const answered = fetch(`${test.url}/graphql?query=${encodeURIComponent(query)}`, {
      headers: {
        authorization: `Bearer ${test.adminToken}`,
        ...(name === 'GET' ? {} : { accept: 'text/event-stream' }),
      },
    });
    // Node answers 431 by itself, or closes the connection while it still comes.
    const status = await answered.then(
      (response) => response.status,
      () => 'closed',
    );
    expect([431, 'closed']).toContain(status);
  });

  it('of a WebSocket message is limited to 256 KiB: 1009 closes the socket', async () => {
    const following = follow(connect(test.url, test.adminToken), query, {});
    expect(await following.ended).toMatchObject({ code: 1009 });
  });
});
