import { getIntrospectionQuery, parse } from 'graphql';
import { describe, expect, it } from 'vitest';
import { findExceededLimit, operationLimits } from '../../src/api/graphql/document-limits.ts';
import { call, graphql } from '../support/app.ts';
import { connect, follow } from '../support/sockets.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();

const range = (count: number) => Array.from({ length: count }, (_, n) => n);
const nested = (depth: number) => `{ ${'a { '.repeat(depth - 1)} b ${'} '.repeat(depth - 1)} }`;

// Each fragment contains the next one twice: 2^40 paths to its end, in 250 tokens.
const doubling = (leaf: string) =>
  `query { ...F0 } ${range(40)
    .map((n) => `fragment F${n} on Query { ...F${n + 1} ...F${n + 1} }`)
    .join(' ')} fragment F40 on Query { ${leaf} }`;

// Each fragment contains all others: the number of paths is the number of their permutations.
const circles = `query { ...F0 } ${range(15)
  .map(
    (n) =>
      `fragment F${n} on Query { ${range(15)
        .map((m) => (m === n ? '' : `...F${m}`))
        .join(' ')} }`,
  )
  .join(' ')}`;

const refused: [string, string, string][] = [
  ['too many tokens', `{ viewer { ${'permissions '.repeat(operationLimits.tokens)} } }`, 'tokens'],
  ['fields too deep', nested(operationLimits.depth + 1), 'too many levels of fields inside one another: at most 15'],
  [
    'too many fields at the top',
    `{ ${'viewer { permissions } '.repeat(21)} }`,
    'too many fields at the top: at most 20',
  ],
  [
    'too many fields at the top by a fragment',
    `{ ...F ...F } fragment F on Query { ${'viewer { permissions } '.repeat(11)} }`,
    'too many fields at the top: at most 20',
  ],
  ['too many fields', `{ viewer { ${'permissions '.repeat(1_000)} } }`, 'too many fields: at most 1000'],
  [
    'too many aliases, of __typename also',
    `{ viewer { ${range(61)
      .map((n) => `a${n}: __typename`)
      .join(' ')} } }`,
    'too many aliases: at most 60',
  ],
  ['fragments that double', doubling('__typename'), 'at most 20 are allowed'],
  ['fragments that double down to introspection', doubling('__schema { description }'), 'at most 20 are allowed'],
  ['fragments that double down to nothing', doubling('...F40'), 'too many fields: at most 1000'],
  ['fragments in circles', circles, 'too many fields: at most 1000'],
];

describe.each(refused)('%s', (_what, query, message) => {
  it('are refused by POST fast', async () => {
    const startedAt = performance.now();
    const { errors, data } = await graphql(test, test.adminToken, query);
    expect(data).toBeUndefined();
    expect(errors).toHaveLength(1);
    expect(errors?.[0].message).toContain(message);
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });

  it('are refused again from the cache', async () => {
    const { errors } = await graphql(test, test.adminToken, query);
    expect(errors?.[0].message).toContain(message);
  });

  it('are refused on a socket', async () => {
    const errors = await follow(connect(test.url, test.adminToken), query, {}).errors();
    expect(errors[0]?.message).toContain(message);
  });

  it('are refused over server-sent events', async () => {
    const response = await fetch(`${test.url}/graphql`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${test.adminToken}`,
        'content-type': 'application/json',
        accept: 'text/event-stream',
      },
      body: JSON.stringify({ query }),
    });
    expect(await response.text()).toContain(message);
  });
});

it('refuses a document of too many operations', async () => {
  const query = range(21)
    .map((n) => `query Q${n} { __typename }`)
    .join(' ');
  const { body } = await call(test, test.adminToken, 'POST', '/graphql', { query, operationName: 'Q3' });
  expect(body.errors[0].message).toContain('20 others beside it: at most 19');
});

it('accepts documents exactly at the limits', async () => {
  const aliases = range(operationLimits.aliases)
    .map((n) => `a${n}: __typename`)
    .join(' ');
  const deep = `session(id: "devin-${'0'.repeat(32)}") { ${'parent { '.repeat(13)} title ${'} '.repeat(14)}`;
  const tops = '__typename '.repeat(operationLimits.rootFields - 2);
  const { errors, data } = await graphql(test, test.adminToken, `{ viewer { ${aliases} } ${deep} ${tops} }`);
  expect(errors).toBeUndefined();
  expect(data).toMatchObject({ viewer: { a0: 'Viewer', a59: 'Viewer' }, session: null });
  const fields = (count: number) => findExceededLimit(parse(`{ viewer { ${'permissions '.repeat(count - 1)} } }`));
  expect(fields(operationLimits.fields)).toBeNull();
  expect(fields(operationLimits.fields + 1)?.message).toContain('too many fields');
});

it('accepts the standard introspection query, which is deep', async () => {
  const { errors, data } = await graphql(test, test.adminToken, getIntrospectionQuery());
  expect(errors).toBeUndefined();
  expect(data.__schema.queryType.name).toBe('Query');
});

it('returns GraphQL’s errors for a document that is only invalid', async () => {
  const { errors } = await graphql(test, test.adminToken, nested(operationLimits.depth));
  expect(errors?.[0].message).toContain('Cannot query field "a" on type "Query"');
});
