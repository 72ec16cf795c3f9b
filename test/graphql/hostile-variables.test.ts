import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { type SentOperation, transportNames, transports } from '../support/transports.ts';

let test: TestApp;
/** An app without introspection. */
let closed: TestApp;
beforeAll(async () => {
  [test, closed] = await Promise.all([startApp(), startApp({ isIntrospectable: false, hasExplorer: false })]);
});
afterAll(() => Promise.all([test.close(), closed.close()]));

const create = 'mutation($x: CreateSessionInput!) { createSession(input: $x) { session { id } } }';

const ordered =
  'query($order: SessionOrder) { organizations { nodes { sessions(orderBy: $order, first: 1) { nodes { id } } } } }';

/** Four nested pages; `first` is the size of each. */
const pages = (variable: string) =>
  `query(${variable}) { organizations { nodes { ${'sessions(first: $n) { nodes { organization { '.repeat(4)} id ${'} } } '.repeat(4)} } } }`;

const acted = (input: string) =>
  `results { session { organization { sessions(first: 100) { nodes { organization { ${input} } } } } } }`;

const excessive: [string, SentOperation][] = [
  ['null for the size of pages, beside a default', { query: pages('$n: Int = 1'), variables: { n: null } }],
  ['nothing for the size of pages, beside no default', { query: pages('$n: Int') }],
  ['a default of null', { query: pages('$n: Int = null') }],
  [
    'no ids for a bulk act by a variable',
    {
      query: `mutation($id: ID!, $ids: [ID!]!) { tagSessions(input: {organizationId: $id, selection: {sessionIds: $ids}, tags: ["bulk"]}) { ${acted('sessions(first: 100) { nodes { id } }')} } }`,
      variables: { ids: [] },
    },
  ],
  [
    'no ids in the input of a bulk act',
    {
      query: `mutation($id: ID!) { archiveSessions(input: {organizationId: $id, selection: {sessionIds: []}}) { ${acted('sessions(first: 100) { nodes { id } }')} } }`,
    },
  ],
  [
    'null for how many a bulk act is for, beside a default',
    {
      query: `mutation($id: ID!, $n: Int = 1) { archiveSessions(input: {organizationId: $id, selection: {filter: {tags: ["bulk"]}}, first: $n}) { ${acted('sessions(first: 100) { nodes { id } }')} } }`,
      variables: { n: null },
    },
  ],
];

describe.each(transportNames)('by %s', (name) => {
  const send = transports[name];
  const withId = ({ query = '', variables }: SentOperation) => ({
    query,
    variables: { ...(query.includes('$id') ? { id: test.organizationId } : {}), ...variables },
  });

  it.each(excessive.filter(([, { query }]) => !(name.includes('GET') && query?.startsWith('mutation'))))(
    '%s is counted as what it gives',
    async (_what, operation) => {
      const { data, errors } = await send(test, test.adminToken, withId(operation));
      expect(data ?? null).toBeNull();
      expect(errors).toMatchObject([
        { extensions: { code: 'LIMIT_EXCEEDED' }, message: expect.stringContaining('items in all') },
      ]);
    },
  );

  it('reports a limited number of short errors', async () => {
    const many = Object.fromEntries(Array.from({ length: 150 }, (_, n) => [`${'k'.repeat(20)}${n}`, 1]));
    const { data, errors } = await send(test, test.adminToken, { query: ordered, variables: { order: many } });
    expect(data ?? null).toBeNull();
    expect(errors?.length).toBe(5);
    for (const { message, extensions } of errors ?? []) {
      expect(message).toMatch(/^Variable "\$order" got invalid value \{…\}; Field "/);
      expect(message.length).toBeLessThan(500);
      expect(extensions?.code).toBe('INVALID_INPUT');
    }
  });

  it('no error about a variable reveals names of the schema if introspection is off', async () => {
    const operations: SentOperation[] = [
      { query: ordered, variables: { order: { feild: 'CREATED_AT', directon: 'DESC' } } },
      { query: ordered, variables: { order: { field: 'CREATED_AD', direction: 'DESK' } } },
    ];
    for (const operation of operations) {
      const open = await send(test, test.adminToken, operation);
      expect(JSON.stringify(open.errors)).toContain('Did you mean');
      const { errors } = await send(closed, closed.adminToken, operation);
      expect(errors?.[0]).toMatchObject({
        message: expect.stringContaining('Variable "$order" got invalid value'),
        extensions: { code: 'INVALID_INPUT' },
      });
      expect(JSON.stringify(errors)).not.toContain('Did you mean');
    }
  });
});

it.each([
  [
    'an object of 80,000 names that there are not',
    Object.fromEntries(Array.from({ length: 80_000 }, (_, n) => [`k${n}`, 1])),
  ],
  ['30,000 objects instead of tags', { prompt: 'x', tags: Array(30_000).fill({ a: { b: 1 } }) }],
  ['a name of 900,000 letters', { prompt: 'x', ['k'.repeat(900_000)]: 1 }],
  ['a text of 900,000 letters for a number', { prompt: 'x', maxAcuLimit: 'x'.repeat(900_000) }],
])('refuses %s fast and with a short message', async (_what, x) => {
  const startedAt = process.cpuUsage();
  const response = await fetch(`${test.url}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${test.adminToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query: create, variables: { x } }),
  });
  const text = await response.text();
  const { user, system } = process.cpuUsage(startedAt);
  expect(text).toContain('INVALID_INPUT');
  expect(text.length).toBeLessThan(5_000);
  // It took half a minute to print them. The time is CPU time, so other load on the machine does not count.
  expect((user + system) / 1_000).toBeLessThan(2_000);
});
