import { expect, it } from 'vitest';
import { graphql } from '../support/app.ts';
import { connect, follow } from '../support/sockets.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();

const nested = (sizes: string) => `query($id: ID!${sizes.includes('$n') ? ', $n: Int' : ''}) { organization(id: $id) {
  sessions(first: 100) { nodes { organization { sessions(${sizes}) { nodes { messages(first: 5) { nodes { body } } } } } } } } }`;

it.each([
  ['a hundred pages of a hundred pages', 'first: 100', {}],
  ['the same by a variable', 'first: $n', { n: 100 }],
  ['the same from the end', 'last: 100', {}],
])('refuses %s before anything is read', async (_what, sizes, variables) => {
  const { store } = test.app.services;
  const original = store.query;
  let listed = 0;
  store.query = (sql: string, values?: readonly unknown[]) => {
    if (sql.includes('from session s')) listed += 1;
    return original.call(store, sql, values) as never;
  };
  const { data, errors } = await graphql(test, test.adminToken, nested(sizes), {
    id: test.organizationId,
    ...variables,
  });
  store.query = original;
  expect(data).toBeFalsy();
  expect(errors?.[0]).toMatchObject({
    extensions: { code: 'LIMIT_EXCEEDED' },
    message: expect.stringContaining('at most 12000 items'),
  });
  expect(listed).toBe(0);
});

it('refuses them on a socket too', async () => {
  const [error] = await follow(connect(test.url, test.adminToken), nested('first: 100'), {
    id: test.organizationId,
  }).errors();
  expect(error?.extensions?.code).toBe('LIMIT_EXCEEDED');
});

it('accepts a page of a hundred sessions with a hundred messages each', async () => {
  const query =
    'query($id: ID!) { organization(id: $id) { sessions(first: 100) { nodes { messages(first: 100) { nodes { body } } } } } }';
  const { errors } = await graphql(test, test.adminToken, query, { id: test.organizationId });
  expect(errors).toBeUndefined();
});

it('refuses a value nested deeper than the parser allows as a syntax error', async () => {
  const deep = `${'['.repeat(2_400)}${']'.repeat(2_400)}`;
  const { errors, data } = await graphql(
    test,
    test.adminToken,
    `mutation { createSession(input: {prompt: "x", structuredOutputSchema: ${deep}}) { userErrors { message } } }`,
  );
  // The depth of the parser depends on how far its code is optimized: a value that it can read is not an object.
  const [error = data?.createSession.userErrors[0]] = errors ?? [];
  expect(error?.message).toMatch(/nests too deep|must be a JSON object|Syntax Error/);
  expect(error?.extensions?.code).not.toBe('INTERNAL_SERVER_ERROR');
});
