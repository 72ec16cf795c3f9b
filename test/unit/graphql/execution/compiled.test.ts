import {
  buildSchema,
  type ExecutionResult,
  execute,
  type FragmentDefinitionNode,
  type GraphQLFieldResolver,
  type GraphQLObjectType,
  getOperationAST,
  Kind,
  parse,
  validate,
} from 'graphql';
import { describe, expect, it } from 'vitest';
import {
  beneath,
  compileOperation,
  createCompiler,
  findConditions,
  readingAhead,
} from '../../../../src/api/graphql/execution/index.ts';

const schema = buildSchema(`
  interface Node { id: ID! related: [Node] strict: Node! }
  type Book implements Node { id: ID! related: [Node] strict: Node! title: String! pages(first: Int = 2, tags: [String!]): [Int!] bad: String! late: String! }
  type Author implements Node { id: ID! related: [Node] strict: Node! name: String books: [Book!] }
  union Anything = Book | Author
  enum Color { RED GREEN }
  type Query { book(id: ID): Book node(id: ID!): Node any: [Anything] color: Color list: [Int!] missing: Book! lists: [[Int]] }
  type Mutation { change: Int }
  type Subscription { message: Book }
`);

/** Names that values give as their types, by the values' ids. */
const typeNames: Record<string, string> = { stranger: 'Stranger', interface: 'Node', query: 'Query' };
const resolvers: Record<string, Record<string, GraphQLFieldResolver<any, any>>> = {
  Query: {
    book: (_root, { id }) => (id === 'none' ? null : book),
    node: async (_root, { id }) => (id === 'author' ? author : typeNames[id] ? { __typename: typeNames[id] } : book),
    any: () => [book, Promise.resolve(author), null, new Error('not this one'), Promise.reject(new Error('nor this'))],
    color: () => 'BLUE',
    list: () => [1, null as never, 3],
    lists: () => [[1, Promise.resolve(2)], null, [null]],
    missing: () => null,
  },
  Book: {
    related: () => [author, book],
    strict: (_source, _args, _context, info) => {
      throw new Error(`at ${info.path.key} of ${info.parentType.name}`);
    },
    pages: (_source, { first, tags }, { factor }) => [first * factor, ...(tags ?? []).map(Number)],
    bad: () => {
      throw new Error('bad');
    },
    late: () => Promise.reject(new Error('late')),
  },
  Author: { books: async () => [book, book], related: () => null, strict: async () => null },
};
const book = { __typename: 'Book', id: 'book', title: 'Book' };
const author = { __typename: 'Author', id: 'author', name: () => 'Author' };
for (const [type, fields] of Object.entries(resolvers)) {
  for (const [name, resolve] of Object.entries(fields)) fieldOf(type, name).resolve = resolve;
}

function fieldOf(type: string, name: string) {
  const field = (schema.getType(type) as GraphQLObjectType).getFields()[name];
  if (!field) throw new Error(`${type} has no field ${name}.`);
  return field;
}

function partsOf(text: string) {
  const document = parse(text);
  expect(validate(schema, document)).toEqual([]);
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const each of document.definitions)
    if (each.kind === Kind.FRAGMENT_DEFINITION) fragments.set(each.name.value, each);
  const operation = getOperationAST(document);
  if (!operation) throw new Error('The document must have one operation.');
  return { document, parts: { schema, operation, fragments } };
}

const contextValue = { factor: 10 };

/** By graphql-js and compiled; errors in the order of their paths, which for fields that run at once is chance. */
async function runBoth(text: string, variables: Record<string, unknown> = {}, rootValue?: unknown) {
  const { document, parts } = partsOf(text);
  const compiled = createCompiler(parts, findConditions(document))(variables);
  if (!compiled) throw new Error('It is not compiled.');
  const plain = await execute({ schema, document, variableValues: variables, contextValue, rootValue });
  const own = await compiled({ context: contextValue, variables, rootValue });
  return [shown(own), shown(plain)] as const;
}

function shown({ data, errors }: ExecutionResult): string {
  const texts = errors?.map((error) => JSON.stringify(error)).sort();
  return JSON.stringify({ data, errors: texts });
}

