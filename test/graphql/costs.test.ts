import fc from 'fast-check';
import { buildSchema, getIntrospectionQuery, parse, validate } from 'graphql';
import { describe, expect, it } from 'vitest';
import { createEstimate } from '../../src/api/graphql/estimate.ts';
import { maxItems } from '../../src/api/graphql/page-budget.ts';
import { planDocument } from '../../src/api/graphql/plans/plan.ts';
import { createPlans } from '../../src/api/graphql/plans/plans.ts';
import { schema } from '../../src/api/graphql/schema/index.ts';
import { noTrustedDocuments } from '../../src/api/graphql/trusted-documents.ts';
import { call, graphql } from '../support/app.ts';
import { costByDirectives } from '../support/cost-by-directives.ts';
import { randomDocument } from '../support/random-documents.ts';
import { readText } from '../support/tree.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();

const printed = buildSchema(readText('schema.graphql'));
const sent = async (query: string, variables: Record<string, unknown> = {}) =>
  (await call(test, test.adminToken, 'POST', '/graphql', { query, variables })).body;

/** Documents of every kind of cost, with variables. */
const documents: readonly [string, string, Record<string, unknown>?][] = [
  ['nothing', '{ viewer { principalType } }'],
  [
    'pages inside pages',
    '{ organizations(first: 3) { nodes { sessions(last: 7) { edges { node { messages { nodes { body } } } } } } } }',
  ],
  [
    'a size by a variable',
    'query($n: Int = 4) { sessions(first: $n) { nodes { children(first: $n) { nodes { title } } } } }',
    { n: 9 },
  ],
  ['a size by default', 'query($n: Int = 4) { sessions(first: $n) { nodes { title } } }'],
  ['a size of null', 'query($n: Int) { sessions(first: $n, last: 3) { nodes { title } } }', { n: null }],
  ['figures', '{ enterprise { metrics(from: "2098-01-01", to: "2098-01-02") { activeUserCount } } }'],
  [
    'times',
    '{ recurrencePreview(rule: "FREQ=DAILY", count: 3) { times } two: recurrencePreview(rule: "FREQ=DAILY") { times } }',
  ],
  [
    'ids',
    'query($ids: [ID!]!) { nodes(ids: $ids) { ... on Session { messages(first: 2) { nodes { body } } } } }',
    { ids: ['a', 'b', 'c'] },
  ],
  [
    'a fragment',
    'query { ...F ...F } fragment F on Query { organizations(first: 2) { nodes { ... { ...G } } } } fragment G on Organization { sessions(first: 5) { nodes { id } } }',
  ],
  [
    'counts of lists, also in a fragment',
    '{ organizations(first: 3) { totalCount nodes { sessions(first: 7) { ...C } } } } fragment C on SessionConnection { totalCount nodes { id } }',
  ],
  ['introspection', getIntrospectionQuery()],
  [
    'mutations',
    'mutation { a: createOrganization(input: {name: ""}) { organization { sessions(first: 2) { nodes { id } } } } b: createOrganization(input: {name: ""}) { userErrors { code } } }',
  ],
];

it.each(documents)('charges what the directives say: %s', async (_what, query, variables = {}) => {
  expect((await sent(query, variables)).extensions.cost).toBe(costByDirectives(printed, query, variables));
});

it('counts the length of a list once, not for each item', () => {
  const costOf = (query: string) => planDocument(schema, parse(query)).find(null)?.price({}).cost;
  expect(costOf('{ sessions(first: 100) { totalCount nodes { id } } }')).toBe(110);
  expect(costOf('{ organizations(first: 5) { nodes { sessions(first: 20) { totalCount totalCountIsExact } } } }')).toBe(
    205,
  );
});

it('charges what the directives say for random queries', () => {
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      const { query, variables } = randomDocument({ schema, ids: ['x'], without: new Set() }, seed);
      const document = parse(query);
      fc.pre(validate(schema, document).length === 0);
      const price = planDocument(schema, document).find(null)?.price(variables);
      // Counting stops above the maximum number of items.
      fc.pre(price !== undefined && price.items <= maxItems);
      expect(price?.cost).toBe(costByDirectives(printed, query, variables));
    }),
    { numRuns: 300 },
  );
});

it.each([
  ['ids in the document', 'selection: {sessionIds: ["a", "b"]}', 30],
  ['a filter', 'selection: {filter: {tags: ["x"]}}', 1_010],
  ['a filter with a number', 'selection: {filter: {tags: ["x"]}}, first: 3', 40],
  ['ids in a variable', 'selection: $selection', 40],
])('counts the sessions that a bulk mutation may act on by %s', (_what, selection, cost) => {
  const declared = selection.includes('$') ? '($selection: SessionSelection!)' : '';
  const query = `mutation${declared} { archiveSessions(input: {${selection}}) { results { sessionId } } }`;
  const variables = { selection: { sessionIds: ['a', 'b', 'c'] } };
  expect(validate(schema, parse(query))).toEqual([]);
  expect(planDocument(schema, parse(query)).find(null)?.price(variables).cost).toBe(cost);
  expect(costByDirectives(printed, query, variables)).toBe(cost);
});

