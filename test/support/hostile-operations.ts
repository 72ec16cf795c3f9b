import type { SentOperation } from './transports.ts';

const times = (count: number, text: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => text(n)).join(' ');

// Each fragment contains all others: the number of paths is the number of their permutations.
const cycles = `{ ...F0 } ${times(60, (n) => `fragment F${n} on Query { ${times(20, (m) => `...F${(n + m + 1) % 60}`)} }`)}`;

// Each fragment contains the next one twice.
const doubling = `{ ...F0 } ${times(60, (n) => `fragment F${n} on Query { ...F${n + 1} ...F${n + 1} }`)} fragment F60 on Query { __typename }`;

const typeBomb = (depth: number): string =>
  depth === 0 ? 'name' : `fields { type { ${typeBomb(depth - 1)} } } possibleTypes { ${typeBomb(depth - 1)} }`;

/** Hostile operations by kind. */
export const hostileOperations: Readonly<Record<string, SentOperation>> = {
  'fields 10,000 deep': { query: `${'{a'.repeat(10_000)}${'}'.repeat(10_000)}` },
  'a value 10,000 deep': { query: `{ session(id: ${'['.repeat(10_000)}${']'.repeat(10_000)}) { title } }` },
  '5,000 aliases': { query: `{ ${times(5_000, (n) => `a${n}: __typename`)} }` },
  '1,000 aliases of an expensive field': {
    query: `{ ${times(300, (n) => `a${n}: organizations(first: 100) { nodes { name } }`)} }`,
  },
  '5,000 directives on a field': { query: `{ __typename ${'@include(if: true) '.repeat(5_000)} }` },
  '700 directives, each unknown': { query: `{ __typename ${times(700, (n) => `@d${n}`)} }` },
  'fragments in circles': { query: cycles },
  'fragments that double, 60 times': { query: doubling },
  'fields that may conflict': {
    query: `{ ${times(600, (n) => `viewer { a: ${n % 2 ? 'principalType' : 'permissions'} }`)} }`,
  },
  'pages of pages of pages': {
    query:
      '{ organizations(first: 100) { nodes { sessions(first: 100) { nodes { messages(first: 100) { nodes { body } } } } } } }',
  },
  'introspection, types of fields of types': { query: `{ __schema { types { ${typeBomb(7)} } } }` },
  'introspection, 15 times': {
    query: `{ ${times(15, (n) => `s${n}: __schema { types { fields { args { name } } } }`)} }`,
  },
  'introspection, as much as is allowed': {
    query: `{ __schema { types { name description fields { name description type { name ${times(11, (n) => `f${n}: fields { name description }`)} } } } } }`,
  },
  'a list of 30,000 ids': {
    query: 'query($ids: [ID!]!) { nodes(ids: $ids) { id } }',
    variables: { ids: Array(30_000).fill('x') },
  },
  'variables 50,000 deep': {
    query:
      'mutation($s: JSON) { createSession(input: {prompt: "x", structuredOutputSchema: $s}) { userErrors { message } } }',
    variables: { s: '@deep' },
  },
  'an operation’s name of 100,000 letters': { query: '{ __typename }', operationName: 'x'.repeat(100_000) },
  'an unknown document’s id of 100,000 letters': { documentId: 'x'.repeat(100_000) },
};

/** Writes an operation as JSON. Deep values are written here, because `JSON.stringify` would overflow the stack. */
export function hostileText(operation: SentOperation, wrap: (json: string) => string = (json) => json): string {
  return wrap(JSON.stringify(operation)).replace('"@deep"', `${'['.repeat(50_000)}${']'.repeat(50_000)}`);
}