describe('a compiled operation returns the same as graphql-js', () => {
  it.each([
    ['aliases and the order of fields', '{ b: book { title again: title id } a: book { id __typename } __typename }'],
    [
      'fragments',
      '{ book { ...one ...two ... { id } ... on Node { related { id } } } } fragment one on Book { title } fragment two on Node { id ...one }',
    ],
    ['selections of one name', '{ book { related { id } related { ... on Author { name } } } }'],
    [
      'arguments with defaults',
      '{ book { pages a: pages(first: 5) b: pages(first: null) c: pages(tags: ["1", "2"]) } }',
    ],
    [
      'interfaces, lists of promises and functions',
      '{ node(id: "author") { id ... on Author { name books { title } } ... on Book { title } } }',
    ],
    [
      'errors that are thrown, returned and rejected in a list',
      '{ any { ... on Book { title } ... on Author { name } } }',
    ],
    [
      'null that propagates to the nearest nullable field',
      '{ book { id related { id strict { id } } } other: book { title } }',
    ],
    ['null for what must not be null, at the root', '{ book { title } missing { id } }'],
    ['an item that must not be null', '{ list book { id } }'],
    ['lists of lists', '{ lists }'],
    ['a value that is none of its enum', '{ color }'],
    ['a type that is not in the schema', '{ node(id: "stranger") { id } }'],
    ['a type that is no object', '{ node(id: "interface") { id } }'],
    ['a type that is none of its interface', '{ node(id: "query") { id } }'],
    [
      'errors of fields that run at once',
      '{ a: book { late } b: book { bad } c: node(id: "book") { ... on Book { late title } } }',
    ],
  ])('%s', async (_name, text) => {
    const [own, plain] = await runBoth(text);
    expect(own).toBe(plain);
  });

  it.each([{ is: true }, { is: false }])('for each set of values of its conditions: %j', async (variables) => {
    const text =
      'query($is: Boolean!) { book { title @include(if: $is) id @skip(if: $is) ...f @include(if: $is) } } fragment f on Book { pages }';
    const [own, plain] = await runBoth(text, variables);
    expect(own).toBe(plain);
  });

  it('with variables, in arguments and inside their values', async () => {
    const text =
      'query($n: Int, $tag: String!) { book { pages(first: $n, tags: ["7", $tag]) none: pages(tags: [$tag]) } }';
    for (const variables of [{ n: 3, tag: '8' }, { tag: '9' }, { n: null, tag: '1' }]) {
      const [own, plain] = await runBoth(text, variables);
      expect(own).toBe(plain);
    }
  });

  it('for an event of a subscription', async () => {
    const [own, plain] = await runBoth('subscription { message { title pages } }', {}, { message: book });
    expect(own).toBe(plain);
    expect(own).toContain('"title":"Book"');
  });
});

it('returns a response synchronously if no resolver returned a promise', () => {
  const { parts } = partsOf('{ book { title } }');
  const compiled = compileOperation({ ...parts, conditions: {} });
  expect(compiled?.({ context: contextValue, variables: {} })).toEqual({ data: { book: { title: 'Book' } } });
});

it.each(['mutation { change }', '{ __schema { queryType { name } } }', '{ __type(name: "Book") { name } }'])(
  'leaves to graphql-js: %s',
  (text) => {
    const { document, parts } = partsOf(text);
    expect(createCompiler(parts, findConditions(document))({})).toBeNull();
  },
);

it('is compiled for at most eight sets of values of its conditions', () => {
  const names = ['a', 'b', 'c', 'd'];
  const { document, parts } = partsOf(
    `query(${names.map((name) => `$${name}: Boolean!`)}) { book { ${names.map((name) => `${name}: title @skip(if: $${name})`).join(' ')} } }`,
  );
  const compile = createCompiler(parts, findConditions(document));
  const made = Array.from({ length: 16 }, (_, n) =>
    compile(Object.fromEntries(names.map((name, bit) => [name, (n & (1 << bit)) !== 0]))),
  );
  expect(made.filter((each) => each !== null)).toHaveLength(8);
});

it('compiles an interface’s selections only for the types that occur: work does not multiply with each level', async () => {
  // With two types at each of 60 levels, compiling for every type at once would never end.
  const text = `{ node(id: "author") { ${'related { id '.repeat(60)}${'}'.repeat(60)} } }`;
  const [own, plain] = await runBoth(text);
  expect(own).toBe(plain);
});

it('reads ahead the selections of a field, with the arguments of the run', async () => {
  const field = fieldOf('Query', 'book');
  const seen: unknown[] = [];
  field.extensions = readingAhead((requested) => {
    const [pages] = beneath(requested, 'pages');
    if (!pages) return null;
    return (_root, _args, _context, run) => {
      seen.push(pages.argsIn(run));
      return book;
    };
  });
  try {
    await runBoth('query($n: Int) { book { p: pages(first: $n) } }', { n: 4 });
    await runBoth('{ book { title } }');
  } finally {
    field.extensions = {};
  }
  expect(seen).toEqual([{ first: 4 }]);
});