it('counts pages behind a fragment without a condition on a union', () => {
  const document = (inner: string) =>
    `{ organizations(first: 1) { nodes { automations(first: 1) { nodes { actions { ${inner} } } } } } }`;
  const plain = document('... on MessageSessionAction { targetSession { messages(first: 50) { nodes { body } } } }');
  const hidden = document(
    '... { ... on MessageSessionAction { targetSession { messages(first: 50) { nodes { body } } } } }',
  );
  for (const query of [plain, hidden]) {
    expect(planDocument(schema, parse(query)).find(null)?.price({}).cost).toBe(52);
    expect(costByDirectives(printed, query)).toBe(52);
  }
});

it('refunds the points of a bulk mutation that @skip excludes', async () => {
  const query = `mutation($isSkipped: Boolean!) { archiveSessions(input: {organizationId: "${test.organizationId}",
    selection: {filter: {tags: ["none"]}}}) @skip(if: $isSkipped) { results { sessionId } } }`;
  expect((await sent(query, { isSkipped: true })).extensions.cost).toBe(10);
});

describe('Query.operationCost', () => {
  const ask =
    'query($document: String!, $variables: JSON, $operationName: String) { operationCost(document: $document, variables: $variables, operationName: $operationName) { cost isAffordable } }';
  const costOf = (document: string, variables?: unknown, operationName?: string) =>
    graphql(test, test.adminToken, ask, { document, variables, operationName });

  it.each(documents)('predicts the charge for %s', async (_what, document, variables = {}) => {
    const { data } = await costOf(document, variables);
    expect(data.operationCost).toEqual({ cost: (await sent(document, variables)).extensions.cost, isAffordable: true });
  });

  it('runs nothing, and has a constant cost', async () => {
    const before = await test.app.services.store.query<{ count: number }>('select count(*)::int from organization');
    const document = 'mutation { createOrganization(input: {name: "Never"}) { organization { id } } }';
    const { body } = await call(test, test.adminToken, 'POST', '/graphql', { query: ask, variables: { document } });
    expect(body).toMatchObject({ data: { operationCost: { cost: 10 } }, extensions: { cost: 10 } });
    expect(await test.app.services.store.query('select count(*)::int from organization')).toEqual(before);
  });

  it('selects an operation by its name, including subscriptions', async () => {
    const document = 'query A { sessions(first: 7) { nodes { id } } } subscription B { sessionChanges { type } }';
    expect((await costOf(document, {}, 'A')).data.operationCost.cost).toBe(7);
    expect((await costOf(document, {}, 'B')).data.operationCost.cost).toBe(10);
  });

  it.each([
    ['does not parse', '{', {}, 'GRAPHQL_PARSE_FAILED'],
    ['does not fit the schema', '{ nothing }', {}, 'GRAPHQL_VALIDATION_FAILED'],
    ['is too deep', `${'{ viewer '.repeat(20)}${'}'.repeat(20)}`, {}, 'LIMIT_EXCEEDED'],
    [
      'asks for too many items',
      '{ sessions(first: 100) { nodes { children(first: 100) { nodes { children(first: 100) { nodes { id } } } } } } }',
      {},
      'LIMIT_EXCEEDED',
    ],
    ['lacks a variable', 'query($n: Int!) { sessions(first: $n) { nodes { id } } }', {}, 'INVALID_INPUT'],
    ['has variables that are no object', '{ viewer { principalType } }', [1], 'INVALID_INPUT'],
    [
      'has several operations',
      'query A { viewer { principalType } } query B { viewer { principalType } }',
      {},
      'OPERATION_RESOLUTION_FAILURE',
    ],
  ])(
    'returns the error of an operation which %s, and the rest of the response',
    async (_what, document, variables, code) => {
      const { data, errors } = await graphql(test, test.adminToken, ask.replace(/}$/, ' viewer { principalType } }'), {
        document,
        variables,
      });
      expect(data).toEqual({ operationCost: null, viewer: { principalType: expect.any(String) } });
      expect(errors).toMatchObject([{ path: ['operationCost'], extensions: { code } }]);
    },
  );

  it('follows the rules of the gate: only trusted documents, and no names of a hidden schema', () => {
    const plans = createPlans(schema, { maxBytes: 1_000_000 });
    const estimate = (isOnly: boolean, document: string) => () =>
      createEstimate({ schema, plans, trusted: { ...noTrustedDocuments, isOnly }, isIntrospectable: false })({
        document,
        operationName: null,
        variables: null,
      });
    expect(estimate(false, '{ viewer { principalType } }')()).toBe(1);
    expect(estimate(true, '{ viewer { principalType } }')).toThrow(/This service runs trusted documents only/);
    expect(estimate(false, '{ __schema { types { name } } }')).toThrow(/introspection/);
    expect(estimate(false, '{ viewr { principalType } }')).toThrow(/^Cannot query field "viewr" on type "Query".$/);
  });
});
